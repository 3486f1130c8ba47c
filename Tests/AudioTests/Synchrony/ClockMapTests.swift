import Audio
import Glibc
import TestSupport
import Testing

@Suite struct ClockMapTests {
  private func points(
    _ times: [Double], quality: Double = 12, lag: (Double) -> Double
  ) -> [ClockMap.Point] {
    times.map { ClockMap.Point(time: $0, lag: lag($0), quality: quality) }
  }

  private let minutes = (0..<240).map { Double($0) * 5 }

  @Test func `a steady drift is found in parts per million`() throws {
    let map = try #require(ClockMap(points(minutes) { 2.5 + 80e-6 * $0 }, slope: 80e-6))
    #expect(abs(map.drift + 80) < 1e-6)
    #expect(map.residual < 1e-9)
    #expect(map.confidence == 1)
    for time in [0.0, 333.3, 1195, 1300] {
      #expect(abs(map.reference(at: time) - (time + 2.5 + 80e-6 * time)) < 1e-9)
      #expect(abs(map.recording(at: map.reference(at: time)) - time) < 1e-9)
    }
  }

  @Test func `a drift that changes with temperature is followed`() throws {
    let lag = { (time: Double) in 0.015 * sin(2 * .pi * time / 1500) }
    let map = try #require(ClockMap(points(minutes, lag: lag), slope: 0))
    for time in stride(from: 20.0, to: 1180, by: 7) {
      #expect(abs(map.reference(at: time) - time - lag(time)) < 0.5e-3, "at \(time) s")
    }
  }

  @Test func `single errors do not move it, and count against its confidence`() throws {
    var measured = points(minutes) { 1 + 20e-6 * $0 }
    for index in stride(from: 3, to: 240, by: 10) {
      measured[index] = ClockMap.Point(time: measured[index].time, lag: 1.04, quality: 9)
    }
    let map = try #require(ClockMap(measured, slope: 20e-6))
    #expect(map.agreeing == 216)
    #expect(map.confidence == 0.9)
    #expect(map.residual < 1e-9)
  }

  @Test func `unclear measurements do not count`() {
    #expect(ClockMap(points(minutes, quality: 5) { _ in 1 }, slope: 0) == nil)
  }

  @Test func `clear measurements that do not agree are no map`() {
    let wild = points(minutes) { 0.06 * sin(12.9898 * $0 * $0 + $0) }
    #expect(ClockMap(wild, slope: 0) == nil)
  }

  @Test(
    "where sound is missing or was put in, the map jumps, and is right on both sides",
    arguments: [0.008, 0.02, 0.05, -0.05, 0.09])
  func jumps(distance: Double) throws {
    var random = SeededRandom(seed: 3)
    let times = (0..<120).map { 3 + Double($0) * 1.8 }
    func lag(_ time: Double) -> Double { 2.5 + 40e-6 * time + (time > 110 ? distance : 0) }
    let measured = points(times) { lag($0) + Double.random(in: -2e-5...2e-5, using: &random) }
    // The rough line goes through both parts.
    let map = try #require(ClockMap(measured, slope: 40e-6 + distance / 220))
    #expect(map.jumps.count == 1)
    let jump = try #require(map.jumps.first)
    #expect(abs(jump.time - 110) < 2 && abs(jump.distance - distance) < 1e-4, "\(jump)")
    #expect(abs(map.drift + 40) < 1, "\(map.drift)")
    for time in stride(from: 3.0, to: 217, by: 1) where abs(time - 110) > 2 {
      #expect(abs(map.reference(at: time) - time - lag(time)) < 0.2e-3, "at \(time) s")
    }
    var last = -Double.infinity
    for time in stride(from: 0.0, to: 220, by: 0.01) {
      #expect(map.reference(at: time) > last)
      last = map.reference(at: time)
    }
  }

  @Test(
    "pieces that lie far from each other have a step between them", arguments: [0.5, 30, -0.4, -20])
  func pieces(distance: Double) throws {
    // Sound that the recording has and the reference has not lies between both pieces.
    let (end, begin) = (100.0, 100 + max(0, -distance))
    let pieces = [
      RoughClock.Piece(begin: 0, end: end, lag: 2.5),
      RoughClock.Piece(begin: begin, end: .infinity, lag: 2.5 + distance),
    ]
    func lag(_ time: Double) -> Double { 2.5 + 40e-6 * time + (time > end ? distance : 0) }
    let measured = stride(from: 2.0, to: 200, by: 1.8).compactMap { time -> ClockMap.Point? in
      guard !(end - 2..<begin + 2).contains(time) else { return nil }
      return ClockMap.Point(time: time, lag: lag(time), quality: 12, piece: time < end ? 0 : 1)
    }
    let map = try #require(ClockMap(measured, slope: 40e-6, pieces: pieces))
    let jump = try #require(map.jumps.first)
    #expect(map.jumps.count == 1 && jump.isCut)
    #expect(abs(jump.distance - distance) < 1e-3 && abs(jump.time - begin) < 0.1, "\(jump)")
    #expect(abs(map.drift + 40) < 0.1 && map.confidence == 1)
    for time in stride(from: 0.0, to: 200, by: 0.7) where !(end - 0.1..<begin + 0.1).contains(time)
    {
      #expect(abs(map.reference(at: time) - time - lag(time)) < 1e-6, "at \(time) s")
      #expect(abs(map.recording(at: time + lag(time)) - time) < 1e-6, "at \(time) s")
    }
    let knots = zip(map.knots, map.knots.dropFirst())
    #expect(knots.allSatisfy { $0.recording <= $1.recording && $0.reference <= $1.reference })
  }

  @Test("a gap between noisy measurements is no jump", arguments: 1...20)
  func gap(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let times = stride(from: 2.0, to: 300, by: 1.8).filter { !(120.0..<180).contains($0) }
    let noisy = points(times) { 1 + 180e-6 * $0 + Double.random(in: -4e-4...4e-4, using: &random) }
    #expect(try #require(ClockMap(noisy, slope: 180e-6)).jumps.isEmpty)
  }

  @Test("a piece whose measurements are not clear is none")
  func unclearPiece() throws {
    let pieces = [
      RoughClock.Piece(begin: 0, end: 100, lag: 1),
      RoughClock.Piece(begin: 100, end: .infinity, lag: 31),
    ]
    let measured = stride(from: 0.0, to: 140, by: 2).map { time in
      ClockMap.Point(
        time: time, lag: time < 100 ? 1 : 31 + 0.05 * sin(12.9898 * time * time),
        quality: time < 100 ? 12 : 4, piece: time < 100 ? 0 : 1)
    }
    let map = try #require(ClockMap(measured, slope: 0, pieces: pieces))
    #expect(map.jumps.isEmpty && map.unlikeFrom == 100)
    #expect(map.reference(at: 130) == 131)
  }

  @Test("a recording that is not alike at its end says from when on")
  func unlikeEnd() throws {
    let times = (0..<60).map { Double($0) * 2 }
    let measured = times.map {
      ClockMap.Point(time: $0, lag: 1, quality: $0 < 100 ? 12 : 3)
    }
    #expect(try #require(ClockMap(measured, slope: 0)).unlikeFrom == 100)
    #expect(abs(try #require(ClockMap(measured, slope: 0)).unlikeShare - 10.0 / 60) < 1e-9)
    #expect(try #require(ClockMap(points(times) { _ in 1 }, slope: 0)).unlikeFrom == nil)
  }
}

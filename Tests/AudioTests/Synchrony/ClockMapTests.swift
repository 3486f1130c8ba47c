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
}

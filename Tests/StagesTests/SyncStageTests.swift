import Audio
import Foundation
@testable import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import TestSupport
import Testing

/// Recorders of one event, each with a clock of its own, brought to one.
@Suite struct SyncStageTests {
  private let scratch: ScratchFolder
  private static let first = AudioFormat(sampleRate: Hertz(22_050), channelCount: 1)
  private static let second = AudioFormat(sampleRate: Hertz(16_000), channelCount: 2)
  private static let event = Event(seconds: 70, seed: 7)

  init() throws { scratch = try ScratchFolder() }

  private func source(
    _ sounds: [TestSound], _ parameters: String = ""
  ) throws -> (source: any SoundSource, outline: SoundOutline) {
    let node = try #require(YAMLDocument("{ \(parameters) }").root)
    var resolver = ParameterResolver(owner: "sync")
    let value = resolver.resolve(node, as: SyncStage.descriptor.parameters)
    #expect(resolver.problems.map(\.message) == [])
    let made = try StageRegistration(SyncStage.self).make(value)
    let stage = try #require(made as? SyncStage)
    var inputs: [SoundInput] = []
    for (index, sound) in sounds.enumerated() {
      let path = scratch.file("take-\(index + 1).wav")
      try sound.writeWAV(to: path)
      inputs.append(
        try SoundInput(
          PassOrder.SourceInput(
            place: PortName("recordings.\(index + 1)"),
            origin: .recording(input: "", SourceFile(path))),
          in: nil))
    }
    let outline = try stage.outline(of: inputs)
    return (try stage.open(inputs), outline)
  }

  private func read(_ source: any SoundSource) throws -> TestSound {
    var sound = TestSound(
      sampleRate: source.outline.format.sampleRate,
      channels: Array(repeating: [], count: source.outline.format.channelCount))
    var buffer = AudioBuffer(
      channelCount: source.outline.format.channelCount, capacity: SoundStream.blockLength)
    var wasFull = true
    while try source.read(into: &buffer) {
      guard buffer.frameCount.count > 0 else { continue }
      #expect(wasFull, "a pass that goes on has to meet the same blocks again")
      wasFull = buffer.frameCount == buffer.capacity
      sound.append(buffer)
    }
    return sound
  }

  private func report(_ source: any SoundSource) throws -> SyncReport {
    try Findings.decode(SyncReport.self, from: try #require(source.report()))
  }

  /// The event's time at a time of the second recorder: it began 4.2 s later, and its clock is slow
  /// by 150 parts per million.
  private static func slow(_ time: Double) -> Double { 9.2 + time * (1 + 150e-6) }

  private static let takes = [
    event.heard(first, seconds: 50, noise: 0.01, seed: 11) { 5 + $0 },
    event.heard(second, seconds: 48, tilt: 5, gain: -0.4, noise: 0.06, seed: 12, clock: slow),
  ]

  @Test func `clocks are brought together to a fraction of a millisecond at both ends`() throws {
    let (source, outline) = try source(Self.takes, "extent: reference")
    #expect(outline.format == AudioFormat(sampleRate: Hertz(22_050), channelCount: 3))
    let sound = try read(source)
    let report = try report(source)
    let other = report.recordings[1]
    #expect(abs(other.offset.value - 4.2) < 0.2e-3, "\(other)")
    #expect(abs(other.drift + 150) < 10, "\(other)")
    #expect(other.confidence > 0.9, "\(other)")
    #expect(other.channels == [2, 3])
    for moment in other.clock {
      #expect(abs(Self.slow(moment[0]) - 5 - moment[1]) < 0.2e-3, "\(moment)")
    }
    // The reference itself is not touched.
    #expect(sound.frameCount.count == 50 * 22_050)
    var worst: Float = 0
    for frame in 0..<sound.frameCount.count {
      worst = max(worst, abs(sound.channels[0][frame] - Self.takes[0].channels[0][frame]))
    }
    #expect(worst < 1e-4, "16 bit")
    // The other is heard as the event was at that time, by a recorder with the reference's clock.
    let truth = Self.event.heard(Self.first, seconds: 50, tilt: 5, gain: -0.4) { 5 + $0 }
    for start in [5.0, 46.0] {
      let range = Int(start * 22_050)..<Int((start + 3) * 22_050)
      let likenesses = (-20...20).map { lag in
        (lag: lag, likeness: Self.likeness(sound.channels[1], truth.channels[0], range, lag))
      }
      let best = try #require(likenesses.max { $0.likeness < $1.likeness })
      #expect(abs(best.lag) <= 2, "\(start) s: \(best)")
    }
  }

  /// The sum of products where the first is so many frames late.
  private static func likeness(
    _ a: [Float], _ b: [Float], _ range: Range<Int>, _ lag: Int
  ) -> Float {
    range.reduce(0) { $0 + a[$1 + lag] * b[$1] }
  }

  @Test func `all, or what all share, is given`() throws {
    let all = try source(Self.takes)
    #expect(all.outline.isGuessed)
    let whole = try read(all.source)
    // From the reference's beginning to the other's end, 4.2 + 48 · 1.00015 s.
    #expect(abs(Double(whole.frameCount.count) / 22_050 - 52.2072) < 1e-3)
    let shared = try source(Self.takes, "extent: shared, reference: 2")
    let common = try read(shared.source)
    #expect(common.format.sampleRate == Hertz(16_000))
    #expect(abs(Double(common.frameCount.count) / 16_000 - 45.7931) < 1e-3)
    #expect(try report(shared.source).recordings[0].offset.value < -4.1)
  }

  @Test(arguments: [(24.0, 5.0), (30, 0.3), (39, 28.5), (15, 4)])
  func `a short recording may begin before the reference`(seconds: Double, lead: Double) throws {
    let reference = Self.event.heard(Self.first, seconds: 60, noise: 0.01, seed: 11) { lead + $0 }
    let early = Self.event.heard(Self.second, seconds: seconds, noise: 0.03, seed: 12) { $0 }
    let (source, _) = try source([reference, early])
    _ = try read(source)
    let other = try report(source).recordings[1]
    // The whole begins with the earlier recording.
    #expect(abs(other.offset.value) < 0.2e-3, "\(other)")
    #expect(abs(try report(source).recordings[0].offset.value - lead) < 0.2e-3)
    #expect(other.confidence > 0.8, "\(other)")
  }

  @Test(arguments: [0.0, 3.5, 8.7])
  func `a short reference is found within a longer recording`(start: Double) throws {
    let reference = Self.event.heard(Self.first, seconds: 14, noise: 0.01, seed: 11) {
      30 + start + $0
    }
    let long = Self.event.heard(Self.second, seconds: 70, noise: 0.03, seed: 12) { $0 }
    let (source, _) = try source([reference, long], "extent: reference")
    _ = try read(source)
    #expect(abs(try report(source).recordings[1].offset.value + 30 + start) < 0.2e-3)
  }

  @Test func `a recording of something else is refused by name`() throws {
    let other = Event(seconds: 70, seed: 8).heard(Self.first, seconds: 30, noise: 0.01) { $0 }
    let (source, _) = try source([Self.takes[0], other])
    let error = #expect(throws: SpoolError.self) { try self.read(source) }
    #expect(
      error?.action
        == "recording 2 (take-2.wav) shares no sound with recording 1 (take-1.wav)")
  }

  /// A metronome's ticks, exactly alike, at 120 a minute, with the recorder's own noise.
  private func metronome(seconds: Int, from start: Double, seed: UInt64) -> TestSound {
    var random = seed
    return TestSound(Self.second, frames: seconds * 16_000) { _, frame in
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let noise = Double(random >> 40) / Double(1 << 24) - 0.5
      let time = (start + Double(frame) / 16_000).truncatingRemainder(dividingBy: 0.5)
      return Float(0.5 * exp(-200 * time) * sin(2 * .pi * 1800 * time) + 0.004 * noise)
    }
  }

  @Test func `sound that repeats itself is refused with the places where it may lie`() throws {
    let takes = [
      metronome(seconds: 60, from: 0, seed: 1), metronome(seconds: 50, from: 2.1, seed: 2),
    ]
    let (source, _) = try source(takes)
    let error = try #require(throws: SpoolError.self) { try self.read(source) }
    #expect(
      error.action
        == "recording 2 (take-2.wav) has more than one place beside recording 1 (take-1.wav)")
    let found = try #require(error.reason).matches(of: /([\d.]+) s (into|before)/)
    let places = found.compactMap { match in
      Double(match.1).map { match.2 == "into" ? $0 : -$0 }
    }
    try #require(places.count == 2)
    // Both are a whole number of ticks from the truth.
    for place in places {
      #expect(abs(remainder(place - 2.1, 0.5)) < 0.045, "\(places)")
    }
    #expect(abs(places[0] - places[1]) > 0.4)
  }

  @Test("a recorder that lost some sound is put right behind the place, and the place is told")
  func lostSound() throws {
    let lost = 0.05
    let other = Self.event.heard(Self.second, seconds: 55, noise: 0.01, seed: 12) {
      $0 < 30 ? $0 : $0 + lost
    }
    let (source, _) = try source([Self.takes[0], other])
    _ = try read(source)
    let told = source.warnings.filter { $0.contains("jumps") }
    #expect(told.count == 1, "\(source.warnings)")
    #expect(told.first?.contains("by 50.0 ms: sound is missing") == true, "\(told)")
    let report = try Findings.decode(SyncReport.self, from: try #require(source.report()))
    let map = report.recordings[1].clock
    #expect(report.recordings[1].jumps?.count == 1)
    let lags = map.map { $0[1] - $0[0] }
    #expect(abs(try #require(lags.last) - (try #require(lags.first)) - lost) < 1e-3, "\(map)")
  }

  private static func joined(_ sounds: [TestSound]) -> TestSound {
    TestSound(
      sampleRate: sounds[0].format.sampleRate,
      channels: sounds[0].channels.indices.map { channel in
        sounds.flatMap { $0.channels[channel] }
      })
  }

  /// How a recorder lost or added sound, and what is said of it.
  struct Cut: CustomTestStringConvertible {
    let at: Double
    let distance: Double
    let words: String
    var testDescription: String { "\(distance) s at \(at) s" }
  }

  @Test(
    "where more sound was lost or put in, both sides are put right",
    arguments: [
      Cut(at: 40, distance: 0.12, words: "by 120.0 ms: sound is missing"),
      Cut(at: 8, distance: 0.5, words: "by 500.0 ms: sound is missing"),
      Cut(at: 25, distance: 0.3, words: "by 300.0 ms: sound is missing"),
      Cut(at: 41, distance: 1, words: "by 1.000 s: sound is missing"),
      Cut(at: 25, distance: 3, words: "by 3.000 s: sound is missing"),
      Cut(at: 20, distance: 15, words: "by 15.000 s: sound is missing"),
      Cut(at: 14, distance: -0.4, words: "by 400.0 ms: sound was put in"),
      Cut(at: 30, distance: -4, words: "by 4.000 s: sound was put in"),
    ])
  func cut(_ cut: Cut) throws {
    let reference = Self.event.heard(Self.first, seconds: 68, noise: 0.01, seed: 11) { $0 }
    func part(_ seconds: Double, of event: Event = Self.event, from start: Double) -> TestSound {
      event.heard(Self.second, seconds: seconds, noise: 0.02, seed: 12) { start + $0 }
    }
    let added = max(0, -cut.distance)
    let other = Self.joined([
      part(cut.at, from: 1),
      part(added, of: Event(seconds: 20, seed: 8), from: 0),
      part(50 - cut.at - added, from: 1 + cut.at + max(0, cut.distance)),
    ])
    let (source, _) = try source([reference, other], "extent: reference")
    let sound = try read(source)
    let report = try report(source)
    #expect(source.warnings.count == 1, "\(source.warnings)")
    #expect(source.warnings.first?.contains(cut.words) == true, "\(source.warnings)")
    let jump = try #require(report.recordings[1].jumps?.first)
    #expect(abs(jump[0] - cut.at - added) < 0.5, "\(jump)")
    #expect(abs(jump[1] - cut.distance) < 1e-3, "\(jump)")
    #expect(report.recordings[1].confidence > 0.9)
    #expect(abs(report.recordings[1].drift) < 20, "\(report.recordings[1].drift)")
    // On both sides of the place it is heard when the reference is.
    let after = cut.at + 1 + max(0, cut.distance)
    for start in [2.0, cut.at - 3, after + 1, after + 4] {
      let range = Int(start * 22_050)..<Int((start + 0.7) * 22_050)
      let likenesses = (-300...300).map { lag in
        (lag: lag, likeness: abs(Self.likeness(sound.channels[1], sound.channels[0], range, lag)))
      }
      let best = likenesses.max { $0.likeness < $1.likeness }?.lag
      #expect(abs(best ?? .max) <= 3, "\(start) s: \(best ?? 0)")
    }
  }

  /// A sound of two seconds, again and again.
  private static func loop(_ format: AudioFormat, seconds: Double) -> TestSound {
    let once = Event(seconds: 3, seed: 21).heard(format, seconds: 2) { 0.5 + $0 }
    let length = once.frameCount.count
    return TestSound(format, frames: Int(seconds * format.sampleRate.value)) { channel, frame in
      once.channels[min(channel, once.channels.count - 1)][frame % length]
    }
  }

  @Test(
    "a loop that goes on behind the reference's end is no jump")
  func loops() throws {
    func part(_ seconds: Double, from start: Double) -> TestSound {
      Self.event.heard(Self.second, seconds: seconds, noise: 0.01, seed: 12) { start + $0 }
    }
    let reference = Self.joined([
      Self.event.heard(Self.first, seconds: 40, noise: 0.01, seed: 11) { $0 },
      Self.loop(Self.first, seconds: 40),
    ])
    let longer = Self.joined([part(35, from: 5), Self.loop(Self.second, seconds: 60)])
    let whole = try source([reference, longer])
    _ = try read(whole.source)
    #expect(try report(whole.source).recordings[1].jumps == [])
  }

  @Test("each of several losses is put right, also where they lie close together")
  func severalCuts() throws {
    let long = Event(seconds: 170, seed: 9)
    let losses = [(at: 20.0, lost: 0.3), (60, 1), (74, 0.5), (88, 0.2), (120, 4)]
    let reference = long.heard(Self.first, seconds: 165, noise: 0.01, seed: 11) { $0 }
    var (parts, origin, last): ([TestSound], Double, Double) = ([], 2, 0)
    for (at, lost) in losses + [(150, 0)] {
      let (start, begin) = (origin, last)
      parts.append(
        long.heard(Self.second, seconds: at - begin, noise: 0.02, seed: 12) {
          start + begin + $0 * (1 + 100e-6)
        })
      (origin, last) = (origin + lost, at)
    }
    let (source, _) = try source([reference, Self.joined(parts)], "extent: reference")
    _ = try read(source)
    let jumps = try #require(try report(source).recordings[1].jumps)
    #expect(jumps.count == losses.count, "\(jumps)")
    for (jump, (at, lost)) in zip(jumps, losses) {
      #expect(abs(jump[0] - at) < 1 && abs(jump[1] - lost) < 0.01, "\(jump)")
    }
  }

  @Test("a long end that is like nothing is told, whatever share of the recording it is")
  func unlikeEnd() throws {
    let stranger = Event(seconds: 60, seed: 8)
    let long = Event(seconds: 180, seed: 9)
    let reference = long.heard(Self.first, seconds: 180, noise: 0.01, seed: 11) { $0 }
    let other = Self.joined([
      long.heard(Self.second, seconds: 150, noise: 0.02, seed: 12) { $0 },
      stranger.heard(Self.second, seconds: 26, noise: 0.02, seed: 13) { $0 },
    ])
    let (source, _) = try source([reference, other])
    _ = try read(source)
    #expect(
      source.warnings.contains { $0.contains("is alike only before 15") }, "\(source.warnings)")
  }

  @Test func `sound that comes once among ticks decides the place`() throws {
    let event = Self.event.heard(Self.second, seconds: 60, noise: 0) { $0 }
    let late = Self.event.heard(Self.second, seconds: 50, noise: 0) { 2.1 + $0 }
    let takes = [
      metronome(seconds: 60, from: 0, seed: 1), metronome(seconds: 50, from: 2.1, seed: 2),
    ]
    let mixed = zip(takes, [event, late]).map { ticks, sound in
      TestSound(Self.second, frames: ticks.frameCount.count) { channel, frame in
        0.5 * ticks.channels[channel][frame] + sound.channels[channel][frame]
      }
    }
    let (source, _) = try source(mixed)
    _ = try read(source)
    let other = try report(source).recordings[1]
    #expect(abs(other.offset.value - 2.1) < 1e-3, "\(other)")
  }

  @Test func `silence is refused, and so is a recording by itself`() throws {
    let silence = TestSound(Self.first, frames: 500_000) { _, _ in 0 }
    let (source, _) = try source([Self.takes[0], silence])
    #expect(throws: SpoolError.self) { try self.read(source) }
    #expect(throws: SpoolError.self) { try self.source([silence]) }
    #expect(throws: SpoolError.self) { try self.source([silence, silence], "reference: 3") }
  }
}

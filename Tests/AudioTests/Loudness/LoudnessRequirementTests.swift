import Audio
import Foundation
import TestSupport
import Testing

/// The minimum requirements on a loudness meter, EBU Tech 3341 (table 1) and EBU Tech 3342
/// (table 1), with signals made after their descriptions: figures, targets and tolerances are
/// those of the tables. Cases 7 and 8 of the one and 5 and 6 of the other are recordings.
@Suite struct LoudnessRequirementTests {
  /// A stretch of a tone; nil is silence.
  typealias Stretch = (level: Double?, seconds: Double)

  private static let rates = [44_100.0, 48_000, 96_000]

  /// A tone of 1 kHz whose peak level goes from stretch to stretch, in phase in every channel.
  private static func programme(_ stretches: [Stretch], at rate: Double) -> TestSound {
    let format = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
    let ends = stretches.reduce(into: [0.0]) { $0.append(($0.last ?? 0) + $1.seconds) }
    let frames = ends.map { Int(($0 * rate).rounded()) }
    let tone = TestSound.sine(Hertz(1000), format, frames: frames.last ?? 0).channels[0]
    var samples: [Float] = []
    for (index, stretch) in stretches.enumerated() {
      let amplitude = stretch.level.map { Float(pow(10, $0 / 20)) } ?? 0
      samples += tone[frames[index]..<frames[index + 1]].map { $0 * amplitude }
    }
    return TestSound(sampleRate: Hertz(rate), channels: [samples, samples])
  }

  private static func repeated(_ stretches: [Stretch], _ count: Int) -> [Stretch] {
    (0..<count).flatMap { _ in stretches }
  }

  private static func levels(_ sound: TestSound) -> Levels {
    let meter = LevelMeter(format: sound.format)
    sound.analysed(by: meter)
    return meter.finding()
  }

  private static func curve(_ sound: TestSound) -> LoudnessCurve {
    let meter = LoudnessMeter(format: sound.format, includesPeaks: false)
    sound.analysed(by: meter)
    return LoudnessCurve(meter.history, sampleRate: sound.format.sampleRate)
  }

  // MARK: EBU Tech 3341

  /// Cases 1 to 5, and what they are to read as integrated loudness.
  private static let integrated: [(number: Int, target: Double, stretches: [Stretch])] = [
    (1, -23, [(-23, 20)]),
    (2, -33, [(-33, 20)]),
    (3, -23, [(-36, 10), (-23, 60), (-36, 10)]),
    (4, -23, [(-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)]),
    (5, -23, [(-26, 20), (-20, 20.1), (-26, 20)]),
  ]

  @Test(arguments: integrated.indices, rates)
  func `cases 1 to 5 have their integrated loudness within 0.1 LU`(
    index: Int, rate: Double
  ) throws {
    let (number, target, stretches) = Self.integrated[index]
    let loudness = try #require(
      Self.levels(Self.programme(stretches, at: rate)).integratedLoudness)
    #expect(abs(loudness.value - target) <= 0.1, "case \(number): \(loudness.value) LUFS")
  }

  @Test(arguments: [1, 2])
  func `cases 1 and 2 have it at every moment too`(number: Int) {
    let (_, target, stretches) = Self.integrated[number - 1]
    let curve = Self.curve(Self.programme(stretches, at: 48_000))
    let figures = curve.momentary.dropFirst(3) + curve.shortTerm.dropFirst(29)
    #expect(figures.count == 197 + 171)
    #expect(figures.allSatisfy { abs(($0?.value ?? .infinity) - target) <= 0.1 })
  }

  /// Left, right, centre and both surrounds; and the same with a silent low-frequency channel.
  @Test(arguments: [[-28.0, -28, -24, -30, -30], [-28, -28, -24, nil, -30, -30]])
  func `case 6 weighs five channels`(channels: [Double?]) throws {
    let mono = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
    let tone = TestSound.sine(Hertz(1000), mono, frames: 20 * 48_000).channels[0]
    let sound = TestSound(
      sampleRate: Hertz(48_000),
      channels: channels.map { level in
        let amplitude = level.map { Float(pow(10, $0 / 20)) } ?? 0
        return tone.map { $0 * amplitude }
      }, positions: .mixed(to: channels.count))
    let loudness = try #require(Self.levels(sound).integratedLoudness)
    #expect(abs(loudness.value + 23) <= 0.1, "\(loudness.value) LUFS")
  }

  @Test(arguments: rates)
  func `case 9 has a constant short-term loudness after 3 s`(rate: Double) {
    let stretches = Self.repeated([(-20, 1.34), (-30, 1.66)], 5)
    let curve = Self.curve(Self.programme(stretches, at: rate))
    let figures = curve.shortTerm.dropFirst(29)
    #expect(figures.count == 121)
    #expect(figures.allSatisfy { abs(($0?.value ?? .infinity) + 23) <= 0.1 })
  }

  /// 3 s of a tone that begins anywhere between two readings.
  @Test(arguments: 0..<20)
  func `case 10 has its greatest short-term loudness wherever it begins`(segment: Int) throws {
    let sound = Self.programme([(nil, Double(segment) * 0.15), (-23, 3), (nil, 1)], at: 48_000)
    let greatest = try #require(Self.curve(sound).maximumShortTerm)
    #expect(abs(greatest.value + 23) <= 0.1, "\(greatest.value) LUFS")
  }

  @Test func `case 12 has a constant momentary loudness after 1 s`() {
    let stretches = Self.repeated([(-20, 0.18), (-30, 0.22)], 25)
    let curve = Self.curve(Self.programme(stretches, at: 48_000))
    let figures = curve.momentary.dropFirst(10)
    #expect(figures.count == 90)
    #expect(figures.allSatisfy { abs(($0?.value ?? .infinity) + 23) <= 0.1 })
  }

  // MARK: EBU Tech 3342

  /// Cases 1 to 4, and what they are to read as loudness range.
  private static let ranges: [(target: Double, levels: [Double])] = [
    (10, [-20, -30]), (5, [-20, -15]), (20, [-40, -20]), (15, [-50, -35, -20, -35, -50]),
  ]

  @Test(arguments: ranges.indices, rates)
  func `tones of 20 s have the loudness range of their levels`(index: Int, rate: Double) throws {
    let (target, levels) = Self.ranges[index]
    let sound = Self.programme(levels.map { ($0, 20) }, at: rate)
    let range = try #require(Self.levels(sound).loudnessRange)
    // The table allows 1 LU.
    #expect(abs(range.value - target) <= 0.1, "case \(index + 1): \(range.value) LU")
    #expect(Self.curve(sound).range == range)
  }
}

import Audio
import Foundation
import TestSupport
import Testing

/// What processors tell about how far they turned the sound down.
@Suite struct DynamicsReportTests {
  private static let rate = 48_000.0
  private let mono = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(rate), channelCount: 2)

  /// A compressor that follows at once, with a hard corner: the reduction is a closed form.
  private func compressor(_ sidechain: Sidechain = Sidechain()) -> Compressor.Settings {
    Compressor.Settings(
      threshold: Decibels(-20), ratio: 2, knee: Decibels(0), attack: Seconds(0),
      release: Seconds(0), makeUp: Decibels(7), mix: 0.5, sidechain: sidechain)
  }

  @Test(arguments: [0.0, 0.005])
  func `a compressor tells the reductions of the frames it gave`(lookAhead: Double) {
    // A quarter of the time 10 dB above the threshold, a half 4 dB, the rest below it.
    let levels = [-10.0, -16, -16, -30]
    let sound = TestSound(mono, frames: 40_000) { _, frame in
      Float(pow(10, levels[frame / 10_000] / 20))
    }
    let compressor = Compressor(
      compressor(Sidechain(lookAhead: Seconds(lookAhead))), format: mono)
    _ = sound.processed(by: compressor, cuts: [777, 64, 4096])
    let report = compressor.report()
    // Peaks count for 480 frames, their own included. What looks ahead begins each stretch
    // earlier, and ends in silence.
    let held = 479.0 / 40_000
    let shift = lookAhead * Self.rate / 40_000
    #expect(abs(report.greatest.value - 5) < 0.001)
    #expect(report.least.value == 0)
    #expect(abs(report.mean.value - (5 * (0.25 - shift + held) + 2 * 0.5)) < 0.001)
    #expect(abs(report.activeShare - (0.75 - shift + held)) < 1e-9)
  }

  @Test func `channels that are not linked count each for itself`() {
    let sound = TestSound(stereo, frames: 5000) { channel, _ in channel == 0 ? 0.5 : 0.001 }
    let compressor = Compressor(compressor(Sidechain(link: 0)), format: stereo)
    _ = sound.processed(by: compressor)
    let full = (20 * log10(0.5) + 20) / 2
    #expect(abs(compressor.report().mean.value - full / 2) < 0.001)
    #expect(compressor.report().activeShare == 0.5)
  }

  @Test func `a gate tells how long it was open, and how far it closed`() {
    let settings = Gate.Settings(
      threshold: Decibels(-20), attack: Seconds(0), hold: Seconds(0.1), release: Seconds(0),
      range: Decibels(-30))
    // Open for 12,000 loud frames and 4,800 held ones.
    let sound = TestSound(mono, frames: 48_000) { _, frame in
      (10_000..<22_000).contains(frame) ? 0.5 : 0.01
    }
    let gate = Gate(settings, format: mono)
    _ = sound.processed(by: gate, cuts: [1, 999, 64, 5000])
    let report = gate.report()
    #expect(abs(report.openShare - 16_800.0 / 48_000) < 1e-9)
    #expect(report.reduction.least.value == 0)
    #expect(abs(report.reduction.greatest.value - 30) < 1e-3)
    #expect(abs(report.reduction.mean.value - 30 * (1 - 16_800.0 / 48_000)) < 1e-3)
    #expect(abs(report.reduction.activeShare - (1 - 16_800.0 / 48_000)) < 1e-9)
  }

  @Test func `a closing gate's reduction is that of its exponential way`() {
    let settings = Gate.Settings(
      threshold: Decibels(-20), attack: Seconds(0), hold: Seconds(0.02), release: Seconds(0.1),
      range: Decibels(-40))
    let sound = TestSound(mono, frames: 24_000) { _, frame in frame < 12_000 ? 0.5 : 0.01 }
    let gate = Gate(settings, format: mono)
    _ = sound.processed(by: gate)
    var (gain, sum) = (1.0, 0.0)
    for _ in 0..<12_000 - 960 {
      gain += (0.01 - gain) * (1 - exp(-1 / (0.1 * Self.rate)))
      sum -= 20 * log10(gain)
    }
    #expect(abs(gate.report().reduction.mean.value - sum / 24_000) < 0.001)
  }

  @Test(arguments: [Sidechain(), Sidechain(lookAhead: Seconds(0.004))])
  func `the report is the same however the sound was cut, and after a restart`(
    sidechain: Sidechain
  ) throws {
    let sound = TestSound.babble(stereo, frames: 20_000)
    var settings = Gate.Settings(
      threshold: Decibels(-25), attack: Seconds(0.002), hold: Seconds(0.01),
      release: Seconds(0.05))
    settings.sidechain = sidechain
    let (whole, cut, late) = (
      Gate(settings, format: stereo), Gate(settings, format: stereo), Gate(settings, format: stereo)
    )
    _ = sound.processed(by: whole)
    _ = sound[0..<7001].processed(by: cut, cuts: [1, 63, 300])
    let fresh = Gate(settings, format: stereo)
    var output = AudioBuffer(channelCount: 2, capacity: Frames(30_000))
    fresh.process(sound.buffer(0..<7001), into: &output)
    try late.restore(fresh.snapshot)
    _ = sound[7001..<20_000].processed(by: late, cuts: [129])
    #expect(late.report() == whole.report())
    #expect(cut.report() != whole.report())
  }

  @Test func `a limiter tells the reductions of the frames it gave`() {
    // Behind the head of a quarter, 6 dB over the ceiling; what is loud from the first frame on is
    // turned down from there to the end, but for what comes before it by less than the look-ahead.
    let sound = TestSound(stereo, frames: 40_000) { channel, frame in
      frame < 10_000 ? 0.1 : channel == 0 ? 0.8 : 0.05
    }
    let ceiling = Decibels(20 * log10(0.4))
    let limiter = Limiter(Limiter.Settings(ceiling: ceiling), format: stereo)
    let result = sound.processed(by: limiter, cuts: [777, 64, 4096])
    let gains = zip(result.channels[0], sound.channels[0]).map { Double($0 / $1) }
    let reductions = gains.map { -20 * log10($0) }
    let report = limiter.report()
    #expect(report.least.value == 0)
    #expect(abs(report.greatest.value - (reductions.max() ?? 0)) < 2e-4)
    #expect(report.greatest.value > 6)
    #expect(abs(report.mean.value - reductions.reduce(0, +) / 40_000) < 2e-4)
    let active = Double(reductions.count { $0 > 0.1 }) / 40_000
    #expect(abs(report.activeShare - active) < 2e-4)
    #expect((0.75..<0.76).contains(report.activeShare))
  }

  @Test func `a limiter that had nothing to do tells so`() {
    let limiter = Limiter(Limiter.Settings(ceiling: Decibels(-1)), format: mono)
    _ = TestSound.sine(Hertz(440), amplitude: 0.5, mono, frames: 5000).processed(by: limiter)
    let nothing = GainReduction(
      least: Decibels(0), mean: Decibels(0), greatest: Decibels(0), activeShare: 0)
    #expect(limiter.report() == nothing)
  }

  @Test func `a limiter's report is the same however the sound was cut, and after a restart`()
    throws
  {
    let sound = TestSound.babble(amplitude: 3, stereo, frames: 20_000)
    let settings = Limiter.Settings(ceiling: Decibels(-6))
    let (whole, late) = (
      Limiter(settings, format: stereo), Limiter(settings, format: stereo)
    )
    _ = sound.processed(by: whole)
    let fresh = Limiter(settings, format: stereo)
    var output = AudioBuffer(channelCount: 2, capacity: Frames(30_000))
    fresh.process(sound.buffer(0..<7001), into: &output)
    try late.restore(fresh.snapshot)
    _ = sound[7001..<20_000].processed(by: late, cuts: [129, 1, 64])
    #expect(late.report() == whole.report())
    #expect(whole.report().mean.value > 1)
  }
}

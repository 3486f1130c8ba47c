import Audio
import Foundation
import TestSupport
import Testing

@Suite struct DeclipperTests {
  private static let rate = 48_000.0
  private let mono = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(rate), channelCount: 2)

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance { Declipper(Declipper.Settings(), format: $0) }
    try checkProcessorConformance(channelCounts: 1...2) {
      Declipper(Declipper.Settings(level: Decibels(-14), longest: Seconds(0.001)), format: $0)
    }
  }

  @Test func `what is not clipped keeps every bit`() {
    let sound = TestSound.babble(amplitude: 0.5, stereo, frames: 20_000)
    let declipper = Declipper(Declipper.Settings(), format: stereo)
    #expect(sound.processed(by: declipper).isBitIdentical(to: sound))
    #expect(declipper.report().mendedRuns == 0 && declipper.report().peak == nil)
    // A single sample at full scale is a peak, not a run.
    var peaks = sound
    for frame in stride(from: 100, to: 20_000, by: 997) { peaks.channels[0][frame] = 1 }
    #expect(
      peaks.processed(by: Declipper(Declipper.Settings(), format: stereo)).isBitIdentical(to: peaks)
    )
  }

  /// The distance from the original where it was clipped, in dB.
  private func error(_ sound: TestSound, _ original: TestSound, at level: Float) -> Double {
    let (range, other) = (2000..<sound.frameCount.count - 2000, original.channels[0])
    var (sum, count) = (0.0, 0)
    for frame in range where other[frame].magnitude > level {
      sum += pow(Double(sound.channels[0][frame] - other[frame]), 2)
      count += 1
    }
    return 10 * log10(sum / Double(count))
  }

  // Of a tone, a model needs four unclipped samples in a row: 2 kHz driven further have three.
  @Test(arguments: [
    (100.0, 1.2), (100, 2), (100, 4), (440, 1.41), (440, 2), (2000, 1.2), (2000, 1.41),
  ])
  func `a clipped tone comes back`(frequency: Double, drive: Double) {
    let original = TestSound.sine(Hertz(frequency), amplitude: drive, mono, frames: 30_000)
    let clipped = original.map { min(max($0, -1), 1) }
    let declipper = Declipper(Declipper.Settings(), format: mono)
    let result = clipped.processed(by: declipper)
    let gained = error(clipped, original, at: 1) - error(result, original, at: 1)
    #expect(gained > 60)
    // All that was not clipped keeps every bit.
    for frame in 0..<30_000 where original.channels[0][frame].magnitude < 0.98 {
      #expect(result.channels[0][frame] == clipped.channels[0][frame])
    }
  }

  @Test(.enabled(if: Program(named: "ffmpeg") != nil, "ffmpeg is not installed"))
  func `a clipped voice comes as near to what it was as with ffmpeg's adeclip`() throws {
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let original = TestSound.babble(amplitude: 1.3, mono, frames: 96_000)
    let clipped = original.map { min(max($0, -1), 1) }
    let result = clipped.processed(by: Declipper(Declipper.Settings(), format: mono))
    let scratch = try ScratchFolder()
    try clipped.writeWAV(to: scratch.file("in.wav"))
    let output = try ffmpeg.run([
      "-v", "error", "-i", scratch.file("in.wav"), "-af", "adeclip", "-f", "f32le", "-",
    ])
    let theirs = TestSound(rawFloats: output.output, sampleRate: Hertz(Self.rate), channelCount: 1)
    let (before, ours) = (error(clipped, original, at: 1), error(result, original, at: 1))
    #expect(ours < before - 6)
    #expect(ours < error(theirs, original, at: 1) + 1)
  }

  // Material of a lower rate has an empty band; the model once grew samples to four times full scale.
  @Test(arguments: [8000.0, 16_000, 22_050, 32_000, 44_100, 48_000], [1.41, 2.0])
  func `sound of a lower rate gets better, and no sample larger than plausible`(
    rate: Double, drive: Double
  ) {
    let native = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
    let babble = TestSound.babble(amplitude: 1, native, frames: Int(rate) * 2)
    let noise = TestSound.noise(amplitude: 0.01, native, frames: Int(rate) * 2)
    let mixed = TestSound(native, frames: Int(rate) * 2) { channel, frame in
      babble.channels[channel][frame] + noise.channels[channel][frame]
    }
    let sound = mixed.processed(by: Resampler(to: Hertz(Self.rate), format: native))
    let top = Float(pow(10, sound.peak.value / 20))
    let original = sound.map { $0 / top * Float(drive) }
    let clipped = original.map { min(max($0, -1), 1) }
    let result = clipped.processed(by: Declipper(Declipper.Settings(), format: mono))
    #expect(error(result, original, at: 1) < error(clipped, original, at: 1))
    #expect(result.peak.value < 20 * log10(2.5) + 0.01)
  }

  private static let recordings = [
    "speech/jfk/jfk", "speech/ljspeech/LJ001-0001", "speech/ljspeech/LJ001-0002",
    "speech/hand-timed/bobby", "speech/hand-timed/mary", "speech/hand-timed/msajc003",
    "speech/hand-timed/msajc010", "speech/hand-timed/msajc012", "speech/hand-timed/msajc015",
    "speech/hand-timed/tobi", "speech/sense-and-sensibility/ss-0870",
    "speech/sense-and-sensibility/ss-0880", "speech/sense-and-sensibility/ss-0890",
    "speech/sense-and-sensibility/ss-0920", "speech/sense-and-sensibility/ss-0930",
    "speech/sonnets/p001", "speech/sonnets/p002", "speech/sonnets/p003",
  ]

  @Test(
    .enabled(
      if: PackageFiles.sharedData("speech/jfk/jfk.wav") != nil, "the shared data is not there"),
    .enabled(if: Program(named: "ffmpeg") != nil, "ffmpeg is not installed"),
    arguments: recordings)
  func `a recording never gets worse, at its own rate or a higher one`(name: String) throws {
    let path = try #require(
      PackageFiles.sharedData(name + ".wav") ?? PackageFiles.sharedData(name + ".mp3"))
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    for rate in [16_000.0, 44_100, 48_000, 96_000] {
      let output = try ffmpeg.run([
        "-v", "error", "-i", path, "-t", "12", "-ac", "1", "-ar", "\(Int(rate))", "-f", "f32le",
        "-",
      ])
      let sound = TestSound(rawFloats: output.output, sampleRate: Hertz(rate), channelCount: 1)
      let top = Float(pow(10, sound.peak.value / 20))
      for drive: Float in [1.41, 2] {
        let original = sound.map { $0 / top * drive }
        let clipped = original.map { min(max($0, -1), 1) }
        let result = clipped.processed(by: Declipper(Declipper.Settings(), format: sound.format))
        let (before, after) = (error(clipped, original, at: 1), error(result, original, at: 1))
        #expect(after <= before, "\(name) at \(rate) Hz, \(drive): \(before) to \(after) dB")
        #expect(result.peak.value < 20 * log10(2.5) + 0.01, "\(name) at \(rate) Hz, \(drive)")
      }
    }
  }

  @Test func `runs that are too long stay, and are told`() {
    // 20 ms at full scale, in the midst of a tone.
    var sound = TestSound.sine(Hertz(300), amplitude: 0.4, mono, frames: 20_000)
    for frame in 5000..<5960 { sound.channels[0][frame] = 1 }
    let declipper = Declipper(Declipper.Settings(longest: Seconds(0.002)), format: mono)
    #expect(sound.processed(by: declipper, cuts: [333]).isBitIdentical(to: sound))
    #expect(declipper.report().abandonedRuns == 1)
    #expect(declipper.report().mendedRuns == 0)
  }

  @Test func `tells what it mended`() {
    let original = TestSound.sine(Hertz(1000), amplitude: 1.3, mono, frames: 48_000)
    let declipper = Declipper(Declipper.Settings(), format: mono)
    let clipped = original.map { min(max($0, -1), 1) }
    _ = clipped.processed(by: declipper)
    let report = declipper.report()
    #expect(report.mendedRuns == 2000)
    // The level is a little under full scale: nothing of a tone of 1.3 lies between them.
    let count = clipped.channels[0].count { $0.magnitude >= Float(pow(10, -0.1 / 20)) }
    #expect(report.mendedSamples == count)
    #expect(abs((report.peak?.value ?? 0) - 20 * log10(1.3)) < 0.5)
  }
}

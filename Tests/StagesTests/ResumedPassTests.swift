import Audio
import PipelineEngine
import PipelineModel
import Platform
@testable import Stages
import TestSupport
import Testing

/// Passes that are stopped at one point after the other, and gone on with.
@Suite struct ResumedPassTests {
  /// A quarter of a minute of swells and steps, which keeps every processor's state moving.
  private static func sound() -> TestSound {
    TestSound(AudioFormat(sampleRate: Hertz(48000), channelCount: 2), frames: 720_000) {
      channel, frame in
      let swell = Float((frame / 4800) % 7) / 8
      let saw = Float((frame * (channel + 3)) % 109) / 109 - 0.5
      return saw * swell
    }
  }

  private static let pipelines = [
    """
    pipeline: kept
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - eq: { bands: [{ type: highpass, frequency: 80 Hz }, { type: peak, frequency: 1 kHz, gain: 4 dB }] }
      - gate: { threshold: -20 dB }
        keep: true
      - compress: { threshold: -30 dB, ratio: 4 }
      - limit: { ceiling: -6 dBTP }
        keep: true
    """,
    """
    pipeline: exported
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - compress: { threshold: -30 dB, ratio: 4 }
      - measure: {}
      - normalize: { loudness: -14 LUFS, true-peak: -1 dBTP }
      - export: { formats: [wav, m4a, alac, flac, mp3, opus, ogg] }
    """,
    // Streams that change their length, their rate and their channels on the way, and sound that
    // is held back for a second; each kind is listened to.
    """
    pipeline: shaped
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - trim: { start: 300 ms, end: -0.7 s }
      - cut: { remove: [{ from: 2 s, to: 4.5 s }, { from: 6 s, to: 6.1 s }], crossfade: 50 ms }
        keep: true
      - silence: { threshold: -14 dB, minimum: 20 ms, maximum: 10 ms, padding: 5 ms, crossfade: 5 ms }
      - resample: 44.1 kHz
        keep: true
      - mono: {}
      - speed: 1.2
      - measure: {}
      - stereo: { pan: -0.3, pan-law: -3 dB }
      - resample: { rate: 16 kHz, quality: quick }
      - fade: { in: 1 s, out: 1 s, curve: equal-power }
      - export: { formats: [wav, m4a, alac, flac] }
    """,
    // Files that are encoded again behind a lower limiter, which streams all of it once more.
    """
    pipeline: limited
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - compress: { threshold: -30 dB, ratio: 4 }
      - limit: -12 dBTP
      - measure: {}
      - split: { at: [4 s, 9 s], formats: [m4a, mp3], m4a: { bit-rate: 32 kbit/s } }
      - export: { formats: [wav, m4a, opus], m4a: { bit-rate: 32 kbit/s } }
    """,
    """
    pipeline: shaped-then-normalized
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - resample: 22.05 kHz
      - speed: 0.9
      - normalize: { loudness: -14 LUFS, true-peak: -1 dBTP }
      - fade: { out: 2 s }
      - channels: { pick: [2, 1, 2] }
      - cut: { remove: [{ from: 1 s, to: 2 s }] }
      - export: { formats: [wav, flac] }
    """,
  ]

  private static let repairs = """
    pipeline: repaired
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - dc: { least: -160 dB }
      - declip: -7 dB
      - dehum: { frequency: 50 Hz, harmonics: 4 }
      - denoise: 20 dB
      - deess: -40 dB
      - gate: { threshold: -20 dB, look-ahead: 3 ms, link: 30 % }
      - compress: { threshold: -30 dB, detector: rms, sidechain-highpass: 80 Hz, look-ahead: 4 ms }
        keep: true
    """

  @Test(arguments: pipelines)
  func `a pass that was stopped anywhere gives the same bytes in the end`(
    pipeline: String
  ) throws {
    try check(pipeline) { $0.steps.map(\.outputs) }
  }

  @Test func `repairs that were stopped anywhere give the same bytes in the end`() throws {
    // Which of the steps between have their sound kept depends on where they were stopped.
    try check(Self.repairs) { record in
      record.steps.map { $0.outputs.filter { $0.key == .measurement } }
        + record.steps.suffix(1).map(\.outputs)
    }
  }

  private func check(
    _ pipeline: String, given: (RunRecord) -> [[PortName: StepOutput]]
  ) throws {
    let workshop = try Workshop(Self.sound())
    let undisturbed = EventCount()
    let expected = try workshop.run(
      pipeline, in: workshop.store("expected"), watching: undisturbed)
    var stopCount = 0
    for limit in stride(from: 1, to: undisturbed.count, by: max(1, undisturbed.count / 5)) {
      let store = try workshop.store("stopped-\(limit)")
      var stops = 0
      var record: RunRecord?
      while record == nil {
        // Each attempt comes a little further than the one before.
        let watch = EventCount(stoppingAt: limit * (stops + 1))
        do { record = try workshop.run(pipeline, in: store, watching: watch) } catch {
          let failure = try #require(error as? RunError)
          #expect(failure.error.cause == .cancelled, "\(failure)")
          stops += 1
        }
      }
      stopCount += stops
      #expect(record.map(given) == given(expected))
    }
    #expect(stopCount > 5)
  }
}

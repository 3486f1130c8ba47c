import Audio
import PipelineEngine
import PipelineModel
import Platform
@testable import Stages
import TestSupport
import Testing

/// Passes that split and join, stopped at one point after the other.
@Suite struct ResumedEditingTests {
  private static let pipelines = [
    """
    pipeline: silence
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
      - split:
          { by: silence, threshold: -30 dB, minimum: 200 ms, padding: 150 ms,
            formats: [wav, m4a, alac, flac] }
    """,
    """
    pipeline: times
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - speed: 1.1
      - split: { at: [1 s, 1.01 s, 5 s, 0:09.5], formats: [wav, m4a] }
      - split: { by: channel, formats: [flac, wav], name: "{stem}.{piece}" }
    """,
    """
    pipeline: joined
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - gain: -3 dB
        keep: true
      - concat:
          { from: [$note, gain, $note], crossfade: 900 ms, sample-rate: 44.1 kHz, channels: 1 }
      - compress: { threshold: -30 dB, ratio: 4 }
      - export: [wav, flac]
    """,
    """
    pipeline: recorders
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - trim: { start: 1.25 s }
        keep: true
      - sync: { from: [$note, trim], extent: shared }
      - export: [wav]
    """,
  ]

  /// A quarter of a minute of an event, with pauses of different lengths.
  private static let sound: TestSound = {
    let event = Event(seconds: 16, seed: 5)
      .heard(AudioFormat(sampleRate: Hertz(48000), channelCount: 2), seconds: 15) { $0 }
    return TestSound(event.format, frames: 720_000) { channel, frame in
      guard frame % 90_000 > 9000 + 3000 * (frame / 90_000) else { return 0 }
      return event.channels[channel][frame] * 0.9 + Float(frame % 109) / 1090 - 0.05
    }
  }()

  @Test(arguments: pipelines)
  func `a pass that was stopped anywhere gives the same files in the end`(
    pipeline: String
  ) throws {
    let workshop = try Workshop(Self.sound)
    let undisturbed = EventCount()
    let expected = try workshop.run(
      pipeline, in: workshop.store("expected"), watching: undisturbed)
    #expect(expected.steps.last?.outputs.isEmpty == false)
    var stops = 0
    for limit in stride(from: 1, to: undisturbed.count, by: max(1, undisturbed.count / 8)) {
      let store = try workshop.store("stopped-\(limit)")
      var attempts = 1
      var record: RunRecord?
      while record == nil {
        // Each attempt comes a little further than the one before.
        let watch = EventCount(stoppingAt: limit * attempts)
        do { record = try workshop.run(pipeline, in: store, watching: watch) } catch {
          let failure = try #require(error as? RunError)
          #expect(failure.error.cause == .cancelled, "\(failure)")
          stops += 1
          attempts += 1
        }
      }
      let files = record?.steps.map { $0.outputs.filter { $0.value.kind != .sound } }
      #expect(
        files == expected.steps.map { $0.outputs.filter { $0.value.kind != .sound } }, "\(limit)")
    }
    #expect(stops > 5)
  }
}

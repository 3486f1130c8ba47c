import Audio
import PipelineEngine
import PipelineModel
import Platform
@testable import Stages
import TestSupport
import Testing

/// Passes with stages that people look at, stopped at one point after the other.
@Suite struct ResumedLookTests {
  private static let recorded = """
    pipeline: look
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - gate: { threshold: -20 dB }
      - waveform: { samples-per-pixel: 100, levels: 2, width: 300, height: 120 }
      - spectrogram: { width: 300, height: 120, window: 512 }
      - loudness-curve: { width: 300, height: 120 }
    """
  private static let made = """
    pipeline: metronome
    inputs: {}
    stages:
      - click: { duration: 15 s, channels: 2 }
      - waveform: { formats: [dat, png], width: 300, height: 120 }
      - spectrogram: { width: 300, height: 120, window: 512 }
      - export: wav
    """

  @Test(arguments: [(recorded, true), (made, false)])
  func `a pass that was stopped anywhere gives the same files in the end`(
    pipeline: String, hasRecording: Bool
  ) throws {
    let format = AudioFormat(sampleRate: Hertz(48000), channelCount: 2)
    let workshop = try Workshop(.babble(format, frames: 720_000))
    let undisturbed = EventCount()
    let expected = try workshop.run(
      pipeline, in: workshop.store("expected"), watching: undisturbed, hasRecording: hasRecording)
    var stops = 0
    for limit in stride(from: 1, to: undisturbed.count, by: max(1, undisturbed.count / 5)) {
      let store = try workshop.store("stopped-\(limit)")
      var attempts = 1
      var record: RunRecord?
      while record == nil {
        // Each attempt comes a little further than the one before.
        let watch = EventCount(stoppingAt: limit * attempts)
        do {
          record = try workshop.run(
            pipeline, in: store, watching: watch, hasRecording: hasRecording)
        } catch {
          let failure = try #require(error as? RunError)
          #expect(failure.error.cause == .cancelled, "\(failure)")
          stops += 1
          attempts += 1
        }
      }
      #expect(record?.steps.map(\.outputs) == expected.steps.map(\.outputs))
    }
    #expect(stops > 5)
  }
}

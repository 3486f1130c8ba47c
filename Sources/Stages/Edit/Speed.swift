import Audio
import PipelineModel
import SoundEngine

/// `speed`: faster or slower at the same pitch.
private struct SpeedStage: PlainStage, TimeMovingStage {
  let tempo: Double

  static let descriptor = timeChange(
    "speed", revision: 1,
    summary: "Make speech faster or slower without changing its pitch",
    discussion: """
      Overlapping windows of 40 ms are laid down at another pace, each shifted by up to 12 ms so \
      that it fits what it follows (WSOLA, Verhelst and Roelands, ICASSP 1993). It suits speech \
      from half to twice the tempo; sharp attacks of music may double.
      """,
    parameters: [
      ParameterDescriptor(
        "tempo", .number(.number, 0.5...3), .required,
        "how many times as fast: 1.25 makes four minutes of five")
    ],
    shorthand: "tempo")

  func makeProcessor(for format: AudioFormat) -> any Processor {
    TempoChanger(tempo: tempo, format: format)
  }

  func outline(after stream: SoundOutline) -> SoundOutline {
    stream.changed { TempoChanger.length(of: $0, at: tempo) }
  }
}

extension StageRegistration { static let speed = StageRegistration(SpeedStage.self) }

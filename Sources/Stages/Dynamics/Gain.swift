import Audio
import PipelineModel
import SoundEngine

/// `gain`: louder or quieter by a fixed amount.
private struct GainStage: PlainStage, SoundFilterStage, LevelKeepingStage {
  let gain: Decibels

  static let descriptor = StageDescriptor.soundFilter(
    "gain", revision: 1,
    summary: "Make everything louder or quieter by a fixed amount",
    discussion: "Peaks above full scale are kept; a limit or normalize stage below catches them.",
    parameters: [
      ParameterDescriptor("gain", .number(.decibels, -120...60), .required, "by how much")
    ],
    shorthand: "gain")

  func keeping(_ promise: LevelPromise) -> LevelPromise? {
    guard gain.value <= 0 else { return nil }
    var promise = promise
    promise.truePeak = Decibels(promise.truePeak.value + gain.value)
    promise.loudness = promise.loudness.map { LUFS($0.value + gain.value) }
    return promise
  }

  func makeProcessor(for format: AudioFormat) -> any Processor { Gain(gain, format: format) }
}

extension StageRegistration { static let gain = StageRegistration(GainStage.self) }

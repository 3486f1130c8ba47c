import Audio
import PipelineModel
import SoundEngine

/// `declip`: what clipping has cut off is put back, as far as it can be restored.
private struct DeclipStage: DeclaredStage, SoundFilterStage {
  typealias Parameters = Declipper.Settings

  static let descriptor = StageDescriptor.soundFilter(
    "declip", revision: 2,
    summary: "Put back peaks that clipping has cut off",
    discussion: """
      Runs of clipped samples are replaced by what an autoregressive model of the sound around \
      them expects (Janssen, Veldhuis and Vries 1986); nothing else changes. Peaks then reach \
      above full scale: a gain, limit or normalize stage below brings them back. It helps where \
      clipping is short, up to some 2 ms. Longer runs come out too low, and those above `longest` \
      are left alone; crushed sound stays crushed.
      """,
    parameters: [
      ParameterDescriptor(
        "level", .number(.decibels, -40...0), .defaulted("-0.1 dB"),
        "the level at which the recording clips; lower if it was turned down afterwards"),
      ParameterDescriptor(
        "longest", .number(.milliseconds, 0.05...20), .defaulted("5 ms"),
        "the longest run to mend"),
    ],
    shorthand: "level", report: "how much was mended")

  private let settings: Declipper.Settings

  init(_ parameters: Declipper.Settings) { settings = parameters }

  func makeProcessor(for format: AudioFormat) -> any Processor {
    Declipper(settings, format: format)
  }
}

extension StageRegistration { static let declip = StageRegistration(DeclipStage.self) }

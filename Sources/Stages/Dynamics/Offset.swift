import Audio
import PipelineModel
import Platform
import SoundEngine

/// `dc`: the mean of each channel becomes zero.
private struct OffsetStage: PlainStage, AnalysedSoundStage {
  let least: Decibels

  static let descriptor = StageDescriptor.analysedFilter(
    "dc", revision: 1,
    summary: "Take out a constant offset, which wastes headroom and clicks at cuts",
    discussion: """
      The mean of each channel is measured over the whole recording and subtracted, which leaves \
      everything that can be heard as it is: no filter bends a phase. An offset that wanders \
      needs a high-pass instead, eq with a band of type highpass at 10 Hz.
      """,
    parameters: [
      ParameterDescriptor(
        "least", .number(.decibels, -160...0), .defaulted("-90 dB"),
        "leave a channel whose offset is below this as it is, bit for bit")
    ],
    shorthand: "least", report: "the offset of each channel, and what was subtracted")

  /// The report: full scale is 1.
  private struct Report: Codable {
    let offsets: [Double]
    let subtracted: [Double]
  }

  func makeAnalysis(of format: AudioFormat, resuming: ListenerProgress?) -> any SoundAnalysis {
    let least = least.amplitude
    return MeteredAnalysis({ OffsetRemover.Meter(format: format) }, resuming: resuming) {
      (offsets) throws(SpoolError) in
      let subtracted = offsets.map { $0.magnitude >= least ? $0 : 0 }
      return try MeteredAnalysis.Decision(
        memo: subtracted, findings: Report(offsets: offsets, subtracted: subtracted))
    }
  }

  func makeProcessor(for format: AudioFormat, memo: String) throws(SpoolError) -> any Processor {
    OffsetRemover(
      offsets: try Findings.decode([Double].self, from: memo), format: format)
  }
}

extension StageRegistration { static let offset = StageRegistration(OffsetStage.self) }

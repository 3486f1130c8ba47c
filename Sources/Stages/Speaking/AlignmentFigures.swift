import JSONText
import Speech
import Transcripts

/// How well a transcript fits its recording, as a measurement.
struct AlignmentFigures {
  private let result: AlignmentResult
  private let report: QualityReport

  init(_ result: AlignmentResult, _ report: QualityReport) {
    self.result = result
    self.report = report
  }

  /// The figures as JSON.
  var text: String {
    JSONValue.object([
      "heardShare": .decimal(result.share),
      "extraWords": .integer(result.extraWordCount),
      "quality": report.json,
    ]).compact
  }
}

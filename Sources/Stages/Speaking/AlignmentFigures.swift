import JSONText
import Transcripts

/// How well a transcript fits its recording, as a measurement.
struct AlignmentFigures {
  private let outcome: AlignedChannels.Outcome
  private let report: QualityReport

  init(_ outcome: AlignedChannels.Outcome, _ report: QualityReport) {
    self.outcome = outcome
    self.report = report
  }

  /// The figures as JSON.
  var text: String {
    JSONValue.object(leavingOut: [
      "heardShare": .decimal(outcome.share),
      "extraWords": .integer(outcome.extraWordCount),
      "channels": outcome.sides.isEmpty
        ? nil : .object(outcome.sides.mapValues { .text($0) }),
      "quality": report.json,
    ]).compact
  }
}

import JSONText
import Transcripts

/// How sure recognised words are, as a measurement.
struct RecognitionFigures {
  private let transcript: Transcript
  private let report: QualityReport
  private let speech: [Range<Double>]

  init(_ transcript: Transcript, _ report: QualityReport, _ speech: [Range<Double>]) {
    self.transcript = transcript
    self.report = report
    self.speech = speech
  }

  /// The figures as JSON: the mean confidence is the share of the words that are likely right.
  var text: String {
    let confidences = transcript.words.compactMap(\.confidence)
    let seconds = speech.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
    return JSONValue.object(leavingOut: [
      "confidence": confidences.isEmpty
        ? nil : .decimal(confidences.reduce(0, +) / Double(confidences.count)),
      "speechSeconds": .decimal(seconds),
      "quality": report.json,
    ]).compact
  }
}

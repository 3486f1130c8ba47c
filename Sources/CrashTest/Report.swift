internal import FoundationEssentials

/// One line of `spool run --json`, as far as it tells how far a run is.
struct Report: Decodable {
  let event: String
  var step: String?
  var steps: [String]?
  /// How far a step is, in seconds of the recording.
  var done: Double?
  /// Where a pass goes on, in seconds of the recording.
  var atSeconds: Double?
  /// What the run itself takes for lost: seconds of work.
  var lostSeconds: Double?

  /// Reads a line; nil for anything that is no event.
  init?(line: some Sequence<UInt8>) {
    guard let report = try? JSONDecoder().decode(Report.self, from: Data(line)) else { return nil }
    self = report
  }
}

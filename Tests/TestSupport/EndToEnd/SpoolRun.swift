import Foundation

/// A finished `spool run --json`.
package struct SpoolRun: Sendable {
  /// The program's exit code.
  package let exitCode: Int32
  /// What it wrote on standard error.
  package let errorOutput: String
  /// Its events, in order.
  package let events: [SpoolEvent]
  /// The lines of standard output that are no event.
  package let strayLines: [String]
  /// What its steps found, as JSON with sorted keys, by step.
  package let findings: [String: String]

  /// Reads what a program left.
  package init(_ result: Program.Result) {
    exitCode = result.exitCode
    errorOutput = result.errorOutput
    var events: [SpoolEvent] = []
    var strayLines: [String] = []
    for line in result.text.split(separator: "\n") {
      if let event = try? JSONDecoder().decode(SpoolEvent.self, from: Data(line.utf8)) {
        events.append(event)
      } else {
        strayLines.append(String(line))
      }
    }
    let ended = result.text.split(separator: "\n").last { $0.contains(#""event":"ended""#) }
    findings = (try? ended.map { try Self.findings(in: String($0)) }) ?? [:]
    self.events = events
    self.strayLines = strayLines
  }

  /// The steps that were done, in the order in which they were.
  package var made: [String] { steps("finished") }
  /// The steps whose checkpoints were there.
  package var reused: [String] { steps("reused") }
  /// The steps whose conditions did not hold.
  package var skipped: [String] { steps("skipped") }
  /// What was warned of.
  package var warnings: [String] { events.filter { $0.event == "warning" }.compactMap(\.message) }
  /// The files that were written or found unchanged.
  package var files: [SpoolEvent.File] { events.compactMap(\.file) }
  /// The run as it ended.
  package var record: SpoolEvent.Run? { events.last { $0.event == "ended" }?.run }
  /// The one error on standard error; nil where there is none, more than one, or something else.
  package var complaint: Complaint? { Complaint(errorOutput) }

  /// What became of a step.
  package func step(_ id: String) -> SpoolEvent.Step? { record?.steps.first { $0.id == id } }

  private static func findings(in line: String) throws -> [String: String] {
    let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    let found = (event?["run"] as? [String: Any])?["findings"] as? [String: Any]
    return try (found ?? [:]).mapValues {
      String(
        decoding: try JSONSerialization.data(withJSONObject: $0, options: .sortedKeys),
        as: UTF8.self)
    }
  }

  private func steps(_ event: String) -> [String] {
    events.filter { $0.event == event }.compactMap(\.step)
  }
}

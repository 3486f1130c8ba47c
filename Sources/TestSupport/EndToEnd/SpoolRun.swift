import Foundation

/// A finished `spool run --json`.
public struct SpoolRun: Sendable {
  /// The program's exit code.
  public let exitCode: Int32
  /// What it wrote on standard error.
  public let errorOutput: String
  /// Its events, in order.
  public let events: [SpoolEvent]
  /// The lines of standard output that are no event.
  public let strayLines: [String]

  /// Reads what a program left.
  public init(_ result: Program.Result) {
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
    self.events = events
    self.strayLines = strayLines
  }

  /// The steps that were done, in the order in which they were.
  public var made: [String] { steps("finished") }
  /// The steps whose checkpoints were there.
  public var reused: [String] { steps("reused") }
  /// The steps whose conditions did not hold.
  public var skipped: [String] { steps("skipped") }
  /// What was warned of.
  public var warnings: [String] { events.filter { $0.event == "warning" }.compactMap(\.message) }
  /// The files that were written or found unchanged.
  public var files: [SpoolEvent.File] { events.compactMap(\.file) }
  /// The run as it ended.
  public var record: SpoolEvent.Run? { events.last { $0.event == "ended" }?.run }
  /// The one error on standard error; nil where there is none, more than one, or something else.
  public var complaint: Complaint? { Complaint(errorOutput) }

  /// What became of a step.
  public func step(_ id: String) -> SpoolEvent.Step? { record?.steps.first { $0.id == id } }

  private func steps(_ event: String) -> [String] {
    events.filter { $0.event == event }.compactMap(\.step)
  }
}

import Foundation
import TestSupport
import Testing

/// Runs every command that takes `--json` on a store with something of everything, and holds each
/// line against the command's schema. A new command needs one line here.
@Suite(
  "What commands print with --json is as their schemas say",
  .enabled(if: SchemaCheck.isPossible, "Python's jsonschema is not installed"))
struct JSONOutputTests {
  /// What no command here can be made to print in a reasonable time. The unit tests hold samples of
  /// these events against their schemas.
  private static let rare = [
    "waiting", "hashing", "began-anew", "dropped", "retrying", "went-on", "differs",
  ]

  @Test("each line of each command, each form that a schema knows, and no schema without a command")
  func lines() throws {
    let trial = try JSONTrial()
    try trial.runs()
    try trial.batches()
    try trial.quick()
    try trial.words()
    try trial.receipts()
    try trial.stamps()
    try trial.deliveries()
    try trial.watches()
    try trial.pipelines()
    try trial.plugins()
    try trial.history()
    try trial.superseded()
    try trial.care()

    let names = try trial.place.spool(["pipeline", "schema", "json"]).text
      .split(separator: "\n").map(String.init)
    #expect(Set(trial.lines.keys) == Set(names))
    var check = try SchemaCheck()
    for name in names {
      // The command as it is typed, but for files.
      let isOfFile = ["batch-report", "delivered-recording"].contains(name)
      let words = isOfFile ? [name] : name.split(separator: "-").map(String.init)
      let schema = try trial.place.spool(["pipeline", "schema", "json"] + words)
      #expect(schema.exitCode == 0, "\(schema.errorOutput)")
      #expect(schema.text.contains("\"urn:spool:json:v1:\(name)\""), "\(schema.text)")
      check.add(trial.lines[name] ?? [], to: schema.text)
    }
    for problem in try check.problems()
    where !problem.hasPrefix("urn:spool:json:v1:resume: nothing is: ")
      && !Self.rare.contains(where: { problem.hasSuffix("nothing is: \($0)") })
    {
      Issue.record("\(problem)")
    }
  }

  @Test("a schema that is not there is refused, and the nearest one named")
  func unknown() throws {
    let place = try Workspace()
    let unknown = try place.spool(["pipeline", "schema", "json", "runs", "lst"])
    #expect(unknown.exitCode == 2)
    #expect(unknown.errorOutput.contains("\"runs-list\""), "\(unknown.errorOutput)")
    #expect(try place.spool(["pipeline", "schema", "receipt", "runs"]).exitCode == 2)
    // The first word alone means a command here as well.
    let usual = try place.spool(["pipeline", "schema", "json", "runs"])
    #expect(usual.text.contains("\"urn:spool:json:v1:runs-list\""), "\(usual.errorOutput)")
  }
}

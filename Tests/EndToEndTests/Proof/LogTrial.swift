import Foundation
import Platform
import TestSupport
import Testing

/// A store whose ledger is tried: what is run in it, and what is done to it behind the program's back.
protocol LogTrial {
  var place: Workspace { get }
  var pipeline: String { get }
}

extension LogTrial {
  static func make() throws -> (Workspace, pipeline: String) {
    let place = try Workspace()
    return (
      place,
      try place.pipeline(
        "pipeline: p\ninputs: { note: sound }\nstages: [decode, { export: [wav] }, proof]\n")
    )
  }

  func run(_ names: [String]) throws {
    for name in names {
      let note = place.file(name + ".wav")
      try Reference.record(note, seconds: 0.3)
      #expect(try place.run(pipeline, [note]).exitCode == 0)
    }
  }

  func ledger(_ words: String...) throws -> Program.Result {
    try place.spool(["proof", "ledger"] + words)
  }

  func keep(_ name: String) throws -> String {
    try place.folder.write(ledger("head", "--json").text, to: name)
  }

  func receipt(_ name: String) -> String { place.out + "/\(name).receipt.json" }

  /// Changes the store's database behind the program's back.
  func tamper(_ statement: String) throws {
    try place.database().script(statement, to: "change")
  }

  /// Puts another size into the head beside the database.
  func forge(_ size: String) throws {
    let result = try #require(Program(named: "python3")).run([
      "-c",
      """
      import base64, json, re, sys
      head = json.load(open(sys.argv[1]))
      payload = base64.b64decode(head["payload"]).decode()
      payload = re.sub('"size":-?[0-9]+', '"size":' + sys.argv[2], payload)
      head["payload"] = base64.b64encode(payload.encode()).decode()
      json.dump(head, open(sys.argv[1], "w"))
      """, place.store + "/receipts.head.json", size,
    ])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
  }

  /// Changes the list beside the database, and lets the database say how long it is.
  func tamperLog(_ change: (inout [String]) -> Void) throws {
    let log = URL(fileURLWithPath: place.store + "/receipts.log")
    var lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
    change(&lines)
    let text = lines.map { $0 + "\n" }.joined()
    try text.write(to: log, atomically: false, encoding: .utf8)
    try tamper("UPDATE receipt_log SET lines = \(lines.count), byte_count = \(text.utf8.count)")
  }

  /// What `spool store check` and `spool verify` say of the ledger, with their exit codes.
  func verdicts() throws -> [(code: Int32, text: String)] {
    try [["store", "check"], ["verify", place.out], ["verify", receipt("a")]].map { words in
      let result = try place.spool(words)
      return (result.exitCode, result.text)
    }
  }
}

import Foundation
import TestSupport
import Testing

/// What a watch took in is proven where its pipeline asks for it.
@Suite("A watch writes a receipt for every recording, if its pipeline has a proof stage")
struct WatchReceiptTests {
  @Test("with its inbox, its arrival and its sidecar as received")
  func arrival() throws {
    let inbox = try WatchedPlace(proof: "{}")
    try inbox.make(1)
    try inbox.make(2)
    let watch = try inbox.watch()
    let sidecar = #"{"noteId": "7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41", "title": "Eins"}"#
    try inbox.shell("echo '\(sidecar)' > inbox/one.json; cp made/1.wav inbox/one.wav")
    try inbox.shell("cp made/2.wav inbox/two.wav")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 })
    let place = inbox.place
    let verified = try place.spool(["verify", place.out])
    #expect(verified.exitCode == 0, "\(verified.text)")
    #expect(verified.text.contains("2 receipts") && !verified.text.contains("lie here"))
    struct Envelope: Decodable { let payload: Data }
    let envelope = try JSONDecoder().decode(
      Envelope.self, from: place.export("one.receipt.json"))
    try expectSchema(envelope.payload, place)
    let statement = try JSONDecoder().decode(Statement.self, from: envelope.payload)
    let source = try #require(statement.predicate.origin.sources.first)
    #expect(source.name == "one.wav")
    #expect(source.inbox == inbox.inbox.split(separator: "/").last.map(String.init))
    #expect(source.arrivedAt?.hasSuffix("Z") == true)
    #expect(source.sidecar?.name == "one.json")
    #expect(source.sidecar?.content == Data((sidecar + "\n").utf8))
    let sum = try #require(Program(named: "sha256sum")).run([place.file("made/1.wav")])
    #expect(sum.text.hasPrefix(source.digest.sha256))
  }

  /// Holds a real statement against the JSON Schema that is shipped, where there is a validator.
  private func expectSchema(_ statement: Data, _ place: Workspace) throws {
    let python = try #require(Program(named: "python3"))
    guard try python.run(["-c", "import jsonschema"]).exitCode == 0 else { return }
    let path = try place.folder.write(
      String(decoding: statement, as: UTF8.self), to: "statement.json")
    let schema = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Sources/spool/Spool.docc/Resources/receipt.schema.json")
      .path
    let check = try python.run([
      "-c",
      """
      import json, sys, jsonschema
      schema, statement = (json.load(open(path)) for path in sys.argv[1:])
      for error in jsonschema.Draft202012Validator(schema).iter_errors(statement):
          print(error.json_path, error.message)
      """, schema, path,
    ])
    #expect(check.exitCode == 0 && check.text == "", "\(check.text)\(check.errorOutput)")
  }

  @Test("without the stage it writes none, makes no key, and waits for none")
  func unasked() throws {
    let inbox = try WatchedPlace()
    try inbox.make(1)
    #expect(try inbox.place.spool(["proof", "key", "export"]).exitCode == 0)
    try inbox.shell("chmod 644 keys/signing.pem")
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/1.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(inbox.place.exports == ["1.wav"])
  }

  @Test("a signing key that others can read ends the watch before it begins")
  func looseKey() throws {
    let inbox = try WatchedPlace(proof: "{}")
    #expect(try inbox.place.spool(["proof", "key", "export"]).exitCode == 0)
    let secret = inbox.place.keys + "/signing.pem"
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: secret)
    let watch = try inbox.watch()
    #expect(watch.end() == 1)
    #expect(watch.errors.contains("chmod 600"))
  }

  @Test("recordings wait while the ledger is not as it was signed, and go on when it was repaired")
  func contradictedLedger() throws {
    let inbox = try WatchedPlace(proof: "{}")
    for number in 1...3 { try inbox.make(number) }
    let watch = try inbox.watch()
    func awaitReceipts(_ count: Int) {
      #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == count })
    }
    for number in 1...2 {
      try inbox.shell("cp made/\(number).wav inbox/\(number).wav")
      awaitReceipts(number)
    }
    let store = inbox.place.store
    try FileManager.default.moveItem(atPath: store + "/receipts.log", toPath: store + "/gone")
    try inbox.shell("cp made/3.wav inbox/3.wav")
    #expect(inbox.wait { watch.output.contains("the list of receipts is missing") })
    #expect(
      inbox.wait {
        (try? inbox.place.spool(["status"]).text.contains("not as it was signed")) ?? false
      })
    // Nobody repairs a store that is at work.
    #expect(try inbox.place.spool(["store", "repair"]).exitCode == 1)
    watch.send(SIGTERM)
    _ = watch.end()
    #expect(try inbox.place.spool(["store", "repair"]).exitCode == 0)
    let next = try inbox.watch()
    #expect(inbox.wait { next.news.contains { $0.event == "uploaded" } })
    #expect(try inbox.place.spool(["verify", inbox.place.out]).exitCode == 0)
  }

  @Test("a key that was rotated, opened to others or taken away meanwhile signs nothing more")
  func changedKey() throws {
    let inbox = try WatchedPlace(proof: "{}")
    for number in 1...4 { try inbox.make(number) }
    let place = inbox.place
    let watch = try inbox.watch()
    func keyID(_ name: String) throws -> String? {
      struct Envelope: Decodable {
        struct Signature: Decodable { let keyid: String }
        let signatures: [Signature]
      }
      return try JSONDecoder().decode(
        Envelope.self, from: place.export("\(name).receipt.json")
      ).signatures.first?.keyid
    }
    func drop(_ number: Int) throws {
      try inbox.shell("cp made/\(number).wav inbox/\(number).wav")
    }
    func awaitReceipts(_ count: Int) {
      #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == count })
    }
    try drop(1)
    awaitReceipts(1)
    #expect(try place.spool(["proof", "key", "rotate"]).exitCode == 0)
    try drop(2)
    awaitReceipts(2)
    let shown = try place.spool(["proof", "key", "show"]).text
    let second = try #require(try keyID("2"))
    #expect(shown.contains(second), "\(shown)")
    #expect(try keyID("1") != keyID("2"))
    // What cannot be signed waits, and goes on when the key is mended.
    try inbox.shell("chmod 644 keys/signing.pem")
    try drop(3)
    #expect(inbox.wait { watch.output.contains("others may have read it") })
    try inbox.shell("mv keys/signing.pem kept.pem")
    try drop(4)
    #expect(inbox.wait { watch.output.contains("taken away while it was in use") })
    #expect(!place.exports.contains("3.receipt.json") && !place.exports.contains("4.receipt.json"))
    try inbox.shell("chmod 600 kept.pem; mv kept.pem keys/signing.pem")
    awaitReceipts(4)
    #expect(try keyID("4") == keyID("2") && keyID("3") == keyID("2"))
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
  }

  private struct Statement: Decodable {
    struct Predicate: Decodable { let origin: Origin }
    struct Origin: Decodable { let sources: [Source] }
    struct Source: Decodable {
      let name: String
      let inbox: String?
      let arrivedAt: String?
      let sidecar: Sidecar?
      let digest: Digest
    }
    struct Sidecar: Decodable {
      let name: String?
      let content: Data?
    }
    struct Digest: Decodable { let sha256: String }
    let predicate: Predicate
  }
}

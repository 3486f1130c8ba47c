import Foundation
import PipelineModel
import Platform
import Proof
import Receipts
import Store
import TestSupport
import Testing

@Suite("Receipts enter a signed log, and its audit names every later change")
struct LogAuditTests {
  private let scratch: ScratchFolder
  private let store: DiskStore
  private let keys: KeyFolder
  private let key: SigningKey

  /// A store with three signed receipts in its log.
  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
    keys = KeyFolder(scratch.file("keys"))
    key = try keys.signingKey()
    for number in 1...3 { try add(number) }
  }

  private func path(_ number: Int) -> String { scratch.file("note-\(number).receipt.json") }

  private func receipt(_ number: Int) -> String {
    let sound = SHA256.digest(of: "sound \(number)")
    return Receipt(
      subjects: [Receipt.Subject(name: "note-\(number).wav", digest: sound, byteCount: 7)],
      origin: Receipt.origin(
        program: ("spool", "1"), host: ("host", "Linux"),
        run: Receipt.run(
          id: "run-\(number)", pipeline: "quick", pipelineDigest: nil, startedAt: 0, finishedAt: 1),
        sources: []),
      stages: [
        Receipt.stage(
          id: "export", kind: "export", revision: 1, parameters: .object([:]), inputs: [:],
          outputs: [:], libraries: [:], key: sound, isReused: false)
      ]
    ).signed(by: key).text
  }

  private func signer() -> LogSigner { LogSigner(store, keys: keys) }

  private func add(_ number: Int) throws {
    try signer().add(receipt(number), at: path(number), signedBy: key, now: 1_790_000_000)
  }

  private func audit() throws -> LogAudit {
    LogAudit(try store.receipts.records(), keys: try keys.knownKeys())
  }

  /// Changes the list in the database only: the files beside it stay as they are.
  private func changeDatabase(_ change: (inout [ReceiptEntry]) -> Void) throws {
    let records = try store.receipts.records()
    let files = try [records.logPath, records.headPath].map {
      ($0, try Data(contentsOf: URL(fileURLWithPath: $0)))
    }
    var entries = records.entries
    change(&entries)
    try store.receipts.restore(entries, under: #require(records.head))
    for (path, bytes) in files { try bytes.write(to: URL(fileURLWithPath: path)) }
  }

  @Test("what was appended is sound, in order and under the head of its signer")
  func sound() throws {
    let audit = try audit()
    #expect(audit.findings == [])
    #expect(audit.refusal == nil && audit.recovery == nil && audit.advice == nil)
    #expect(Set(audit.signers) == [key.verifyingKey])
    #expect(audit.records.entries.map(\.path) == [path(1), path(2), path(3)])
    #expect(
      audit.records.entries.map(\.leaf)
        == (1...3).map { MerkleTree.leaf(Array(receipt($0).utf8)) })
    try add(2)
    #expect(try store.receipts.records().entries.count == 3, "it is there already")
  }

  @Test("an altered entry is named, refuses additions and is recovered from the log file")
  func altered() throws {
    try changeDatabase {
      $0[1] = ReceiptEntry(position: 1, leaf: SHA256.digest(of: "another"), path: $0[1].path)
    }
    let audit = try audit()
    #expect(
      audit.findings.contains(
        Deviation(path(2), "its leaf, number 2, was altered in the ledger")))
    let error = #expect(throws: SpoolError.self) { try add(4) }
    #expect(error?.message == "the ledger of receipts is not as it was signed")
    let recovery = try #require(audit.recovery)
    #expect(recovery.source == audit.records.logPath)
    try store.receipts.restore(recovery.entries, under: recovery.head)
    #expect(try self.audit().findings == [])
    try add(4)
    #expect(try self.audit().records.entries.count == 4)
  }

  @Test("a deleted entry and one of another path are named")
  func deletedAndMoved() throws {
    try changeDatabase { $0.removeLast() }
    #expect(
      try audit().findings.contains(
        Deviation(path(3), "its leaf, number 3, was deleted in the ledger")))
    let recovery = try #require(try audit().recovery)
    try store.receipts.restore(recovery.entries, under: recovery.head)
    try changeDatabase {
      $0[0] = ReceiptEntry(position: 0, leaf: $0[0].leaf, path: "/elsewhere")
    }
    #expect(
      try audit().findings.contains(
        Deviation(path(1), "its path was changed: the ledger has /elsewhere, at number 1")))
  }

  @Test("an entry under no head was slipped in")
  func slippedIn() throws {
    try changeDatabase {
      $0.append(ReceiptEntry(position: 3, leaf: SHA256.digest(of: "more"), path: "/more"))
    }
    #expect(
      try audit().findings
        == [Deviation("/more", "its leaf, number 4, was slipped into the ledger")])
  }

  @Test("a changed line of the log file is named, and the database has the log as it was signed")
  func changedFile() throws {
    let records = try store.receipts.records()
    var text = try String(contentsOfFile: records.logPath, encoding: .utf8)
    text = text.replacingOccurrences(of: path(2), with: "/elsewhere")
    try text.write(toFile: records.logPath, atomically: false, encoding: .utf8)
    let audit = try audit()
    #expect(audit.findings.map(\.name) == [records.logPath])
    #expect(audit.recovery?.source == records.databasePath)
  }

  @Test("without the signer's key nothing is vouched for, and the advice is to import it")
  func strangeKey() throws {
    let audit = LogAudit(try store.receipts.records(), keys: [SigningKey().verifyingKey])
    #expect(audit.signers == [])
    #expect(audit.recovery == nil)
    #expect(audit.advice?.contains("if the key that signed it is to be trusted here") == true)
  }

  @Test(
    "a database without the last receipts catches up with the files, as after a restored backup")
  func caughtUp() throws {
    let before = try store.receipts.records()
    try add(4)
    let after = try store.receipts.records()
    let behind = ReceiptRecords(
      entries: before.entries, logged: after.logged, head: before.head, copy: after.copy,
      databasePath: after.databasePath, logPath: after.logPath, headPath: after.headPath)
    let audit = LogAudit(behind, keys: try keys.knownKeys())
    #expect(audit.findings == [])
    #expect(audit.records.entries == after.entries)
  }

  @Test("a withdrawal is an entry of its own, and counts if a known key signed it")
  func withdrawal() throws {
    let leaf = MerkleTree.leaf(Array(receipt(1).utf8))
    let text = Withdrawal(of: leaf, at: path(1), reason: "by wish", time: 1_790_000_001)
      .signed(by: key)
    try signer().add(text, at: text, signedBy: key, now: 1_790_000_001)
    let audit = try audit()
    #expect(audit.findings == [])
    let entries = audit.records.entries
    #expect(entries.count == 4 && entries.receipts.count == 3)
    #expect(entries.withdrawals(signedBy: [key.verifyingKey])[leaf]?.reason == "by wish")
    #expect(entries.withdrawals(signedBy: [SigningKey().verifyingKey]).isEmpty)
    #expect(try store.receipts.statements().map(\.path) == [text])
  }

  @Test(
    "a bit that flips in the files beside the database is named, and put back, or changes nothing")
  func flippedBits() throws {
    let sound = try store.receipts.records()
    let expected = sound.entries
    var findings = 0
    for path in [sound.logPath, sound.headPath] {
      let bytes = try Data(contentsOf: URL(filePath: path))
      for byte in bytes.indices {
        try flipBit(byte % 8, ofByte: byte, in: path)
        let audit = try audit()
        #expect(audit.records.entries == expected, "byte \(byte) of \(path)")
        if let recovery = audit.recovery {
          findings += 1
          #expect(recovery.entries == expected, "byte \(byte) of \(path)")
          try store.receipts.restore(recovery.entries, under: recovery.head)
        } else {
          #expect(audit.findings == [], "byte \(byte) of \(path): nothing leads back")
          try bytes.write(to: URL(filePath: path))
        }
        #expect(try self.audit().findings == [], "byte \(byte) of \(path), put back")
      }
    }
    #expect(findings > 100)
  }
}

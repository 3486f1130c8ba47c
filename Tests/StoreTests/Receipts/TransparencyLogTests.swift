import Foundation
import PipelineModel
import Platform
@testable import Store
import Synchronization
import TestSupport
import Testing

@Suite("The store's ledger of receipts only grows")
struct ReceiptLedgerTests {
  @Test("receipts keep their order, one that is there is not added again, and all survive")
  func order() throws {
    let scratch = try ScratchFolder()
    let leaves = (0..<20).map { SHA256.digest(of: "\($0)") }
    do {
      let store = try DiskStore(at: scratch.file("store"))
      #expect(try store.receiptLeaves() == [])
      for leaf in leaves {
        try store.append(leaf, "path")
        try store.append(leaf, "elsewhere")
        try store.append(leaves[0], "path")
      }
      #expect(try store.receiptLeaves() == leaves)
    }
    #expect(try DiskStore(at: scratch.file("store")).receiptLeaves() == leaves)
  }

  @Test("many at once get places of their own")
  func concurrent() async throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask { try store.append(SHA256.digest(of: "\(number % 30)"), "p") }
      }
      try await group.waitForAll()
    }
    let leaves = try store.receiptLeaves()
    #expect(leaves.count == 30)
    #expect(Set(leaves).count == 30)
    let records = try store.receipts.records()
    #expect(records.head?.size == 30)
    #expect(records.logged == records.entries)
    #expect(records.copy == records.head?.text)
  }

  @Test("a store that is made of a backup elsewhere has the files beside its database")
  func elsewhere() throws {
    let scratch = try ScratchFolder()
    let backup = scratch.file("backup.sqlite")
    do {
      let store = try DiskStore(at: scratch.file("store"))
      for number in 0..<3 { try store.append(SHA256.digest(of: "\(number)"), "path") }
      try store.backUp(to: backup, isReplacing: false)
    }
    let path = scratch.file("new")
    _ = try DiskStore.restore(path, from: backup)
    let records = try DiskStore(at: path).receipts.records()
    #expect(records.entries.count == 3 && records.logged == records.entries)
    #expect(records.copy != nil && records.copy == records.head?.text)
    #expect(try Inspection(of: path).run().findings == [])
  }

  @Test("the head grows with the list, and the files beside the database say the same")
  func head() throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    for (number, path) in ["a", "a line\nand \"more\"", "ü"].enumerated() {
      try store.append(SHA256.digest(of: "\(number)"), path)
      let records = try store.receipts.records()
      #expect(records.head?.size == number + 1)
      #expect(records.entries.map(\.position) == Array(0...number))
      #expect(records.logged == records.entries)
      #expect(records.copy == records.head?.text)
    }
  }

  @Test("whoever knows the head is told of the new receipt alone, and anybody else of all")
  func growth() throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    let leaves = (0..<4).map { SHA256.digest(of: "\($0)") }
    try store.append(leaves[0], "p")
    var known = try store.receipts.records().head
    let told = Mutex<[ReceiptGrowth]>([])
    func add(_ leaf: Digest, to store: DiskStore) throws {
      try store.receipts.update(adding: leaf, at: "p", knowing: known) { growth in
        told.withLock { $0.append(growth) }
        return growth.entry.map { ReceiptUpdate([$0], under: DiskStore.head(over: $0.number)) }
      }
    }
    try add(leaves[1], to: store)
    #expect(told.withLock { $0.last?.before } == nil)
    #expect(
      told.withLock { $0.last?.entry } == ReceiptEntry(position: 1, leaf: leaves[1], path: "p"))
    // Somebody else added one meanwhile.
    try add(leaves[2], to: store)
    #expect(told.withLock { $0.last?.before?.entries.compactMap(\.leaf) } == Array(leaves[..<2]))
    known = try store.receipts.records().head
    try add(leaves[1], to: store)
    #expect(told.withLock { $0.last?.entry } == nil && told.withLock { $0.last?.before } == nil)
    #expect(try store.receiptLeaves() == Array(leaves[..<3]))
    // Whoever knows the database need not know the files beside it.
    try FileManager.default.removeItem(atPath: scratch.file("store/receipts.head.json"))
    try add(leaves[3], to: store)
    #expect(told.withLock { $0.last?.before?.copy } == nil)
    #expect(told.withLock { $0.last?.before?.entries.count } == 3)
  }

  @Test("what cannot be signed is not added, and changes nothing")
  func unsigned() throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    try store.append(SHA256.digest(of: "a"), "a")
    let before = try store.receipts.records()
    try store.receipts.update(adding: SHA256.digest(of: "b"), at: "b", knowing: nil) { _ in nil }
    let after = try store.receipts.records()
    #expect(after.entries == before.entries)
    #expect(after.head == before.head)
    #expect(after.logged == before.logged)
    #expect(after.copy == before.copy)
  }

  @Test("files that a killed process left behind the database are brought up to it")
  func behind() throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    for name in ["a", "b"] { try store.append(SHA256.digest(of: name), name) }
    for file in ["receipts.log", "receipts.head.json"] {
      try FileManager.default.removeItem(atPath: scratch.file("store/" + file))
      try store.append(SHA256.digest(of: file), file)
      let records = try store.receipts.records()
      #expect(records.logged == records.entries)
      #expect(records.copy == records.head?.text)
    }
  }

  @Test("rows in places where none can be are told of like others")
  func strays() throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    try store.append(SHA256.digest(of: "a"), "a")
    try store.withDatabase { (database) throws(SpoolError) in
      for position in [Int64(-1), .max] {
        try database.run(
          "INSERT INTO receipts VALUES (?, ?, 'x')", [.integer(position), .text("\(position)")],
          to: "test")
      }
    }
    let entries = try store.receipts.records().entries
    #expect(entries.map(\.position) == [-1, 0, .max])
    #expect(entries.map(\.number) == [0, 1, .max])
  }

  @Test("a list that is no list is not read to its end, and lines count as they would be written")
  func junk() throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    try store.append(SHA256.digest(of: "a"), "a")
    let log = URL(fileURLWithPath: scratch.file("store/receipts.log"))
    let line = try String(contentsOf: log, encoding: .utf8)
    let strange = [
      line.replacing("0 ", with: "+0 "), line.replacing("\"a\"", with: "\"\\u0061\""), "\n",
    ]
    for text in strange {
      try (line + text).write(to: log, atomically: false, encoding: .utf8)
      let logged = try store.receipts.records().logged
      #expect(logged.map { $0.leaf == nil } == [false, true], "\(text)")
    }
    try String(repeating: "x\n", count: 100_000).write(
      to: log, atomically: false, encoding: .utf8)
    #expect(try store.receipts.records().logged.count == 1000)
  }
}

extension DiskStore {
  fileprivate func receiptLeaves() throws(SpoolError) -> [Digest] {
    try receipts.records().entries.compactMap(\.leaf)
  }

  /// Adds a receipt under a head that nobody signed.
  fileprivate func append(_ leaf: Digest, _ path: String) throws(SpoolError) {
    try receipts.update(adding: leaf, at: path, knowing: nil) { growth in
      growth.entry.map { ReceiptUpdate([$0], under: Self.head(over: $0.number)) }
    }
  }

  fileprivate static func head(over size: Int) -> ReceiptHead {
    let root = SHA256.digest(of: "\(size)")
    let payload = #"{"root":"\#(root.hex)","size":\#(size)}"#
    let text = #"{"payload":"\#(Data(payload.utf8).base64EncodedString())"}"# + "\n"
    return ReceiptHead(size: size, root: root, text: text)
  }
}

import Platform
import Store
import TestSupport
import Testing

@Suite("Corrections of words lie in the store") struct CorrectionTableTests {
  private let scratch: ScratchFolder
  private let store: DiskStore
  private let recording = SHA256.digest(of: "a recording")

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
  }

  private func correction(_ changes: String) -> StoredCorrection {
    StoredCorrection(
      author: "ada", time: "2026-01-01T12:00:00Z", transcript: SHA256.digest(of: "words"),
      changes: changes)
  }

  @Test func `they come back in their order, and the last one is taken back first`() throws {
    let table = store.corrections
    let before = try table.versions()
    try table.add(correction("[1]"), to: [recording], after: 0)
    let one = try table.versions()
    try table.add(correction("[2]"), to: [recording], after: 1)
    #expect(try table.all(of: [recording]) == [correction("[1]"), correction("[2]")])
    #expect(try table.all(of: [SHA256.digest(of: "another")]) == [])
    #expect(try before.isEmpty && one.count == 1 && table.versions() != one)
    #expect(try table.removeLast(of: [recording])?.author == "ada")
    #expect(try table.all(of: [recording]) == [correction("[1]")])
    #expect(try table.versions() == one)
    #expect(try table.removeLast(of: [recording]) != nil)
    #expect(try table.removeLast(of: [recording]) == nil)
  }

  @Test func `one that was made beside another is refused, and changes nothing`() throws {
    let table = store.corrections
    try table.add(correction("[1]"), to: [recording], after: 0)
    let error = #expect(throws: SpoolError.self) {
      try table.add(correction("[2]"), to: [recording], after: 0)
    }
    #expect(error?.message.contains("corrected meanwhile") == true)
    #expect(try table.all(of: [recording]) == [correction("[1]")])
  }

  @Test func `those of a transcript count, whatever they are kept under`() throws {
    let table = store.corrections
    let (whole, words) = (SHA256.digest(of: "a whole"), SHA256.digest(of: "words"))
    try table.add(correction("[1]"), to: [recording], after: 0)
    #expect(try table.all(of: [whole]) == [])
    #expect(try table.all(of: [whole], over: words) == [correction("[1]")])
    #expect(try table.all(of: [whole], over: SHA256.digest(of: "other words")) == [])
    #expect(try table.transcriptVersions().keys.map(\.self) == [words.hex])
    var second = correction("[2]")
    second.time = "2026-01-02T12:00:00Z"
    try table.add(second, to: [whole], over: words, after: 1)
    #expect(try table.all(of: [whole], over: words) == [correction("[1]"), second])
    #expect(try table.all(of: [whole]) == [second])
    for _ in 1...2 { #expect(try table.removeLast(of: [whole], over: words) != nil) }
    #expect(try table.all(of: [whole, recording]) == [])
  }

  @Test func `corrections of two files of a sound are one row, in their order`() throws {
    let table = store.corrections
    let other = SHA256.digest(of: "the same sound with other tags")
    try table.add(correction("[1]"), to: [recording], after: 0)
    try table.add(correction("[2]"), to: [other, recording], after: 1)
    for recordings in [[other, recording], [recording, other]] {
      #expect(try table.all(of: recordings) == [correction("[1]"), correction("[2]")])
    }
    #expect(throws: SpoolError.self) {
      try table.add(correction("[3]"), to: [recording, other], after: 1)
    }
    #expect(try table.removeLast(of: [other, recording]) != nil)
    #expect(try table.all(of: [recording, other]) == [correction("[1]")])
    #expect(try table.all(of: [other]) == [])
  }

  @Test func `a store that was opened again has them`() throws {
    try store.corrections.add(correction("[1]"), to: [recording], after: 0)
    let other = try DiskStore(at: scratch.file("store"))
    #expect(try other.corrections.all(of: [recording]) == [correction("[1]")])
  }
}

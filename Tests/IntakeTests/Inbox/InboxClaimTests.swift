import Foundation
@testable import Intake
import Platform
import TestSupport
import Testing

@Suite("An inbox has one watch")
struct InboxClaimTests {
  @Test("the folder itself is claimed: another store or another path to it makes no difference")
  func exclusive() throws {
    let bench = try ProcessorBench()
    let other = try ProcessorBench()
    try FileManager.default.removeItem(atPath: other.inbox)
    try FileManager.default.createSymbolicLink(
      atPath: other.inbox, withDestinationPath: bench.inbox)
    var first: InboxProcessor? = try bench.processor()
    try first?.claimInbox()
    let second = try other.processor()
    let error = #expect(throws: SpoolError.self) { try second.claimInbox() }
    #expect(error?.reason == "process \(ProcessInfo.processInfo.processIdentifier) watches it")
    // Without the claim, nothing is taken in either.
    let recording = try other.drop("sound", as: "note.m4a")
    #expect(throws: SpoolError.self) { try second.takeIn(recording) }
    first = nil
    #expect(try second.takeIn(recording).recording != nil)
  }

  @Test("neither a folder in a watched one nor one around it has a watch of its own")
  func nested() throws {
    let outer = try ProcessorBench()
    let (deep, beside) = (outer.inbox + "/a/inbox", outer.inbox + "/b/inbox")
    for path in [deep, beside] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    let around = try outer.processor()
    var within: InboxProcessor? = try ProcessorBench(at: outer.inbox + "/a").processor()
    try within?.claimInbox()
    let process = ProcessInfo.processInfo.processIdentifier
    let below = #expect(throws: SpoolError.self) { try around.claimInbox() }
    #expect(below?.reason == "process \(process) watches \(deep), which lies in it")
    try ProcessorBench(at: outer.inbox + "/b").processor().claimInbox()
    within = nil
    try around.claimInbox()
    let above = #expect(throws: SpoolError.self) {
      try ProcessorBench(at: outer.inbox + "/a").processor().claimInbox()
    }
    #expect(above?.reason == "process \(process) watches \(outer.inbox), which this one lies in")
  }

  @Test("a folder that comes in the inbox's place is claimed anew")
  func recreated() throws {
    let bench = try ProcessorBench()
    let processor = try bench.processor()
    try processor.claimInbox()
    try FileManager.default.removeItem(atPath: bench.inbox)
    try FileManager.default.createDirectory(
      atPath: bench.inbox, withIntermediateDirectories: false)
    let another = try bench.processor(pipeline: "another")
    try another.claimInbox()
    let recording = try bench.drop("sound", as: "note.m4a")
    #expect(throws: SpoolError.self) { try processor.takeIn(recording) }
    #expect(try another.takeIn(recording).recording != nil)
  }

  @Test("the kernel's list names who has locked a folder")
  func listing() {
    let list = """
      1: POSIX  ADVISORY  WRITE 11 08:01:4242 0 EOF
      2: FLOCK  ADVISORY  READ 12 08:01:4242 0 EOF
      3: FLOCK  ADVISORY  WRITE 13 08:02:4242 0 EOF
      4: FLOCK  ADVISORY  WRITE 14 08:01:4242 0 EOF
      """
    #expect(FolderLocks.owner(ofInode: 4242, device: 0x0801, in: list) == 14)
    #expect(FolderLocks.owner(ofInode: 4242, device: 0x2a, in: list) == 13)
    #expect(FolderLocks.owner(ofInode: 1, device: 1, in: list) == nil)
  }
}

import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite("What receipts wait for is never lost, and never asked for twice")
struct StampQueueTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func open() throws -> DiskStore { try DiskStore(at: scratch.file("store")) }

  private func stamp(
    _ text: String, by host: String = "a", at path: String? = nil, since: Double = 100
  ) -> AwaitedStamp {
    let path = path ?? "/out/\(text).receipt.json"
    return AwaitedStamp(
      receipt: SHA256.digest(of: text), path: path,
      authority: TimeStampAuthority(url: "http://\(host)/tsr", certificates: "/\(host).pem"),
      token: "\(path).\(host)", since: since)
  }

  @Test("one for each receipt and authority survives, however often it is noted")
  func once() throws {
    let all = [stamp("one"), stamp("one", by: "b"), stamp("two", since: 200)]
    do {
      let store = try open()
      #expect(try store.nextStampAttempt() == nil)
      try store.awaitStamps(all)
      try store.awaitStamps(all)
    }
    #expect(try open().awaitedStamps() == all)
    #expect(try open().nextStampAttempt() == 100)
  }

  @Test("an answer is kept until it is in its place, and then nothing is left")
  func answered() throws {
    let store = try open()
    try store.awaitStamps([stamp("one"), stamp("two")])
    #expect(try store.keep([1, 0, 255], for: stamp("one")))
    #expect(
      try open().awaitedStamps().first { $0.path == stamp("one").path }?.reply == [1, 0, 255])
    try store.settle(stamp("one"))
    #expect(try open().awaitedStamps() == [stamp("two")])
    #expect(try !store.keep([1], for: stamp("one")), "nobody waits for it")
  }

  @Test("a failure puts off all that want the same of an authority, and those alone")
  func postponed() throws {
    let store = try open()
    try store.awaitStamps([
      stamp("one"), stamp("two"), stamp("two", by: "b"), stamp("three", since: 900),
    ])
    _ = try store.keep([7], for: stamp("two"))
    try store.postpone(
      stamp("one"), after: 3, because: "it is down", until: 500, isForAll: true)
    let found = try store.awaitedStamps()
    #expect(found.map(\.nextAttempt) == [100, 100, 500, 900])
    #expect(found[2].path == stamp("one").path && found[2].attempts == 3)
    #expect(found[2].trouble == "it is down")
    #expect(found[3].attempts == 0 && found[3].trouble == "it is down")
    #expect(found[0].trouble == nil && found[1].trouble == nil)
    try store.postpone(
      stamp("two", by: "b"), after: 1, because: "no room", until: 600, isForAll: false)
    #expect(try store.awaitedStamps().map(\.nextAttempt) == [100, 500, 600, 900])
  }

  @Test("a receipt that takes the place of another one takes its place here, too")
  func replaced() throws {
    let store = try open()
    try store.awaitStamps([stamp("old", at: "/out/x.receipt.json"), stamp("other")])
    try store.awaitStamps([stamp("new", at: "/out/x.receipt.json")])
    #expect(
      Set(try store.awaitedStamps().map(\.receipt))
        == Set(["new", "other"].map { SHA256.digest(of: $0) }))
    #expect(try store.forgetStamps(ofReceipt: "/out/x.receipt.json") == 1)
    #expect(try store.forgetStamps(ofReceipt: "/out/x.receipt.json") == 0)
    #expect(try store.awaitedStamps() == [stamp("other")])
  }

  @Test("one at a time asks, in however many processes")
  func alone() throws {
    let (one, other) = (try open(), try open())
    var inner: Bool?
    var isSelf: Bool?
    let outer = try one.whileStamping {
      inner = try? other.whileStamping {}
      isSelf = try? one.whileStamping {}
    }
    #expect(outer && inner == false && isSelf == false)
    #expect(try other.whileStamping {}, "it was given back")
  }
}

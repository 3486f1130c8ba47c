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
      #expect(try store.stamps.nextAttempt() == nil)
      try store.stamps.add(all)
      try store.stamps.add(all)
    }
    #expect(try open().stamps.awaited() == all)
    #expect(try open().stamps.nextAttempt() == 100)
  }

  @Test("an answer is kept until it is in its place, and then nothing is left")
  func answered() throws {
    let store = try open()
    try store.stamps.add([stamp("one"), stamp("two")])
    #expect(try store.stamps.keep([1, 0, 255], for: stamp("one")))
    #expect(
      try open().stamps.awaited().first { $0.path == stamp("one").path }?.reply == [1, 0, 255])
    try store.stamps.settle(stamp("one"))
    #expect(try open().stamps.awaited() == [stamp("two")])
    #expect(try !store.stamps.keep([1], for: stamp("one")), "nobody waits for it")
  }

  @Test("a failure puts off all that want the same of an authority, and those alone")
  func postponed() throws {
    let store = try open()
    try store.stamps.add([
      stamp("one"), stamp("two"), stamp("two", by: "b"), stamp("three", since: 900),
    ])
    _ = try store.stamps.keep([7], for: stamp("two"))
    try store.stamps.postpone(
      stamp("one"), after: 3, because: "it is down", until: 500, isForAll: true)
    let found = try store.stamps.awaited()
    #expect(found.map(\.nextAttempt) == [100, 100, 500, 900])
    #expect(found[2].path == stamp("one").path && found[2].attempts == 3)
    #expect(found[2].trouble == "it is down")
    #expect(found[3].attempts == 0 && found[3].trouble == "it is down")
    #expect(found[0].trouble == nil && found[1].trouble == nil)
    try store.stamps.postpone(
      stamp("two", by: "b"), after: 1, because: "no room", until: 600, isForAll: false)
    #expect(try store.stamps.awaited().map(\.nextAttempt) == [100, 500, 600, 900])
  }

  @Test("a receipt that takes the place of another one takes its place here, too")
  func replaced() throws {
    let store = try open()
    try store.stamps.add([stamp("old", at: "/out/x.receipt.json"), stamp("other")])
    try store.stamps.add([stamp("new", at: "/out/x.receipt.json")])
    #expect(
      Set(try store.stamps.awaited().map(\.receipt))
        == Set(["new", "other"].map { SHA256.digest(of: $0) }))
    #expect(try store.stamps.forget(ofReceipt: "/out/x.receipt.json") == 1)
    #expect(try store.stamps.forget(ofReceipt: "/out/x.receipt.json") == 0)
    #expect(try store.stamps.awaited() == [stamp("other")])
  }

  @Test("one at a time asks, in however many processes")
  func alone() throws {
    let (one, other) = (try open(), try open())
    var inner: Bool?
    var isSelf: Bool?
    let outer = try one.stamps.whileStamping {
      inner = try? other.stamps.whileStamping {}
      isSelf = try? one.stamps.whileStamping {}
    }
    #expect(outer && inner == false && isSelf == false)
    #expect(try other.stamps.whileStamping {}, "it was given back")
  }
}

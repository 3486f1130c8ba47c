import Foundation
import PipelineModel
import Platform
import TestSupport
import Testing

@testable import Store

@Suite("Documents about delivered files are queued with them, and made once these are confirmed")
struct DeliveryDocumentTests {
  private let scratch: ScratchFolder
  private let time = SettableTime(100_000_000_000)

  init() throws { scratch = try ScratchFolder() }

  private func open() throws -> DiskStore {
    try DiskStore(at: scratch.file("store"), files: .system, clock: { [time] in time.value })
  }

  private func order(_ name: String, holding text: String? = nil) -> DeliveryQueue.Order {
    let bytes = text ?? name
    return DeliveryQueue.Order(
      QueuedDelivery.File(
        name: name, .exports, digest: SHA256.digest(of: bytes), byteCount: bytes.utf8.count,
        recording: SHA256.digest(of: "a walk"), path: "/out/\(name)"),
      to: "nas", at: "d/\(name)", encounter: .same, isRequired: true)
  }

  private func document(
    _ about: String = "title A", _ content: DeliveryRequest.Content = .metadata
  ) -> DeliveryQueue.Order {
    let name = content == .metadata ? "walk.recording.json" : "walk.delivered-nas.json"
    var order = DeliveryQueue.Order(
      QueuedDelivery.File(
        name: name, content, digest: SHA256.digest(of: about), byteCount: 0,
        recording: SHA256.digest(of: "a walk"), path: nil),
      to: "nas", at: "d/\(name)", encounter: .same, isRequired: content == .metadata)
    order.about = about
    if content == .confirmation {
      order.local = DeliveryDocument.Local(receipt: "/out/walk.receipt.json", signing: nil)
    }
    return order
  }

  private let run = DeliveryOwner.run(RunID("r1"))

  private func confirm(_ delivery: QueuedDelivery, in queue: DeliveryQueue) throws {
    try queue.confirm(
      delivery.id,
      QueuedDelivery.Confirmation(
        byteCount: delivery.file.byteCount, digest: delivery.file.digest, at: 7, identifier: nil))
  }

  @Test("a document about a sensitive recording is held too, and made when that is released")
  func held() throws {
    let store = try open()
    var orders = [order("walk.wav"), document()]
    let known = try store.deliveries.add(orders, for: run)
    #expect(known.map(\.state) == [.waiting, .pending])
    for index in orders.indices { orders[index].isHeld = true }
    #expect(try store.deliveries.add(orders, for: run).map(\.state) == [.held, .held])
    #expect(try store.deliveries.release(heldFor: [run]) == 2)
    #expect(try store.deliveries.matching(.of(run)).map(\.state) == [.waiting, .pending])
    var new = document("title B")
    new.isHeld = true
    let added = try store.deliveries.add([orders[0], new], for: run)
    #expect(added.map(\.state) == [.waiting, .held])
    try confirm(added[0], in: store.deliveries)
    #expect(try store.deliveries.makeable().map(\.id) == [known[1].id])
  }

  @Test("a document is pending until its files are delivered, and is never sent before")
  func pending() throws {
    let store = try open()
    let queue = store.deliveries
    let added = try queue.add([order("a.wav"), order("b.wav"), document()], for: run)
    #expect(added.map(\.state) == [.waiting, .waiting, .pending])
    #expect(added[2].document == DeliveryDocument(parts: [1, 2], about: "title A"))
    #expect(try queue.due("nas", at: 1e9, limit: 9).count == 2)
    #expect(try queue.makeable().isEmpty)
    try confirm(added[0], in: queue)
    #expect(try queue.makeable().isEmpty)
    try confirm(added[1], in: queue)
    #expect(try queue.makeable().map(\.id) == [3])
    let artifact = try store.keep("{}", as: .file)
    #expect(try queue.record(artifact, for: 3))
    #expect(try !queue.record(artifact, for: 3), "another process has made it")
    let due = try #require(try queue.due("nas", at: 1e9, limit: 9).first)
    #expect(due.file.digest == artifact.digest && due.file.byteCount == 2)
  }

  @Test("the same files and facts give one document, and other ones another with a number")
  func once() throws {
    let queue = try open().deliveries
    let first = try queue.add([order("a.wav"), document()], for: run)
    let again = try queue.add([order("a.wav"), document()], for: .run(RunID("r2")))
    #expect(again.map(\.id) == first.map(\.id))
    let other = try queue.add([order("a.wav"), document("title B")], for: run)
    #expect(other[1].path == "d/walk.recording (2).json")
    try confirm(first[0], in: queue)
    let retagged = try queue.add([order("a.wav", holding: "new"), document()], for: run)
    #expect(retagged[0].path == "d/a (2).wav")
    #expect(retagged[1].path == "d/walk.recording (3).json")
    #expect(try queue.owners(of: [first[1].id])[first[1].id]?.count == 2)
  }

  @Test(
    "a recording goes to a destination once, by whatever name it comes, and its documents have each"
  )
  func otherName() throws {
    let queue = try open().deliveries
    func recording(_ name: String) -> DeliveryQueue.Order {
      DeliveryQueue.Order(
        QueuedDelivery.File(
          name: name, .original, digest: SHA256.digest(of: "a walk"), byteCount: 6,
          recording: SHA256.digest(of: "a walk"), path: "/in/\(name)"),
        to: "nas", at: "d/originals/\(name)", encounter: .same, isRequired: true)
    }
    let first = try queue.add([recording("a.wav"), order("a.flac"), document()], for: run)
    let again = try queue.add(
      [recording("b.wav"), order("b.flac"), document()], for: .run(RunID("r2")))
    #expect(again[0].id == first[0].id && again[0].path == "d/originals/a.wav")
    #expect(again[1].id != first[1].id && again[2].id != first[2].id)
    #expect(first[2].document?.recordingName == nil)
    #expect(again[2].document?.recordingName == "b.wav")
    #expect(again[2].document?.parts == [again[0].id, again[1].id])
    let same = try queue.add([recording("b.wav"), order("b.flac"), document()], for: run)
    #expect(same.map(\.id) == again.map(\.id))
    // What came with it, and what was made of it, has its name.
    #expect(try queue.matching(DeliveryQueue.Query()).count == 5)
  }

  @Test("what is true again after a later document is said in one more, and once")
  func again() throws {
    let queue = try open().deliveries
    let first = try queue.add([order("a.wav"), document()], for: run)
    try confirm(first[0], in: queue)
    try confirm(first[1], in: queue)
    let other = try queue.add([order("a.wav"), document("title B")], for: run)
    time.value += 1_000_000_000
    let back = try queue.add([order("a.wav"), document()], for: run)
    #expect(back[1].id > other[1].id && back[1].state == .pending)
    #expect(back[1].document?.since == queue.now)
    time.value += 1_000_000_000
    #expect(try queue.add([order("a.wav"), document()], for: run) == back)
    #expect(try queue.add([order("a.wav"), document("title B")], for: run)[1].id > back[1].id)
  }

  @Test("a confirmation follows the document, and no recording waits for it")
  func confirmation() throws {
    let store = try open()
    let queue = store.deliveries
    let owner = DeliveryOwner.recording(RecordingKey("abcdefabcdef"))
    let added = try queue.add(
      [order("a.wav"), document(), document("r", .confirmation)], for: owner)
    #expect(added[2].document?.parts == [1, 2])
    #expect(try queue.unsigned().map(\.id) == [3])
    #expect(try queue.local(of: 3)?.receipt == "/out/walk.receipt.json")
    try confirm(added[0], in: queue)
    #expect(try queue.makeable().map(\.id) == [2])
    #expect(try queue.copies(of: RecordingKey("abcdefabcdef")).destinations.isEmpty)
    let artifact = try store.keep("{}", as: .file)
    _ = try queue.record(artifact, for: 2)
    try confirm(try #require(try queue.due("nas", at: 1e9, limit: 1).first), in: queue)
    #expect(try queue.copies(of: RecordingKey("abcdefabcdef")).destinations == ["nas"])
    #expect(try queue.makeable().map(\.id) == [3])
    try queue.refuse(3, because: "no passphrase")
    #expect(try queue.trouble(of: "nas") == "no passphrase")
    #expect(try queue.retry() == 1)
    #expect(try queue.matching(.of(owner)).last?.trouble == nil)
  }

  @Test("documents that were made stay in the store, and are made again if they are lost or failed")
  func kept() throws {
    let store = try open()
    let queue = store.deliveries
    let added = try queue.add([order("a.wav"), document()], for: run)
    try confirm(added[0], in: queue)
    let artifact = try store.keep("{}", as: .file)
    _ = try queue.record(artifact, for: 2)
    try queue.fail(2, because: "the store has it no more")
    #expect(try queue.retry(ids: [2]) == 1)
    #expect(try queue.makeable().map(\.id) == [2], "it is made again, and not sent as it was")
    _ = try queue.record(artifact, for: 2)
    try queue.remake(2)
    #expect(try queue.makeable().map(\.id) == [2])
    _ = try queue.record(artifact, for: 2)
    try queue.fail(2, because: "the name is taken")
    #expect(try queue.add([order("a.wav"), document()], for: run).map(\.state)[1] == .pending)
    _ = try queue.record(artifact, for: 2)
    try confirm(try #require(try queue.due("nas", at: 1e9, limit: 1).first), in: queue)
    let other = try store.keep("nothing names it", as: .file)
    time.value = Clock.now() + 400 * 86_400_000_000_000
    var policy = CollectionPolicy()
    (policy.age, policy.grace) = (0, 0)
    _ = try store.collect(policy)
    #expect(store.file(of: artifact.digest) != nil && store.file(of: other.digest) == nil)
  }

  @Test("a lost database has its documents again, from the change log")
  func rebuilt() throws {
    let before: [QueuedDelivery]
    do {
      let queue = try open().deliveries
      try queue.add([order("a.wav"), document(), document("r", .confirmation)], for: run)
      before = try queue.matching(DeliveryQueue.Query())
    }
    for ending in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(
        atPath: scratch.file("store/\(DiskStore.databaseName)\(ending)"))
    }
    let queue = try open().deliveries
    #expect(try queue.matching(DeliveryQueue.Query()) == before)
    #expect(try queue.local(of: 3)?.receipt == "/out/walk.receipt.json")
    #expect(before.map(\.state) == [.waiting, .pending, .pending])
  }
}

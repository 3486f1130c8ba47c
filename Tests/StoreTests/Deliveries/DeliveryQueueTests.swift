import Foundation
import PipelineModel
import Platform
import TestSupport
import Testing

@testable import Store

@Suite("What is queued for a destination is never lost, and never sent twice")
struct DeliveryQueueTests {
  private let scratch: ScratchFolder
  private let time = SettableTime(100_000_000_000)

  init() throws { scratch = try ScratchFolder() }

  private func open() throws -> DiskStore {
    try DiskStore(at: scratch.file("store"), files: .system, clock: { [time] in time.value })
  }

  private func order(
    _ name: String, holding text: String? = nil, of recording: String? = "a walk",
    to destination: String = "nas", at path: String? = nil, isRequired: Bool = true
  ) -> DeliveryQueue.Order {
    let bytes = text ?? name
    return DeliveryQueue.Order(
      QueuedDelivery.File(
        name: name, .exports, digest: SHA256.digest(of: bytes), byteCount: bytes.utf8.count,
        recording: recording.map { SHA256.digest(of: $0) }, path: "/out/\(name)",
        facts: ["noteId": "n1"]),
      to: destination, at: path ?? "2025-03-01/\(name)", encounter: .same, isRequired: isRequired)
  }

  private let run = DeliveryOwner.run(RunID("r1"))

  private func confirm(_ deliveries: [QueuedDelivery], in queue: DeliveryQueue) throws {
    for delivery in deliveries {
      try queue.confirm(
        delivery.id,
        QueuedDelivery.Confirmation(
          byteCount: delivery.file.byteCount, digest: delivery.file.digest, at: 100,
          identifier: nil))
    }
  }

  @Test("a file is queued once, whichever run gives it, and under its first name")
  func once() throws {
    do {
      let first = try open().deliveries.add([order("walk.wav"), order("walk.m4a")], for: run)
      time.value += 86_400_000_000_000
      let again = try open().deliveries.add(
        [order("walk.wav", at: "2025-03-02/walk.wav"), order("walk.m4a")],
        for: .run(RunID("r2")))
      #expect(again == first)
    }
    let kept = try open().deliveries.matching(DeliveryQueue.Query())
    #expect(kept.map(\.path) == ["2025-03-01/walk.wav", "2025-03-01/walk.m4a"])
    #expect(kept.allSatisfy { $0.state == .waiting && $0.addedAt == 100 })
    #expect(kept.first?.file == order("walk.wav").file)
  }

  @Test(
    "other bytes of the same file, and a file of the same name of another recording, get a number")
  func numbers() throws {
    let queue = try open().deliveries
    try confirm(queue.add([order("walk.wav")], for: run), in: queue)
    try queue.add([order("walk.wav", holding: "retagged")], for: run)
    try queue.add([order("walk.wav", of: "another walk")], for: run)
    try queue.add([order("walk.wav", to: "cloud")], for: run)
    #expect(
      try queue.matching(DeliveryQueue.Query()).map { "\($0.destination):\($0.path)" } == [
        "nas:2025-03-01/walk.wav", "nas:2025-03-01/walk (2).wav", "nas:2025-03-01/walk (3).wav",
        "cloud:2025-03-01/walk.wav",
      ])
    #expect(QueuedDelivery.numbered("a.b/c", 2) == "a.b/c (2)")
    #expect(QueuedDelivery.numbered(".hidden", 3) == ".hidden (3)")
  }

  /// A file of a run in the folder of its recording.
  private func part(
    _ name: String, _ text: String, _ content: DeliveryRequest.Content = .exports,
    clearly isClear: Bool = true, in folder: String = "2025-03-01/walk-n1"
  ) -> DeliveryQueue.Order {
    let path = "\(folder)/\(content == .original ? "originals/" : "")\(name)"
    return DeliveryQueue.Order(
      QueuedDelivery.File(
        name: name, content, digest: SHA256.digest(of: text), byteCount: text.utf8.count,
        recording: SHA256.digest(of: "walk"), path: "/out/\(name)",
        facts: isClear ? [:] : [QueuedDelivery.File.clearPath: path]),
      to: isClear ? "nas" : "vault",
      at: isClear ? path : SHA256.digest(of: text + path).hex, versionDepth: 2, encounter: .same,
      isRequired: true)
  }

  @Test(
    "every version of a run's files lies in a folder of its own that has all of them",
    arguments: [true, false])
  func versions(isClear: Bool) throws {
    let queue = try open().deliveries
    func add(_ files: [(String, String)], in folder: String = "2025-03-01/walk-n1") throws
      -> [String]
    {
      var orders = [part("walk.aac", "sound", .original, clearly: isClear, in: folder)]
      orders += files.map { part($0.0, $0.1, clearly: isClear, in: folder) }
      let added = try queue.add(orders, for: run)
      try confirm(added, in: queue)
      return added.map { $0.file.facts[QueuedDelivery.File.clearPath] ?? $0.path }
    }
    let first = try add([("walk.wav", "w"), ("walk.sha256", "1")])
    #expect(
      first == ["originals/walk.aac", "walk.wav", "walk.sha256"].map { "2025-03-01/walk-n1/\($0)" })
    // Another day has the same files.
    #expect(
      try add([("walk.wav", "w"), ("walk.sha256", "1")], in: "2025-03-02/walk-n1") == first)
    // One of them has changed: the others are there again, and the original is not.
    let second = try add([("walk.wav", "w"), ("walk.sha256", "2")])
    #expect(
      second == [
        first[0], "2025-03-01/walk-n1 (2)/walk.wav", "2025-03-01/walk-n1 (2)/walk.sha256",
      ])
    // Back again, and both are known.
    #expect(try add([("walk.wav", "w"), ("walk.sha256", "1")]) == first)
    #expect(try add([("walk.wav", "w"), ("walk.sha256", "2")]) == second)
    // What has other names finds room beside the first.
    #expect(
      try add([("walk.mp3", "m")]) == [first[0], "2025-03-01/walk-n1/walk.mp3"])
    let third = try add([("walk.wav", "v"), ("walk.sha256", "3")])
    #expect(third.last == "2025-03-01/walk-n1 (3)/walk.sha256")
  }

  @Test(
    "a version that is replaced before it is sent leaves the queue with its documents, and what waits for it waits for the new one"
  )
  func replaced() throws {
    let queue = try open().deliveries
    let key = DeliveryOwner.recording(RecordingKey("abc"))
    func version(_ text: String, isRequired: Bool) throws -> [QueuedDelivery] {
      var orders = [part("walk.aac", "sound", .original), part("walk.wav", text)]
      orders.append(part("walk.sha256", "of " + text))
      for (content, name) in [
        (DeliveryRequest.Content.metadata, "walk.recording.json"),
        (.confirmation, "walk.nas.confirmation.json"),
      ] {
        var document = part(name, "", content)
        document.about = "about the walk"
        orders.append(content == .confirmation ? document.optional : document)
      }
      return try queue.add(
        isRequired ? orders : orders.map(\.optional), for: isRequired ? key : run)
    }
    func rows() throws -> [QueuedDelivery] { try queue.matching(DeliveryQueue.Query()) }

    let first = try version("loud", isRequired: true)
    let second = try version("soft", isRequired: false)
    #expect(try rows() == second, "the folder and its names are those of the first version")
    #expect(second.map(\.path) == first.map(\.path) && second[0] == first[0])
    #expect(second[1].file.digest == SHA256.digest(of: "soft"))
    #expect(
      try queue.matching(.of(key)).map(\.file.content) == [
        .original, .exports, .exports, .metadata,
      ])
    #expect(try queue.makeable().isEmpty)
    try confirm(Array(second.prefix(3)), in: queue)
    #expect(try queue.makeable().map(\.file.content) == [.metadata])

    // What is there stays there; what is on its way is left to its attempt.
    let third = try version("third", isRequired: false)
    #expect(third[1].path == "2025-03-01/walk-n1 (2)/walk.wav")
    #expect(try queue.begin(third[1]))
    let fourth = try version("fourth", isRequired: false)
    #expect(fourth[1].path == "2025-03-01/walk-n1 (3)/walk.wav")
    #expect(try rows().filter { $0.file.name == "walk.wav" }.count == 3)
    #expect(try queue.withdrawReplaced(third[1].id), "its bytes are gone")
    #expect(try !queue.withdrawReplaced(fourth[1].id), "nothing has replaced it")
    #expect(
      try rows().filter { $0.file.name == "walk.wav" } == [
        rows().first { $0.id == second[1].id }, fourth[1],
      ])

    // What was there and is to be sent again is not forgotten.
    #expect(try queue.sendAgain([second[1].id]) == 1)
    _ = try version("fifth", isRequired: false)
    #expect(try rows().contains { $0.id == second[1].id && $0.state == .waiting })
    #expect(try !queue.withdrawReplaced(second[1].id))
    try confirm([second[1]], in: queue)

    // Captions that a person has edited get other ones beside them.
    try queue.add([part("talk.srt", "heard")], for: run)
    try queue.add([part("talk.spool-2.srt", "corrected"), part("talk.spool.md", "m")], for: run)
    #expect(try !rows().contains { $0.file.name == "talk.srt" })
    #expect(try rows().filter { $0.file.name.hasPrefix("talk") }.count == 2)
    try confirm(rows().filter { $0.file.name.hasPrefix("talk") }, in: queue)

    // The first bytes are back: they are there already.
    _ = try version("soft", isRequired: false)
    #expect(try rows().allSatisfy { $0.state == .delivered || $0.document != nil })
    // Another recording's file of that name replaces nothing.
    try queue.add([order("walk.wav", of: "one", at: "a/walk.wav")], for: run)
    try queue.add([order("walk.wav", holding: "2", of: "two", at: "b/walk.wav")], for: run)
    #expect(try queue.due("nas", at: 200, limit: 9).map(\.path) == ["a/walk.wav", "b/walk.wav"])
  }

  @Test("names that differ in the form of a letter alone are two")
  func forms() throws {
    let queue = try open().deliveries
    let (composed, decomposed) = ("Zo\u{EB}.wav", "Zoe\u{308}.wav")
    let first = try queue.add([part(composed, "1")], for: run)
    let second = try queue.add([part(decomposed, "2")], for: run)
    #expect(
      first.map { Array($0.path.utf8).suffix(9) } != second.map { Array($0.path.utf8).suffix(9) })
    #expect(try queue.matching(DeliveryQueue.Query()).count == 2)
    #expect(second.first?.path.utf8.contains(UInt8(ascii: "(")) == false)
  }

  @Test("what a dead process was sending is taken up again, where its upload was")
  func recovered() throws {
    do {
      let queue = try open().deliveries
      let delivery = try #require(queue.add([order("walk.wav")], for: run).first)
      let id = delivery.id
      #expect(try queue.begin(delivery))
      #expect(try !queue.begin(delivery), "another process sends it")
      try queue.note(id, upload: [0, 255, 7], sentByteCount: 5, isFlushed: true)
      try queue.note(id, upload: [1], sentByteCount: 6, isFlushed: false)
      #expect(try queue.due("nas", at: 100, limit: 9).isEmpty)
    }
    let queue = try open().deliveries
    #expect(try queue.whileSending { () throws(SpoolError) in try queue.recover() })
    let delivery = try #require(queue.due("nas", at: 100, limit: 9).first)
    #expect(delivery.upload == [1] && delivery.sentByteCount == 6 && delivery.state == .waiting)
  }

  @Test("one process sends at a time")
  func excluded() throws {
    let (first, second) = (try open().deliveries, try open().deliveries)
    var wasCalled = false
    #expect(
      try first.whileSending { () throws(SpoolError) in
        wasCalled = try second.whileSending {}
      })
    #expect(!wasCalled)
    #expect(try second.whileSending {})
  }

  @Test("a failure is tried again at its time, or at once on request")
  func postponed() throws {
    let queue = try open().deliveries
    let delivery = try #require(queue.add([order("walk.wav")], for: run).first)
    let id = delivery.id
    _ = try queue.begin(delivery)
    try queue.postpone(id, after: 3, because: "it is down", until: 500)
    #expect(try queue.due("nas", at: 499, limit: 9).isEmpty)
    let due = try #require(queue.due("nas", at: 500, limit: 9).first)
    #expect(due.attempts == 3 && due.trouble == "it is down")
    try queue.hold("nas", after: 2, because: "the password is wrong", until: 900)
    #expect(try queue.destinations()["nas"]?.failures == 2)
    time.value += 50_000_000_000
    #expect(try queue.retry(destination: "nas") == 1)
    #expect(try queue.due("nas", at: 150, limit: 9).first?.attempts == 0)
    #expect(try queue.destinations().isEmpty, "its destination is tried at once too")
  }

  @Test("what waits for the network is tried at once when it is back, and its attempts still count")
  func woken() throws {
    let queue = try open().deliveries
    let id = try #require(queue.add([order("walk.wav")], for: run).first?.id)
    try queue.postpone(id, after: 5, because: "no network", until: 9000)
    try queue.hold("nas", after: 4, because: "no network", until: 9000)
    try queue.wake("nas")
    #expect(try queue.due("nas", at: 100, limit: 9).first?.attempts == 5)
    let state = try #require(try queue.destinations()["nas"])
    #expect(state.heldUntil == 100 && state.failures == 4)
  }

  @Test(
    "what turns out to be sensitive is held where it waits, and is not held again once released")
  func held() throws {
    let queue = try open().deliveries
    let key = DeliveryOwner.recording(RecordingKey("abc"))
    let names = ["sent", "sending", "failed", "waiting"]
    let queued = try queue.add(names.map { order($0) }, for: key)
    func states() throws -> [QueuedDelivery.State] {
      try queue.matching(.of(key)).map(\.state)
    }
    try queue.confirm(
      queued[0].id,
      QueuedDelivery.Confirmation(
        byteCount: 4, digest: queued[0].file.digest, at: 100, identifier: nil))
    #expect(try queue.begin(queued[1]))
    try queue.fail(queued[2].id, because: "it is full")
    try queue.add([order("other", of: "a talk")], for: run)
    #expect(try queue.hold(for: key) == 3)
    #expect(try queue.hold(for: key) == 0)
    #expect(try states() == [.delivered, .held, .held, .held])
    // The attempt that was under way ends.
    try queue.postpone(queued[1].id, after: 0, because: "it was stopped", until: 100)
    #expect(try states() == [.delivered, .held, .held, .held])
    #expect(try queue.retry() == 1, "only the other one")
    #expect(try queue.release(heldFor: [key]) == 3)
    #expect(try states() == [.delivered, .waiting, .waiting, .waiting])
    // Its pipeline is run again.
    var again = names.map { order($0) }
    for index in again.indices { again[index].isHeld = true }
    try queue.add(again, for: key)
    #expect(try queue.hold(for: key) == 0)
    #expect(try states() == [.delivered, .waiting, .waiting, .waiting])
    var other = order("other", of: "a talk")
    other.isHeld = true
    #expect(try queue.add([other], for: run).map(\.state) == [.held])
  }

  @Test("what earlier runs of a recording have left is held with it, and released with it")
  func heldOfEarlierRuns() throws {
    let queue = try open().deliveries
    let (earlier, later) = (DeliveryOwner.run(RunID("a")), DeliveryOwner.run(RunID("b")))
    func orders(_ names: [String], isHeld: Bool) -> [DeliveryQueue.Order] {
      names.map { name in
        var order = order(name)
        order.isHeld = isHeld
        return order
      }
    }
    try queue.add(orders(["old.flac", "same.wav"], isHeld: false), for: earlier)
    try queue.add([order("talk.wav", of: "a talk")], for: earlier)
    try queue.add(orders(["same.wav", "new.flac"], isHeld: true), for: later)
    func states(_ owner: DeliveryOwner) throws -> [QueuedDelivery.State] {
      try queue.matching(.of(owner)).map(\.state)
    }
    #expect(try states(later) == [.held, .held])
    #expect(try states(earlier) == [.held, .held, .waiting])
    #expect(try queue.release(heldFor: [later]) == 3)
    #expect(try states(earlier) == [.waiting, .waiting, .waiting])
  }

  @Test("a destination stays paused until it is resumed")
  func paused() throws {
    let queue = try open().deliveries
    try queue.pause("nas", true)
    try queue.release("nas")
    #expect(try open().deliveries.destinations()["nas"]?.isPaused == true)
    try queue.pause("nas", false)
    #expect(try queue.destinations().isEmpty)
  }

  @Test("counts say what waits, for how long, and how much of it is there")
  func counted() throws {
    let queue = try open().deliveries
    let ids = try queue.add([order("a"), order("bb"), order("ccc", to: "cloud")], for: run).map(
      \.id)
    try queue.confirm(
      ids[1],
      QueuedDelivery.Confirmation(
        byteCount: 2, digest: SHA256.digest(of: "bb"), at: 101, identifier: "\"etag\""))
    let tally = try queue.tally()
    #expect(tally.map(\.destination) == ["cloud", "nas", "nas"])
    #expect(tally.map(\.state) == [.waiting, .delivered, .waiting])
    #expect(tally.map(\.sentByteCount) == [0, 2, 0])
    let confirmed = try #require(try queue.matching(DeliveryQueue.Query())[1].confirmation)
    #expect(confirmed.identifier == "\"etag\"" && confirmed.at == 101)
  }

  @Test(
    "a rate is that of the time in which something was sent, and says when a recording is there")
  func rates() throws {
    let queue = try open().deliveries
    let first = DeliveryOwner.recording(RecordingKey("aaaaaaaaaaaa"))
    let second = DeliveryOwner.recording(RecordingKey("bbbbbbbbbbbb"))
    func text(_ letter: Character) -> String { String(repeating: letter, count: 1000) }
    let own = try queue.add(
      [order("a", holding: text("a")), order("b", holding: text("b"))], for: first)
    let other = try queue.add([order("c", holding: text("c"), of: "a talk")], for: second)
    #expect(try queue.rate(of: "nas") == nil)
    #expect(try queue.expectations().isEmpty)
    func confirm(_ delivery: QueuedDelivery) throws {
      try queue.confirm(
        delivery.id,
        QueuedDelivery.Confirmation(
          byteCount: 1000, digest: delivery.file.digest, at: queue.now, identifier: nil))
    }
    // Ten seconds for a thousand bytes, then a pause.
    #expect(try queue.begin(own[0]))
    time.value += 10_000_000_000
    try confirm(own[0])
    time.value += 60_000_000_000
    #expect(try queue.rate(of: "nas") == 100)
    // Half of the next one is there, of which a fifth was there before.
    try queue.note(own[1].id, upload: nil, sentByteCount: 200, isFlushed: false)
    #expect(try queue.begin(own[1]))
    time.value += 3_000_000_000
    try queue.note(own[1].id, upload: nil, sentByteCount: 500, isFlushed: false)
    #expect(try queue.rate(of: "nas") == 100)
    let expected = try queue.expectations()
    #expect(expected[RecordingKey("aaaaaaaaaaaa")]?.end == queue.now + 5)
    #expect(expected[RecordingKey("bbbbbbbbbbbb")]?.end == queue.now + 15)
    #expect(expected[RecordingKey("bbbbbbbbbbbb")]?.bytesPerSecond == 100)
    let started = try #require(try queue.matching(.of(ids: [own[1].id])).first)
    #expect(started.file.statedFacts == ["noteId": "n1"], "how it goes is not told to the server")
    try queue.pause("nas", true)
    #expect(try queue.expectations().isEmpty)
    #expect(other[0].state == .waiting)
  }

  @Test("a lost database comes back with its queue, from the change log")
  func rebuilt() throws {
    do {
      let queue = try open().deliveries
      let id = try #require(queue.add([order("walk.wav")], for: run).first?.id)
      try queue.note(id, upload: [9], sentByteCount: 1, isFlushed: true)
      try queue.pause("nas", true)
    }
    let path = scratch.file("store") + "/" + DiskStore.databaseName
    for ending in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + ending)
    }
    let store = try open()
    #expect(store.recovery != nil)
    #expect(try store.deliveries.due("nas", at: 100, limit: 9).first?.upload == [9])
    #expect(try store.deliveries.destinations()["nas"]?.isPaused == true)
    let owners = try store.deliveries.owners(of: [1])
    #expect(owners == [1: [run]])
  }

  @Test("a collection keeps what is not delivered, and frees it afterwards")
  func collected() throws {
    let store = try open()
    let draft = try store.makeDraft(.file)
    let bytes = Array("walk.wav".utf8)
    try unsafe draft.append(bytes.span.bytes)
    let artifact = try draft.seal()
    let id = try #require(store.deliveries.add([order("walk.wav")], for: run).first?.id)
    #expect(try store.deliveries.source(of: order("walk.wav").file).hasSuffix(artifact.digest.hex))
    var policy = CollectionPolicy()
    policy.grace = 0
    time.value = 4_000_000_000_000_000_000
    #expect(try store.collect(policy).files.isEmpty)
    let report = try Inspection(of: scratch.file("store")).run()
    #expect(report.findings.isEmpty, "\(report.findings)")
    try store.deliveries.confirm(
      id,
      QueuedDelivery.Confirmation(
        byteCount: artifact.byteCount, digest: artifact.digest, at: 1, identifier: nil))
    #expect(try store.collect(policy).files.map(\.byteCount) == [artifact.byteCount])
  }

  @Test("a file that lies nowhere any more is reported, by a check too")
  func missing() throws {
    let store = try open()
    try store.deliveries.add([order("walk.wav")], for: run)
    #expect(throws: SpoolError.self) { try store.deliveries.source(of: order("walk.wav").file) }
    let findings = try Inspection(of: scratch.file("store")).run().findings
    #expect(findings.map(\.kind) == [.undeliverable])
    #expect(findings.allSatisfy { !$0.isDamage })
  }
}

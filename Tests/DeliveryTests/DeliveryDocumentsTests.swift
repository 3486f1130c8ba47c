import Foundation
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@testable import Delivery

@Suite(
  "A destination that has all files gets the document about them, once, and then its confirmation")
struct DeliveryDocumentsTests {
  private let scratch: ScratchFolder
  private let store: DiskStore
  private let disk: String

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
    disk = scratch.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    for name in ["walk.m4a", "walk.wav", "walk.srt", "walk.receipt.json", "walk.json"] {
      try scratch.write("the bytes of \(name)", to: name)
    }
  }

  private func order(
    _ name: String, _ content: DeliveryRequest.Content, to destination: String = "nas"
  ) throws -> DeliveryQueue.Order {
    let text = try String(contentsOfFile: scratch.file(name), encoding: .utf8)
    let file = QueuedDelivery.File(
      name: name, content, digest: SHA256.digest(of: text), byteCount: text.utf8.count,
      recording: SHA256.digest(of: "the bytes of walk.m4a"), path: scratch.file(name))
    let folder = content == .original ? "originals/" : ""
    return DeliveryQueue.Order(
      file, to: destination, at: "d/\(folder)\(name)", encounter: .same, isRequired: true)
  }

  private func document(
    to destination: String = "nas", title: String = "Walk", confirmation: Bool = false
  ) throws -> DeliveryQueue.Order {
    var known = DeliveredRecording(uploadedAt: "", pipeline: "notes")
    (known.noteId, known.title, known.tags) = ("n1", title, ["a", "b"])
    known.device = DeliveredRecording.Device(["watchModel": "Watch7,5", "else": "x"])
    let name = confirmation ? "walk.delivered-\(destination).json" : "walk.recording.json"
    var order = DeliveryQueue.Order(
      QueuedDelivery.File(
        name: name, confirmation ? .confirmation : .metadata, digest: SHA256.digest(of: ""),
        byteCount: 0, recording: SHA256.digest(of: "the bytes of walk.m4a"), path: nil),
      to: destination, at: "d/\(name)", encounter: .same, isRequired: !confirmation)
    order.about = try known.about
    order.local = DeliveryDocument.Local(receipt: scratch.file("walk.receipt.json"), signing: nil)
    return order
  }

  /// Sends what is due to the disk.
  /// - Returns: the names of what was delivered, and what went wrong.
  @discardableResult
  private func send(
    to names: [String] = ["nas"], sign: DeliveryDocuments.Signer? = nil
  ) throws -> [String] {
    let events = Mutex<[String]>([])
    let worker = DeliveryWorker(
      store,
      to: Destinations(
        names.map { Destination($0, .folder(Destination.Folder($0 == "nas" ? disk : disk + $0))) }),
      [:], sign: sign, clock: SystemTestClock(), stop: StopRequest()
    ) { event in
      switch event {
      case .delivered(let delivery, _):
        events.withLock { $0.append("\(delivery.destination) \(delivery.file.name)") }
      case .trouble(let error): events.withLock { $0.append("trouble \(error.message)") }
      default: break
      }
    }
    #expect(try worker.run { $0 })
    return events.withLock { $0 }
  }

  private func document(_ path: String = "d/walk.recording.json") throws -> DeliveredRecording {
    let text = try String(contentsOfFile: "\(disk)/\(path)", encoding: .utf8)
    return try DeliveredRecording(text: text, at: path)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: disk + "/d").sorted()
  }

  @Test("it lists the files with the recording itself first, and says what is known")
  func contents() throws {
    try store.deliveries.add(
      [
        try order("walk.json", .original), try order("walk.m4a", .original),
        try order("walk.wav", .exports), try order("walk.srt", .transcript),
        try order("walk.receipt.json", .receipt), try document(),
      ], for: .run(RunID("r")))
    let sent = try send()
    #expect(sent.count == 6 && sent.last == "nas walk.recording.json", "\(sent)")
    let document = try document()
    #expect(document.originals.map(\.name) == ["walk.m4a", "walk.json"])
    #expect(document.storagePath == "d/originals/walk.m4a" && document.contentType == "audio/mp4")
    #expect(document.exports.map(\.path) == ["d/walk.wav"])
    #expect(document.transcripts.map(\.contentType) == ["application/x-subrip"])
    #expect(document.receipts.map(\.name) == ["walk.receipt.json"])
    #expect(document.exports.first?.sha256 == SHA256.digest(of: "the bytes of walk.wav").hex)
    #expect(
      document.status == "uploaded" && document.noteId == "n1" && document.tags == ["a", "b"])
    #expect(document.device?.watchModel == "Watch7,5" && document.device?.phoneModel == nil)
    let last = try store.deliveries.matching(DeliveryQueue.Query())
      .filter { $0.document == nil }.compactMap(\.confirmation?.at).max()
    #expect(document.uploadedAt == DateTime.text(of: try #require(last)))
  }

  @Test("of exports alone, the first of them is what is stored there")
  func exports() throws {
    try store.deliveries.add(
      [try order("walk.wav", .exports), try document()], for: .run(RunID("r")))
    try send()
    let document = try document()
    #expect(document.originals.isEmpty && document.storagePath == "d/walk.wav")
  }

  @Test("files of two runs give one document, and a later fact another with a number")
  func twoOwners() throws {
    for run in ["r1", "r2"] {
      try store.deliveries.add(
        [try order("walk.wav", .exports), try document()], for: .run(RunID(run)))
    }
    #expect(try send().count == 2)
    #expect(try send() == [])
    try store.deliveries.add(
      [try order("walk.wav", .exports), try document(title: "Other")], for: .run(RunID("r2")))
    #expect(try send() == ["nas walk.recording.json"])
    #expect(try names() == ["walk.recording (2).json", "walk.recording.json", "walk.wav"])
    #expect(try document("d/walk.recording (2).json").title == "Other")
  }

  @Test("a destination that is away keeps its own document waiting, and no other")
  func away() throws {
    try store.deliveries.add(
      [
        try order("walk.wav", .exports), try document(),
        try order("walk.wav", .exports, to: "away"), try document(to: "away"),
      ], for: .run(RunID("r")))
    #expect(try send(to: ["nas", "away"]) == ["nas walk.wav", "nas walk.recording.json"])
    let states = try store.deliveries.matching(DeliveryQueue.Query()).map(\.state)
    #expect(states == [.delivered, .delivered, .waiting, .pending])
  }

  @Test("a document whose bytes were lost in the store is made again with the same bytes")
  func lost() throws {
    let added = try store.deliveries.add(
      [try order("walk.wav", .exports), try document()], for: .run(RunID("r")))
    // Everything is confirmed, and the process dies before the document is sent.
    try store.deliveries.confirm(
      added[0].id,
      QueuedDelivery.Confirmation(
        byteCount: added[0].file.byteCount, digest: added[0].file.digest, at: 7, identifier: nil))
    try DeliveryDocuments(store).makeDue()
    let made = try #require(try store.deliveries.matching(DeliveryQueue.Query()).last)
    #expect(made.state == .waiting)
    try FileManager.default.removeItem(
      atPath: try #require(store.file(of: made.file.digest)))
    // An empty folder would be one whose disk is not mounted.
    try "".write(toFile: disk + "/lost+found", atomically: false, encoding: .utf8)
    #expect(try send() == ["nas walk.recording.json"])
    let sent = try #require(try store.deliveries.matching(DeliveryQueue.Query()).last)
    #expect(sent.confirmation?.digest == made.file.digest)
  }

  @Test("what cannot be signed waits and says why, and the recording's files do not wait for it")
  func unsigned() throws {
    try store.deliveries.add(
      [try order("walk.wav", .exports), try document(), try document(confirmation: true)],
      for: .run(RunID("r")))
    let locked: DeliveryDocuments.Signer = { _, _, _ throws(SpoolError) in
      throw SpoolError("it is locked", advice: "type this", cause: .blocked)
    }
    #expect(
      try send(sign: locked) == [
        "nas walk.wav", "nas walk.recording.json", "trouble it is locked",
      ])
    let waiting = try #require(try store.deliveries.matching(DeliveryQueue.Query()).last)
    #expect(waiting.state == .pending && waiting.trouble == "it is locked; type this")
    let files = Mutex<[String]>([])
    let sent = try send { confirmation, parts, local throws(SpoolError) in
      files.withLock { $0 = parts.map(\.file.name) + [local.receipt, confirmation.path] }
      return Array("{\"signed\":1}".utf8)
    }
    #expect(sent == ["nas walk.delivered-nas.json"])
    #expect(
      files.withLock { $0 } == [
        "walk.wav", "walk.recording.json", scratch.file("walk.receipt.json"),
        "d/walk.delivered-nas.json",
      ])
  }

  @Test("text that is no document about a recording is refused")
  func refused() {
    for text in ["", "{}", "[]", #"{"uploadedAt": 1}"#, String(repeating: "[", count: 9000)] {
      #expect(throws: SpoolError.self) { try DeliveredRecording(text: text, at: "x") }
    }
  }
}

/// The machine's clock, without pauses that vary.
private struct SystemTestClock: RunClock {
  var now: Double { Double(Clock.now()) / 1e9 }
  var elapsed: Double { Double(Clock.monotonic()) / 1e9 }
  func jitter() -> Double { 0.5 }
  func sleep(_ seconds: Double, unless stop: StopRequest) {
    usleep(UInt32(min(seconds, 0.01) * 1e6))
  }
}

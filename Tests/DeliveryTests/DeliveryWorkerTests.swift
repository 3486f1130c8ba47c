import Foundation
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@testable import Delivery

@Suite("What is queued is sent, confirmed and recorded, whatever the destination does")
struct DeliveryWorkerTests {
  private let scratch: ScratchFolder
  private let store: DiskStore
  private let disk: String

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
    disk = scratch.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
  }

  /// A file in a user's folder, as it is queued.
  private func order(
    _ name: String, _ text: String? = nil, encounter: DeliveryRequest.Encounter = .same
  ) throws -> DeliveryQueue.Order {
    let text = text ?? "the bytes of \(name)"
    try scratch.write(text, to: name)
    let file = QueuedDelivery.File(
      name: name, .exports, digest: SHA256.digest(of: text), byteCount: text.utf8.count,
      recording: nil, path: scratch.file(name))
    return DeliveryQueue.Order(
      file, to: "nas", at: "notes/\(name)", encounter: encounter, isRequired: true)
  }

  @discardableResult
  private func add(_ orders: DeliveryQueue.Order...) throws -> [QueuedDelivery] {
    try store.deliveries.add(orders, for: .run(RunID("r")))
  }

  /// Sends what is due, and returns what happened.
  private func send(
    _ clock: TestClock = TestClock(), to destination: Destination? = nil
  ) throws -> [String] {
    let events = Mutex<[String]>([])
    let worker = DeliveryWorker(
      store,
      to: Destinations([destination ?? Destination("nas", .folder(Destination.Folder(disk)))]),
      ProcessInfo.processInfo.environment,
      clock: clock, stop: StopRequest()
    ) { event in
      let word: String? =
        switch event {
        case .delivered(let delivery, _): "delivered \(delivery.file.name)"
        case .postponed(let delivery, _, _): "postponed \(delivery.file.name)"
        case .failed(let delivery, _): "failed \(delivery.file.name)"
        case .held(let name, _, _): "held \(name)"
        case .trouble(let error): "trouble \(error.message)"
        case .began, .progress: nil
        }
      if let word { events.withLock { $0.append(word) } }
    }
    #expect(try worker.run { isIdle in isIdle })
    return events.withLock { $0 }
  }

  private func states() throws -> [QueuedDelivery.State] {
    try store.deliveries.matching(DeliveryQueue.Query()).map(\.state)
  }

  private func text(_ path: String) -> String? {
    try? String(contentsOfFile: "\(disk)/\(path)", encoding: .utf8)
  }

  @Test("a destination gets encrypted what it may not read, and the copy stays the same until then")
  func encrypted() throws {
    let key = try AgeKey(in: scratch)
    var nas = Destination("nas", .folder(Destination.Folder(disk)))
    nas.encryption = try Encryption([key.recipient], identity: key.path)
    try FileManager.default.removeItem(atPath: disk)
    try add(try order("a.wav", String(repeating: "sound ", count: 100_000)))
    // The folder is away until the copy is made.
    #expect(try send(to: nas) == ["held nas"])
    let made = FilePath.names(in: scratch.file("store/encrypted")).map {
      try? Data(contentsOf: URL(fileURLWithPath: scratch.file("store/encrypted/\($0)")))
    }
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try store.deliveries.release("nas")
    #expect(try send(to: nas) == ["delivered a.wav"])
    let delivery = try #require(try store.deliveries.matching(DeliveryQueue.Query()).first)
    let path = "\(disk)/\(delivery.path)"
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(bytes.starts(with: Array("age-encryption.org/v1".utf8)))
    #expect(made == [bytes])
    #expect(delivery.confirmation?.digest == SHA256.digest(of: Array(bytes)))
    #expect(delivery.confirmation?.byteCount == bytes.count)
    var reader = DestinationReader(
      nas, ProcessInfo.processInfo.environment, scratch: scratch.path
    ) { true }
    let held = FilePath.names(in: scratch.path)
    let copy = try reader.look(at: RemotePath(delivery.path), limit: 1 << 20)
    #expect(copy.digest == delivery.file.digest)
    #expect(FilePath.names(in: scratch.path) == held)
    // Cut in its middle, it gives a part of the sound, and that is told.
    try bytes.prefix(400_000).write(to: URL(fileURLWithPath: path))
    let file = DestinationReader.Expectation(
      try RemotePath(delivery.path), byteCount: copy.byteCount, digest: copy.digest,
      at: try RemotePath("back.wav"))
    let failure = #expect(throws: SpoolError.self) {
      _ = try reader.fetch(file, into: scratch.path)
    }
    #expect(failure?.kind == .broken)
    #expect(FilePath.names(in: scratch.path) == held)
    #expect(FilePath.names(in: scratch.file("store/encrypted")) == [])
  }

  @Test("without age, and with a key that is none, nothing is sent")
  func encryptionFails() throws {
    var nas = Destination("nas", .folder(Destination.Folder(disk)))
    nas.encryption = try Encryption([
      // Of a plugin that is not here.
      "age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t"
    ])
    try add(try order("a.wav"))
    #expect(try send(to: nas) == ["held nas"])
    #expect(FilePath.names(in: disk) == [])
    #expect(FilePath.names(in: scratch.file("store/encrypted")) == [])
  }

  @Test("outside of its hours a destination gets nothing")
  func hours() throws {
    try add(try order("a.wav"))
    let clock = TestClock()
    let minute = Clock.minuteOfDay(at: clock.now)
    func text(_ minute: Int) -> String {
      let minute = (minute + 1440) % 1440
      return "\(minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60)"
    }
    var nas = Destination("nas", .folder(Destination.Folder(disk)))
    nas.hours = DailyHours("\(text(minute + 60))-\(text(minute + 120))")
    #expect(try send(clock, to: nas) == [])
    nas.hours = DailyHours("\(text(minute - 60))-\(text(minute + 60))")
    #expect(try send(clock, to: nas) == ["delivered a.wav"])
  }

  @Test("a folder that has lost everything is one whose disk is not mounted")
  func unmounted() throws {
    try add(try order("a.wav"))
    #expect(try send() == ["delivered a.wav"])
    try FileManager.default.removeItem(atPath: disk + "/notes")
    try add(try order("b.wav"))
    #expect(try send() == ["held nas"])
    #expect(FilePath.names(in: disk) == [])
    // It is mounted again.
    try FileManager.default.createDirectory(
      atPath: disk + "/lost+found", withIntermediateDirectories: false)
    try store.deliveries.release("nas")
    #expect(try send() == ["delivered b.wav"])
  }

  @Test("each file lies under its name afterwards, and its confirmation in the queue")
  func delivered() throws {
    try add(try order("a.wav"), try order("b.wav"))
    #expect(try send() == ["delivered a.wav", "delivered b.wav"])
    #expect(text("notes/a.wav") == "the bytes of a.wav")
    let delivery = try #require(try store.deliveries.matching(DeliveryQueue.Query()).first)
    #expect(delivery.confirmation?.digest == delivery.file.digest)
    #expect(delivery.confirmation?.identifier?.hasPrefix("inode ") == true)
    #expect(try send() == [])
  }

  @Test("a folder that is away holds all of its files, and gets them when it is back")
  func away() throws {
    try FileManager.default.moveItem(atPath: disk, toPath: disk + "-away")
    try add(try order("a.wav"), try order("b.wav"))
    #expect(try send() == ["held nas"])
    #expect(try states() == [.waiting, .waiting])
    let state = try #require(try store.deliveries.destinations()["nas"])
    #expect(state.failures == 1 && state.trouble?.contains("mount its disk") == true)
    try FileManager.default.moveItem(atPath: disk + "-away", toPath: disk)
    #expect(try send(TestClock(ahead: 60)).count == 2)
    #expect(try store.deliveries.destinations().isEmpty)
  }

  @Test("a paused destination gets nothing")
  func paused() throws {
    try add(try order("a.wav"))
    try store.deliveries.pause("nas", true)
    #expect(try send() == [])
    try store.deliveries.pause("nas", false)
    #expect(try send() == ["delivered a.wav"])
  }

  @Test("a file that is gone or was changed since is told, and waits for a person")
  func gone() throws {
    try add(try order("a.wav"), try order("b.wav"), try order("c.wav"))
    try FileManager.default.removeItem(atPath: scratch.file("a.wav"))
    try scratch.write("other bytes of b.wa", to: "b.wav")
    try scratch.write("THE BYTES OF C.WAV", to: "c.wav")
    #expect(try send() == ["failed a.wav", "failed b.wav", "failed c.wav"])
    let troubles = try store.deliveries.matching(DeliveryQueue.Query()).map { $0.trouble ?? "" }
    #expect(troubles[0].contains("not there any more"))
    #expect(troubles[1].contains("was changed since"))
    #expect(troubles[2].contains("was changed since"))
    #expect(text("notes/c.wav") == nil)
    #expect(FilePath.names(in: "\(disk)/notes").isEmpty, "nothing unfinished is left there")
  }

  @Test("a name that something else has: the same bytes count, others do not, or get a number")
  func encounters() throws {
    try FileManager.default.createDirectory(
      atPath: disk + "/notes", withIntermediateDirectories: false)
    for name in ["same", "other", "renamed", "refused"] {
      try (name == "same" ? "the bytes of same.wav" : "foreign").write(
        toFile: "\(disk)/notes/\(name).wav", atomically: false, encoding: .utf8)
    }
    try add(
      try order("same.wav"), try order("other.wav"),
      try order("renamed.wav", encounter: .rename), try order("refused.wav", encounter: .fail))
    #expect(
      try send() == [
        "delivered same.wav", "failed other.wav", "delivered renamed.wav", "failed refused.wav",
      ])
    #expect(text("notes/other.wav") == "foreign" && text("notes/renamed.wav") == "foreign")
    #expect(text("notes/renamed (2).wav") == "the bytes of renamed.wav")
  }

  @Test("what a killed process had sent and not recorded is recognised, also with if-there: fail")
  func unrecorded() throws {
    let id = try #require(try add(try order("a.wav", encounter: .fail)).first?.id)
    #expect(try send() == ["delivered a.wav"])
    // As if the process had been killed before the confirmation was recorded.
    let state = Array(try UploadState().jsonText().utf8)
    try store.deliveries.note(id, upload: state, sentByteCount: 3, isFlushed: true)
    try store.deliveries.postpone(id, after: 0, because: "killed", until: 0)
    #expect(try send() == ["delivered a.wav"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk + "/notes") == ["a.wav"])
  }
}

/// The machine's clock, or one ahead of it, without pauses that vary.
private struct TestClock: RunClock {
  var ahead = 0.0

  var now: Double { Double(Clock.now()) / 1e9 + ahead }
  var elapsed: Double { Double(Clock.monotonic()) / 1e9 }
  func jitter() -> Double { 0.5 }
  func sleep(_ seconds: Double, unless stop: StopRequest) {
    usleep(UInt32(min(seconds, 0.01) * 1e6))
  }
}

/// A key pair of age.
struct AgeKey {
  /// The file with the private key.
  let path: String
  let recipient: String

  init(in folder: ScratchFolder) throws {
    path = folder.file("age-key")
    var bytes: [UInt8] = []
    let environment = ProcessInfo.processInfo.environment
    let made = try ProgramRun(["age-keygen", "-o", path], environment: environment)
      .run(mayGoOn: { true }) { _ in }
    #expect(made.exitCode == 0, "\(made.complaints)")
    _ = try ProgramRun(["age-keygen", "-y", path], environment: environment)
      .run(mayGoOn: { true }) { piece in
        unsafe piece.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
      }
    recipient = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}

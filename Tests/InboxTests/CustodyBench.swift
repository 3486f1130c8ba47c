import JSONText
import Sidecars
import CPosix
import Foundation
import Glibc
import Hashing
import PipelineModel
import Store
import Synchronization
import TestSupport
import Testing

@testable import Inbox

/// An inbox, an outbox and a store in a scratch folder, with custody between them.
final class CustodyBench: Sendable {
  /// The folder, for as long as it belongs to this bench.
  private let owned: ScratchFolder?
  let path: String
  let time = BenchTime(1_800_000_000)
  var inbox: String { path + "/inbox" }
  var outbox: String { path + "/outbox" }
  var storeFolder: String { path + "/store" }

  /// A bench in a folder that somebody else deletes.
  init(at path: String) {
    owned = nil
    self.path = path
  }

  /// - Parameter isInMemory: whether flushes may be for nothing, for tests that make thousands.
  init(isInMemory: Bool = false) throws {
    let scratch = try ScratchFolder()
    owned = scratch
    let memory = "/dev/shm/" + (scratch.path as NSString).lastPathComponent
    let made: Void? =
      try? isInMemory
      ? FileManager.default.createDirectory(atPath: memory, withIntermediateDirectories: false)
      : nil
    path = made == nil ? scratch.path : memory
    try FileManager.default.createDirectory(
      atPath: path + "/inbox", withIntermediateDirectories: true)
  }

  deinit {
    if let owned, owned.path != path { try? FileManager.default.removeItem(atPath: path) }
  }

  /// A store over the same folder, as a program that has just started opens it.
  /// - Parameter fault: see ``ProbedStore``.
  func store(_ fault: @escaping @Sendable (String) -> CInt? = { _ in nil }) throws -> DiskStore {
    let time = time
    return try ProbedStore.open(
      at: storeFolder, clock: { time.nanoseconds }, fault: fault)
  }

  /// Custody of the inbox, as a program that has just started takes it.
  func custody(
    _ store: DiskStore? = nil, calls: CustodyCalls = .system, pipeline: String = "voice",
    outbox: CustodyOutbox? = nil,
    rules change: (inout CustodyRules) -> Void = { _ in }
  ) throws -> Custody {
    var rules = CustodyRules()
    change(&rules)
    return Custody(
      inbox: inbox, outbox: outbox ?? CustodyOutbox(self.outbox), pipeline: pipeline, rules: rules,
      store: try store ?? self.store(), calls: calls, chance: { 0.5 })
  }

  /// Puts a file into the inbox. - Returns: what a watcher would tell of it.
  @discardableResult
  func drop(
    _ text: String, as name: String, sidecar: String? = nil
  ) throws -> SettledRecording {
    let path = try #require(InboxPath(name))
    try write(text, to: path)
    var beside: InboxPath?
    if let sidecar, let own = path.name, let name = SidecarName.candidates(for: own).first {
      beside = path.folder.appending(name)
      try write(sidecar, to: path.folder.appending(name))
    }
    return SettledRecording(
      path: path, stamp: try stamp(of: path), sidecar: beside, nameCount: 1)
  }

  /// Puts a file whose name need not be text into the inbox.
  func write(_ text: String, to path: InboxPath) throws {
    var folder = InboxPath.inbox
    for name in path.names.dropLast() {
      folder = folder.appending(name)
      try? FileManager.default.createDirectory(
        atPath: "\(inbox)/\(folder)", withIntermediateDirectories: true)
    }
    let parent = unsafe open(inbox, O_RDONLY | O_DIRECTORY)
    defer { close(parent) }
    let flags = O_WRONLY | O_CREAT | O_TRUNC
    let file = unsafe path.withCString { unsafe posix_open_at(parent, $0, flags, 0o644) }
    try #require(file >= 0)
    defer { close(file) }
    let bytes = Array(text.utf8)
    let count = unsafe Glibc.write(file, bytes, bytes.count)
    try #require(count == bytes.count)
  }

  func stamp(of path: InboxPath) throws -> FileStamp {
    let folder = try InboxFolder(at: inbox)
    return try #require(try folder.stamp(of: path))
  }

  /// Does all that a watcher and a pipeline would with a note, but for the processing.
  @discardableResult
  func process(
    _ key: NoteKey, with custody: Custody, sound: String? = nil
  ) throws -> NoteAcceptance {
    _ = try #require(try custody.begin(key))
    let acceptance = try custody.accept(key, sound: sound.map { SHA256.digest(of: $0) })
    if case .accepted = acceptance { _ = try custody.finish(key) }
    return acceptance
  }

  /// Everything in the inbox or outbox, folders left out, sorted.
  func files(in folder: String) -> [String] {
    let all = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return all.filter { name in
      var isFolder: ObjCBool = false
      let isThere = unsafe FileManager.default.fileExists(
        atPath: folder + "/" + name, isDirectory: &isFolder)
      return isThere && !isFolder.boolValue
    }.sorted()
  }

  /// A JSON file of the outbox or inbox, as its values in words.
  func json(_ path: String) throws -> [String: JSONValue] {
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    guard case .object(let fields) = try JSONReader.value(of: bytes, depthLimit: 9).value else {
      throw CocoaError(.fileReadCorruptFile)
    }
    #expect(
      String(decoding: bytes, as: UTF8.self) == JSONValue.object(fields).compact + "\n",
      "\(path) is not canonical")
    return fields
  }

  /// An acknowledgement.
  func ack(_ name: String) throws -> [String: JSONValue] {
    try json("\(outbox)/\(name).ack.json")
  }
}

/// A time that a test sets, in seconds since 1970; each look at it takes a millisecond.
final class BenchTime: Sendable {
  private let state: Mutex<Int64>

  init(_ seconds: Int64) { state = Mutex(seconds * 1_000_000_000) }

  var nanoseconds: Int64 {
    state.withLock { time in
      time += 1_000_000
      return time
    }
  }

  func advance(by seconds: Double) { state.withLock { $0 += Int64(seconds * 1e9) } }
}

extension CustodyIntake {
  /// The note that a file became or belongs to; nil where it changed.
  var note: Note? {
    switch self {
    case .received(let note), .quarantined(let note), .duplicate(let note), .conflict(let note, _),
      .known(let note):
      note
    case .changed: nil
    }
  }
}

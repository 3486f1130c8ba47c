import CPosix
import Foundation
import Glibc
@testable import Intake
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

/// An inbox, an outbox and a store in a scratch folder, with custody between them.
final class ProcessorBench: Sendable {
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
  func processor(
    _ store: DiskStore? = nil, hooks: [FolderCallHook] = [], pipeline: String = "voice",
    outbox: Outbox? = nil,
    rules change: (inout InboxRules) -> Void = { _ in }
  ) throws -> InboxProcessor {
    var rules = InboxRules()
    change(&rules)
    return InboxProcessor(
      inbox: inbox, outbox: outbox ?? Outbox(path: self.outbox), pipeline: pipeline, rules: rules,
      store: try store ?? self.store(), hook: hooks.first)
  }

  /// Puts a file into the inbox. - Returns: what a watcher would tell of it.
  @discardableResult
  func drop(
    _ text: String, as name: String, sidecar: String? = nil
  ) throws -> StableRecording {
    let path = try #require(InboxPath(name))
    try write(text, to: path)
    var beside: InboxPath?
    if let sidecar, let own = path.name, let name = SidecarName.candidates(for: own).first {
      beside = path.folder.appending(name)
      try write(sidecar, to: path.folder.appending(name))
    }
    return StableRecording(
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
    _ key: RecordingKey, with processor: InboxProcessor, sound: String? = nil
  ) throws -> RecordingAcceptance {
    _ = try #require(try processor.begin(key))
    let acceptance = try processor.accept(key, sound: sound.map { SHA256.digest(of: $0) })
    if case .accepted = acceptance { _ = try processor.finish(key) }
    return acceptance
  }

  /// Takes a file into the inbox, and does all that a pipeline would with it.
  @discardableResult
  func upload(
    _ text: String, as name: String, with processor: InboxProcessor
  ) throws -> Recording {
    let recording = try #require(try processor.takeIn(try drop(text, as: name)).recording)
    try process(recording.key, with: processor)
    return recording
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

extension RecordingAdmission? {
  /// The note that a file became or belongs to; nil where it changed.
  var recording: Recording? {
    switch self {
    case .some(let admission): admission.recording
    case .none: nil
    }
  }
}

/// A watch's work on a recording without its pipeline: the store's own changes, one call each.
extension InboxProcessor.CompanionOutcome {
  /// The recording that it was attached to; nil for any other outcome.
  var attached: Recording? { if case .attached(let recording) = self { recording } else { nil } }
}

extension InboxProcessor {
  func begin(_ key: RecordingKey) throws(SpoolError) -> Recording? {
    try store.recordings.change(key, .begin)?.recording
  }

  func accept(_ key: RecordingKey, sound: Digest?) throws(SpoolError) -> RecordingAcceptance {
    try store.recordings.accept(key, sound: sound, conflicts: rules.conflicts)
  }

  func finish(_ key: RecordingKey) throws(SpoolError) -> RecordingOutcome? {
    try store.recordings.change(key, .finish(reason: nil))
  }

  func fail(_ key: RecordingKey, _ error: SpoolError) throws(SpoolError) -> RecordingOutcome? {
    guard let recording = try store.recordings.recording(key) else { return nil }
    return try store.recordings.change(
      key,
      rules.retry.change(
        after: error, attempt: recording.attempts, at: store.recordings.now, chance: 0.5))
  }

  func dueNotes(limit: Int) throws(SpoolError) -> [Recording] {
    try store.recordings.due(pipeline: pipeline, at: store.recordings.now, limit: limit)
  }
}

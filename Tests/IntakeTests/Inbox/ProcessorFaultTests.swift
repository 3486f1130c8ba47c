import Foundation
import Glibc
@testable import Intake
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

/// One note's whole way, with every call that touches a disk made to fail in turn, or the process
/// killed right before it.
@Suite("Custody when something fails")
struct CustodyFaultTests {
  private let bench: ProcessorBench

  init() throws { bench = try ProcessorBench(isInMemory: true) }

  /// Counts the calls of the store and of custody together, and says which of them is hit.
  private final class Aim: Sendable {
    private let count = Mutex(0)
    private let hit: @Sendable (Int) -> CInt?

    init(_ hit: @escaping @Sendable (Int) -> CInt?) { self.hit = hit }

    var total: Int { count.withLock { $0 } }

    func next() -> CInt? {
      hit(
        count.withLock { count in
          count += 1
          return count
        })
    }

    var hook: FolderCallHook {
      { @Sendable (_) throws(SystemError) in
        if let code = self.next() { throw SystemError(code) }
      }
    }
  }

  /// From a file that settled to its acknowledgement, with a duplicate, a conflict and a command, as
  /// far as it goes.
  private static func live(_ bench: ProcessorBench, _ aim: Aim, keep: InboxRules.Keeping) throws {
    let store = try bench.store { _ in aim.next() }
    let processor = try bench.processor(store, hooks: [aim.hook]) { $0.keep = keep }
    _ = processor.reconcile()
    let id = #"{"noteId":"0f8fad5b-d9cb-469f-a165-70867728950e"}"#
    for (text, name, sidecar) in [
      ("sound", "sub/a.m4a", id), ("sound", "b.m4a", nil), ("other", "c.m4a", id),
    ] as [(String, String, String?)] {
      guard let path = InboxPath(name) else { continue }
      let arrived = try bench.settled(path, text, sidecar: sidecar)
      // What is not there was dealt with in an earlier life.
      if let arrived, !processor.isKnown(arrived.path, arrived.stamp) {
        _ = try processor.takeIn(arrived)
      }
    }
    for recording in try processor.dueNotes(limit: 9) {
      guard let key = try processor.begin(recording.key)?.key else { continue }
      _ = try processor.accept(key, sound: recording.content.digest)
      _ = try processor.finish(key)
      _ = processor.settle()
    }
    if let path = InboxPath("x1.command.json") {
      if let stamp = try InboxFolder(at: bench.inbox).stamp(of: path) {
        _ = try processor.takeCommand(at: path, stamp: stamp)
      }
    }
    _ = processor.settle()
    // What failed once has to wait for its next time.
    bench.time.advance(by: 60)
    if let problem = processor.settle().problems.first { throw problem }
  }

  /// Nothing is lost, nothing is there twice, and everybody is told the truth.
  private func expectPeace(_ keep: InboxRules.Keeping, _ fault: String) throws {
    let store = try bench.store()
    let uploaded = try store.recordings.matching(RecordingQuery(states: [.uploaded]))
    let refused = try store.recordings.matching(RecordingQuery(states: [.quarantined]))
    try #require(uploaded.count == 1 && refused.count == 1, "\(fault)")
    #expect(try store.recordings.tally().counts.count == 2, "\(fault)")
    #expect(try store.text(of: uploaded[0].content) == "sound", "\(fault)")
    #expect(try store.text(of: refused[0].content) == "other", "\(fault)")
    #expect(uploaded[0].title == "Named", "\(fault)")
    #expect(
      try store.recordings.events(of: uploaded[0].key).filter {
        $0.state == .uploaded && $0.reason == nil
      }
      .count == 1, "\(fault)")
    #expect(
      bench.files(in: bench.outbox) == [
        "0f8fad5b-d9cb-469f-a165-70867728950e.ack.json", "\(refused[0].key).ack.json",
        "state.json", "x1.result.json",
      ], "\(fault)")
    let ack = try bench.ack("0f8fad5b-d9cb-469f-a165-70867728950e")
    #expect(ack["status"] == .text("uploaded") && ack["title"] == .text("Named"), "\(fault)")
    #expect(ack["revision"] == .number("\(uploaded[0].revision)"), "\(fault)")
    #expect(try bench.ack(refused[0].key.name)["status"] == .text("quarantined"), "\(fault)")
    let quarantined = ["quarantine/c.json", "quarantine/c.m4a", "quarantine/c.m4a.reason.json"]
    let accepted = [
      "accepted/b.m4a", "accepted/sub/a.json", "accepted/sub/a.m4a", "accepted/x1.command.json",
    ]
    #expect(
      bench.files(in: bench.inbox) == (keep == .move ? accepted + quarantined : quarantined),
      "\(fault)")
    let state = try bench.json(bench.outbox + "/state.json")
    #expect(state["version"] == .number("\(try store.recordings.version())"), "\(fault)")
  }

  private func prepare() throws {
    for folder in ["inbox", "outbox", "store"] {
      try? FileManager.default.removeItem(atPath: "\(bench.path)/\(folder)")
    }
    try FileManager.default.createDirectory(
      atPath: bench.inbox, withIntermediateDirectories: true)
    for (text, name) in [
      ("sound", "sub/a.m4a"), ("sound", "b.m4a"), ("other", "c.m4a"),
      (#"{"noteId":"0f8fad5b-d9cb-469f-a165-70867728950e"}"#, "sub/a.json"),
      (#"{"noteId":"0f8fad5b-d9cb-469f-a165-70867728950e"}"#, "c.json"),
      (
        """
        {"command":"rename","noteId":"0f8fad5b-d9cb-469f-a165-70867728950e","title":"Named"}
        """, "x1.command.json"
      ),
    ] {
      try bench.write(text, to: try #require(InboxPath(name)))
    }
  }

  private func count(_ keep: InboxRules.Keeping) throws -> Int {
    try prepare()
    let aim = Aim { _ in nil }
    try Self.live(bench, aim, keep: keep)
    try expectPeace(keep, "nothing failed")
    return aim.total
  }

  @Test("a call that fails is made good, whichever it is", arguments: [ENOSPC, EIO])
  func once(code: CInt) throws {
    let total = try count(.move)
    #expect(total > 100)
    for number in 1...total {
      try prepare()
      try? Self.live(bench, Aim { $0 == number ? code : nil }, keep: .move)
      // What this very life could not put right, the next one does.
      try bench.putBackOwn()
      try Self.live(bench, Aim { _ in nil }, keep: .move)
      try expectPeace(.move, "call \(number) of \(total) failed")
    }
  }

  @Test(
    "when nothing works any more from some call on, the next start puts it right",
    arguments: [InboxRules.Keeping.move, .delete])
  func dead(keep: InboxRules.Keeping) throws {
    let total = try count(keep)
    for number in stride(from: 1, through: total, by: keep == .move ? 1 : 2) {
      try prepare()
      try? Self.live(bench, Aim { $0 >= number ? EIO : nil }, keep: keep)
      try bench.putBackOwn()
      try Self.live(bench, Aim { _ in nil }, keep: keep)
      try expectPeace(keep, "dead from call \(number) of \(total) on")
    }
  }

  @Test("a process that is killed right before any call loses nothing and does nothing twice")
  func killed() async throws {
    let total = try count(.move)
    for number in stride(from: 1, through: total, by: 3) {
      try prepare()
      let path = bench.path
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, number = number as Int] in
        let bench = ProcessorBench(at: path)
        let aim = Aim { count in
          if count == number { kill(getpid(), SIGKILL) }
          return nil
        }
        try Self.live(bench, aim, keep: .move)
      }
      try Self.live(bench, Aim { _ in nil }, keep: .move)
      try expectPeace(.move, "killed before call \(number) of \(total)")
    }
  }

  @Test("nor does one that is killed right before any commit of the database")
  func killedBeforeCommit() async throws {
    try prepare()
    // The tables are made by commits too, of which other tests take care.
    do { _ = try bench.store() }
    let kept = bench.storeFolder + ".new"
    try FileManager.default.moveItem(atPath: bench.storeFolder, toPath: kept)
    var isOver = false
    for number in 1...200 where !isOver {
      try prepare()
      try FileManager.default.copyItem(atPath: kept, toPath: bench.storeFolder)
      let path = bench.path
      let done = path + "/done"
      await #expect(processExitsWith: .failure) {
        [path = path as String, number = number as Int] in
        unsafe setenv("SPOOL_CRASH_BEFORE", "\(number)", 1)
        try Self.live(ProcessorBench(at: path), Aim { _ in nil }, keep: .move)
        _ = FileManager.default.createFile(atPath: path + "/done", contents: nil)
        Glibc.exit(1)
      }
      isOver = FileManager.default.fileExists(atPath: done)
      if isOver { #expect(number > 20, "few commits were met") }
      try Self.live(bench, Aim { _ in nil }, keep: .move)
      try expectPeace(.move, "killed before commit \(number)")
    }
    #expect(isOver)
  }

  @Test("on a full disk nothing is taken in, and the file waits where it is")
  func fullDisk() throws {
    let arrived = try bench.drop("sound", as: "a.m4a")
    let isFull = Mutex(true)
    let store = try bench.store { operation in
      let needsRoom = operation.hasPrefix("copyRange") || operation.hasPrefix("write")
      return needsRoom && operation.contains("drafts") && isFull.withLock { $0 } ? ENOSPC : nil
    }
    let processor = try bench.processor(store)
    let error = try #require(throws: SpoolError.self) { try processor.takeIn(arrived) }
    #expect(error.isFullDisk && error.advice?.contains("free some space") == true)
    #expect(bench.files(in: bench.inbox) == ["a.m4a"])
    #expect(try store.recordings.tally().counts == [:])
    #expect(bench.files(in: bench.storeFolder + "/drafts") == [])
    isFull.withLock { $0 = false }
    #expect(try processor.takeIn(arrived).recording?.state == .received)
  }

  @Test("a file that is read when the watch ends stays in the inbox, and the next one takes it in")
  func stopped() throws {
    let arrived = try bench.drop("sound", as: "a.m4a")
    let store = try bench.store()
    let processor = try bench.processor(store)
    processor.stop.request(signal: 15)
    let error = try #require(throws: SpoolError.self) { try processor.takeIn(arrived) }
    #expect(error.cause == .cancelled)
    #expect(bench.files(in: bench.inbox) == ["a.m4a"])
    #expect(try store.recordings.tally().counts == [:])
    #expect(try bench.processor(store).takeIn(arrived).recording?.state == .received)
  }

  @Test("an outbox on a full disk is made up for, and a recording stays in the inbox until then")
  func fullOutbox() throws {
    let disk = FullDisk()
    let hook: FolderCallHook = { @Sendable (call) throws(SystemError) in
      if case .write = call, disk.isFull.withLock({ $0 }) { throw SystemError(ENOSPC) }
    }
    let processor = try bench.processor(hooks: [hook])
    let recording = try #require(
      try processor.takeIn(try bench.drop("sound", as: "a.m4a")).recording)
    try bench.process(recording.key, with: processor)
    let report = processor.settle()
    #expect(report.problems.allSatisfy { $0.isFullDisk } && !report.problems.isEmpty)
    #expect(report.released.isEmpty)
    #expect(bench.files(in: bench.outbox) == [])
    disk.isFull.withLock { $0 = false }
    let after = processor.settle()
    #expect(after.acknowledgements == 1 && after.released.map(\.place) == [.accepted])
    #expect(try bench.ack(recording.key.name)["status"] == .text("uploaded"))
  }
}

extension ProcessorBench {
  /// What a watcher would tell of a file that may be there.
  func settled(_ path: InboxPath, _ text: String, sidecar: String?) throws -> StableRecording? {
    let folder = try InboxFolder(at: inbox)
    guard let stamp = try folder.stamp(of: path) else { return nil }
    let beside = path.name.flatMap { SidecarName.candidates(for: $0).first }
      .map(path.folder.appending)
    return StableRecording(
      path: path, stamp: stamp, sidecar: sidecar == nil ? nil : beside, nameCount: 1)
  }

  /// Does what the next start does for a process that died: this one has not.
  func putBackOwn() throws {
    let store = try store()
    for recording in try store.recordings.matching(
      RecordingQuery(states: [.processing, .uploading]))
    {
      _ = try store.recordings.change(recording.key, .putBack(reason: "as if it had died"))
    }
  }
}

private final class FullDisk: Sendable {
  let isFull = Mutex(true)
}

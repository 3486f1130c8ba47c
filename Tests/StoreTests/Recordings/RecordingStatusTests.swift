import Foundation
import PipelineModel
@testable import Store
import TestSupport
import Testing

@Suite("What the ledger tells of notes and folders")
struct NoteStandingTests {
  private let scratch: ScratchFolder
  private let store: DiskStore

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
  }

  private func arrival(
    _ text: String, path: String, inode: UInt64, deviceID: String? = nil
  ) throws -> RecordingArrival {
    var arrival = RecordingArrival(
      pipeline: "voice", inbox: "/inbox", path: path,
      stamp: RecordingFileStamp(inode: inode, byteCount: 5, modified: 7, changed: 8),
      fileName: path,
      recording: try store.makeArtifact(text, kind: .sound))
    arrival.deviceID = deviceID
    return arrival
  }

  private func admit(_ text: String, path: String, inode: UInt64) throws -> Recording {
    try store.recordings.admit(
      try arrival(text, path: path, inode: inode), conflicts: .quarantine
    ).recording
  }

  private func change(_ key: RecordingKey, _ change: RecordingChange) throws -> Recording {
    try #require(try store.recordings.change(key, change)?.recording)
  }

  @Test("what was cancelled is not among what failed, and is asked for by itself")
  func cancelled() throws {
    let recordings = try (1...3).map { try admit("sound \($0)", path: "\($0)", inode: UInt64($0)) }
    _ = try change(recordings[0].key, .cancel(reason: "by a device"))
    _ = try change(recordings[1].key, .begin)
    _ = try change(recordings[1].key, .fail(reason: "x", nextAttempt: nil, isCounted: true))
    for pipeline in ["voice", nil] {
      let tally = try store.recordings.tally(pipeline: pipeline)
      #expect(tally[.failed] == 1 && tally.cancelled?.count == 1 && tally[.received] == 1)
    }
    func keys(_ isCancelled: Bool) throws -> [RecordingKey] {
      try store.recordings.matching(RecordingQuery(states: [.failed], isCancelled: isCancelled))
        .map(\.key)
    }
    #expect(try keys(true) == [recordings[0].key] && keys(false) == [recordings[1].key])
    #expect(try store.recordings.recording(recordings[0].key)?.isCancelled == true)
    _ = try change(recordings[0].key, .retry(reason: nil))
    #expect(try store.recordings.tally(pipeline: "voice").cancelled == nil)
    _ = try change(recordings[1].key, .retry(reason: nil))
    _ = try change(recordings[1].key, .cancel(reason: nil))
    #expect(try store.recordings.tally(pipeline: "voice").counts[.failed] == nil)
  }

  @Test("the same bytes under a second identity are one note, which answers to both")
  func alias() throws {
    let first = try store.recordings.admit(
      try arrival("sound", path: "a", inode: 1, deviceID: "one"), conflicts: .quarantine
    ).recording
    _ = try store.recordings.admit(
      try arrival("sound", path: "b", inode: 2, deviceID: "two"), conflicts: .quarantine)
    for name in ["one", "two", "TWO", first.key.name] {
      #expect(try store.recordings.recording(named: name)?.key == first.key, "\(name)")
    }
    #expect(try store.recordings.recording(named: "three") == nil)
    #expect(try store.recordings.aliases(pipeline: "voice") == [first.key: ["two"]])
    #expect(try store.recordings.aliases(pipeline: "other") == [:])
  }

  @Test("a mount point is remembered until it is told that there is none")
  func mounts() throws {
    #expect(try store.inboxes.mountPoint(ofFolder: "/mnt/nas/out") == nil)
    try store.inboxes.remember(mountPoint: "/mnt", ofFolder: "/mnt/nas/out")
    try store.inboxes.remember(mountPoint: "/mnt/nas", ofFolder: "/mnt/nas/out")
    let again = try DiskStore(at: scratch.file("store"))
    #expect(try again.inboxes.mountPoint(ofFolder: "/mnt/nas/out") == "/mnt/nas")
    // Another folder at or below the mount point lies on the same disk, and none beside it.
    #expect(try again.inboxes.mountPoint(ofFolder: "/mnt/nas") == "/mnt/nas")
    #expect(try again.inboxes.mountPoint(ofFolder: "/mnt/nas/new") == "/mnt/nas")
    #expect(try again.inboxes.mountPoint(ofFolder: "/mnt/nas2") == nil)
    try again.inboxes.remember(mountPoint: nil, ofFolder: "/mnt/nas/new")
    #expect(try again.inboxes.mountPoint(ofFolder: "/mnt/nas/new") == nil)
    try again.inboxes.remember(mountPoint: nil, ofFolder: "/mnt/nas/new")
    try again.inboxes.remember(mountPoint: nil, ofFolder: "/mnt/nas/out")
    #expect(try store.inboxes.mountPoint(ofFolder: "/mnt/nas/out") == nil)
  }
}

import Foundation
import Glibc
@testable import Intake
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

@Suite("Taking recordings in")
struct CustodyIntakeTests {
  private let bench: ProcessorBench
  private let store: DiskStore
  private let processor: InboxProcessor

  private static let id = "0f8fad5b-d9cb-469f-a165-70867728950e"

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
    processor = try bench.processor(store)
  }

  private func receive(_ arrived: StableRecording) throws -> Recording {
    let intake = try processor.takeIn(arrived)
    guard case .new(let recording)? = intake, recording.state == .received else {
      throw CocoaError(
        .featureUnsupported, userInfo: [NSDebugDescriptionErrorKey: "\(String(describing: intake))"]
      )
    }
    return recording
  }

  @Test("a recording is in the store with its digest before it counts as received")
  func received() throws {
    let sidecar = #"{"noteId":"\#(Self.id.uppercased())","title":"Lunch","tags":["a"],"x":1}"#
    let arrived = try bench.drop("sound", as: "sub/note.m4a", sidecar: sidecar)
    let recording = try receive(arrived)
    #expect(recording.content.digest == SHA256.digest(of: "sound"))
    #expect(try store.text(of: recording.content) == "sound")
    #expect(try store.text(of: try #require(recording.sidecar)) == sidecar)
    #expect(recording.deviceID == Self.id && recording.title == "Lunch" && recording.tags == ["a"])
    #expect(recording.facts?.contains(#""unknown":{"x":1}"#) == true)
    #expect(recording.facts?.contains(#""noteId":{"source":"sidecar""#) == true)
    #expect(try store.recordings.recording(recording.key) == recording)
    #expect(try store.recordings.events(of: recording.key).map(\.state) == [.received])
    #expect(bench.files(in: bench.inbox) == ["sub/note.json", "sub/note.m4a"])
    #expect(try processor.store.path(of: recording.content).hasPrefix(bench.storeFolder))
    #expect(processor.isKnown(arrived.path, arrived.stamp))
    let other = try bench.drop("sound", as: "b.m4a")
    #expect(!processor.isKnown(other.path, other.stamp))
  }

  @Test("a recording that was never whole gives its identity to the one that comes in its place")
  func secondChance() throws {
    let sidecar = #"{"noteId":"\#(Self.id)"}"#
    let cut = try bench.drop("sou", as: "note.m4a", sidecar: sidecar)
    guard case .new(let spoiled)? = try processor.takeIn(cut, refusal: "it is cut off"),
      spoiled.state == .quarantined
    else {
      Issue.record("it was not quarantined")
      return
    }
    _ = processor.settle()
    #expect(try bench.ack(Self.id)["status"] == .text("quarantined"))
    #expect(bench.files(in: bench.inbox).contains("quarantine/note.m4a.reason.json"))
    let whole = try bench.drop("sound", as: "note.m4a", sidecar: sidecar)
    let recording = try receive(whole)
    #expect(recording.deviceID == Self.id && recording.conflict == nil)
    #expect(recording.acknowledgementName == Self.id)
    _ = processor.settle()
    #expect(try bench.ack(Self.id)["status"] == .text("received"))
    #expect(try bench.ack(spoiled.key.name)["status"] == .text("quarantined"))
    #expect(try store.recordings.recording(spoiled.key)?.deviceID == nil)
    #expect(
      try store.recordings.events(of: spoiled.key).last?.reason
        == "\(recording.key) came in its place")
    // One that was accepted once, and others that wait for a decision, keep theirs.
    try bench.process(recording.key, with: processor)
    let third = try bench.drop("other sound", as: "again.m4a", sidecar: sidecar)
    guard case .conflict(_, let other)? = try processor.takeIn(third) else {
      Issue.record("it is no conflict")
      return
    }
    #expect(other == recording.key)
  }

  @Test("a file that is another version than the one that settled wants another look")
  func changed() throws {
    let arrived = try bench.drop("sound", as: "note.m4a")
    try bench.write("more sound", to: arrived.path)
    #expect(try processor.takeIn(arrived) == nil)
    try FileManager.default.removeItem(atPath: bench.inbox + "/note.m4a")
    #expect(try processor.takeIn(arrived) == nil)
    #expect(try store.recordings.tally().counts == [:])
  }

  @Test("a file that changes while it is taken in wants another look, and leaves no note")
  func changesMeanwhile() throws {
    let arrived = try bench.drop("sound", as: "note.m4a")
    let path = bench.inbox + "/note.m4a"
    let store = try bench.store { operation in
      // The copy is about to be sealed.
      guard operation.hasPrefix("setMode"), let file = unsafe fopen(path, "a") else { return nil }
      _ = unsafe fputs(" and more", file)
      unsafe fclose(file)
      return nil
    }
    #expect(try bench.processor(store).takeIn(arrived) == nil)
    #expect(try store.recordings.tally().counts == [:])
  }

  @Test("the same file is not taken in twice, and not known any more once it was moved")
  func known() throws {
    let arrived = try bench.drop("sound", as: "note.m4a")
    let recording = try receive(arrived)
    #expect(try processor.takeIn(arrived) == .known(recording))
    try bench.process(recording.key, with: processor)
    #expect(processor.settle().released.map(\.place) == [.accepted])
    #expect(!processor.isKnown(arrived.path, arrived.stamp))
  }

  @Test("the same bytes under another name are acknowledged again and released, also years later")
  func duplicateFile() throws {
    let first = try receive(try bench.drop("sound", as: "note.m4a"))
    try bench.process(first.key, with: processor)
    _ = processor.settle()
    let before = try bench.ack(first.key.name)
    bench.time.advance(by: 5 * 365 * 86_400)
    let processor = try bench.processor()
    let again = try bench.drop("sound", as: "copy (1).m4a", sidecar: #"{"noteId":"\#(Self.id)"}"#)
    guard case .duplicate(let recording)? = try processor.takeIn(again) else {
      Issue.record("it is no duplicate")
      return
    }
    #expect(recording.key == first.key && recording.state == .uploaded)
    let report = processor.settle()
    #expect(report.released.map(\.place) == [.accepted, .accepted])
    #expect(
      bench.files(in: bench.inbox)
        == ["accepted/copy (1).json", "accepted/copy (1).m4a", "accepted/note.m4a"])
    // The device that knows it by a name of its own hears of it by that name.
    #expect(try bench.ack(Self.id)["status"] == .text("uploaded"))
    #expect(try bench.ack(first.key.name)["uploadedAt"] == before["uploadedAt"])
    #expect(
      try store.recordings.events(of: first.key).last?.reason == "arrived again as copy (1).m4a")
    #expect(try processor.dueNotes(limit: 9) == [])
  }

  @Test("a duplicate of what is not done yet stays until it is")
  func duplicateOfUnfinished() throws {
    let recording = try receive(try bench.drop("sound", as: "a.m4a"))
    #expect(
      try processor.takeIn(try bench.drop("sound", as: "b.m4a")).recording?.key == recording.key)
    #expect(processor.settle().released.isEmpty)
    try bench.process(recording.key, with: processor)
    #expect(processor.settle().released.count == 2)
    #expect(bench.files(in: bench.inbox) == ["accepted/a.m4a", "accepted/b.m4a"])
  }

  @Test("the same sound in other bytes is acknowledged without being processed to its end")
  func duplicateSound() throws {
    let first = try receive(try bench.drop("sound", as: "a.m4a"))
    try bench.process(first.key, with: processor, sound: "S")
    let second = try receive(try bench.drop("sound, tagged anew", as: "b.m4a"))
    guard
      case .duplicate(let recording, let original) = try bench.process(
        second.key, with: processor, sound: "S")
    else {
      Issue.record("it is no duplicate")
      return
    }
    #expect(
      original == first.key && recording.state == .uploaded && recording.original == first.key)
    _ = processor.settle()
    #expect(bench.files(in: bench.inbox) == ["accepted/a.m4a", "accepted/b.m4a"])
    #expect(try bench.ack(second.key.name)["duplicateOf"] == .text(first.key.name))
    let third = try receive(try bench.drop("other sound", as: "c.m4a"))
    #expect(try bench.process(third.key, with: processor, sound: "T").isAccepted)
  }

  @Test("two that sound alike and are processed at once: one is done, the other with it")
  func soundAlikeAtOnce() throws {
    let first = try receive(try bench.drop("sound", as: "a.m4a"))
    let second = try receive(try bench.drop("sound, tagged anew", as: "b.m4a"))
    _ = try processor.begin(first.key)
    _ = try processor.begin(second.key)
    let sound = SHA256.digest(of: "S")
    guard case .accepted = try processor.accept(first.key, sound: sound),
      case .duplicate(let waiting, _) = try processor.accept(second.key, sound: sound)
    else {
      Issue.record("they were not told apart")
      return
    }
    #expect(waiting.state == .received && waiting.waitsForOriginal)
    #expect(try processor.dueNotes(limit: 9) == [])
    _ = try processor.finish(first.key)
    #expect(try store.recordings.recording(second.key)?.state == .uploaded)
    #expect(processor.settle().released.count == 2)
  }

  @Test("one that waits for the same sound goes its own way when the other fails")
  func soundAlikeFailing() throws {
    let first = try receive(try bench.drop("sound", as: "a.m4a"))
    let second = try receive(try bench.drop("sound, tagged anew", as: "b.m4a"))
    _ = try processor.begin(first.key)
    _ = try processor.begin(second.key)
    let sound = SHA256.digest(of: "S")
    _ = try processor.accept(first.key, sound: sound)
    _ = try processor.accept(second.key, sound: sound)
    _ = try processor.fail(first.key, SpoolError("cannot encode", cause: .input))
    #expect(try processor.dueNotes(limit: 9).map(\.key) == [second.key])
    #expect(try bench.process(second.key, with: processor, sound: "S").isAccepted)
  }

  @Test("the same identity with other bytes: both are kept, and it is told")
  func conflict() throws {
    let sidecar = #"{"noteId":"\#(Self.id)"}"#
    let first = try receive(try bench.drop("sound", as: "a.m4a", sidecar: sidecar))
    let intake = try processor.takeIn(try bench.drop("other", as: "b.m4a", sidecar: sidecar))
    guard case .conflict(let claim, with: first.key)? = intake else {
      Issue.record("it is no conflict: \(String(describing: intake))")
      return
    }
    #expect(claim.state == .received && claim.key != first.key)
    // Only its sound tells.
    guard
      case .conflict(let second, with: first.key) = try bench.process(
        claim.key, with: processor, sound: "O")
    else {
      Issue.record("it was accepted")
      return
    }
    #expect(second.state == .quarantined)
    #expect(try store.text(of: second.content) == "other")
    _ = processor.settle()
    #expect(
      bench.files(in: bench.inbox)
        == [
          "a.json", "a.m4a", "quarantine/b.json", "quarantine/b.m4a",
          "quarantine/b.m4a.reason.json",
        ])
    let reason = try bench.json(bench.inbox + "/quarantine/b.m4a.reason.json")
    #expect(reason["conflictsWith"] == .text(first.key.name))
    // The owner of the identity is acknowledged by it, the other one by its own name.
    #expect(try bench.ack(Self.id)["id"] == .text(first.key.name))
    #expect(try bench.ack(second.key.name)["conflictsWith"] == .text(first.key.name))
    #expect(
      try store.recordings.events(of: first.key).last?.reason?.contains("claims to be it") == true)
    // Once more the same is no second conflict.
    let again = try processor.takeIn(try bench.drop("other", as: "c.m4a", sidecar: sidecar))
    #expect(again.recording?.key == second.key)
    #expect(try store.recordings.tally()[.quarantined] == 1)
    // Let in, it is processed like any other, and its file goes where accepted ones go.
    _ = try processor.change(second.key, .release(reason: nil))
    try bench.process(second.key, with: processor)
    _ = processor.settle()
    #expect(
      bench.files(in: bench.inbox) == [
        "a.json", "a.m4a", "accepted/b.json", "accepted/b.m4a", "accepted/c.json",
        "accepted/c.m4a",
      ])
  }

  @Test("the same identity with other bytes and the same sound is the same recording once more")
  func retagged() throws {
    let sidecar = #"{"noteId":"\#(Self.id)"}"#
    let first = try receive(try bench.drop("sound", as: "a.m4a", sidecar: sidecar))
    try bench.process(first.key, with: processor, sound: "S")
    let claim = try processor.takeIn(try bench.drop("other", as: "b.m4a", sidecar: sidecar))
      .recording
    let second = try #require(claim)
    guard
      case .duplicate(let repeated, of: first.key) = try bench.process(
        second.key, with: processor, sound: "S")
    else {
      Issue.record("it is no duplicate")
      return
    }
    #expect(repeated.conflict == nil && repeated.state == .uploaded)
    _ = processor.settle()
    #expect(
      bench.files(in: bench.inbox) == [
        "accepted/a.json", "accepted/a.m4a", "accepted/b.json", "accepted/b.m4a",
      ])
    #expect(try bench.ack(Self.id)["id"] == .text(first.key.name))
    #expect(try bench.ack(second.key.name)["duplicateOf"] == .text(first.key.name))
    #expect(try store.recordings.recording(named: Self.id)?.key == first.key)
  }

  @Test("a policy lets conflicts in")
  func conflictPolicy() throws {
    let processor = try bench.processor(store) { $0.conflicts = .process }
    let sidecar = #"{"uuid":"\#(Self.id)"}"#
    _ = try processor.takeIn(try bench.drop("sound", as: "a.m4a", sidecar: sidecar))
    let intake = try processor.takeIn(try bench.drop("other", as: "b.m4a", sidecar: sidecar))
    #expect(intake.recording?.state == .received && intake.recording?.conflict != nil)
    #expect(try processor.dueNotes(limit: 9).count == 2)
  }

  @Test("the same recording for two pipelines is two notes")
  func pipelines() throws {
    let recording = try receive(try bench.drop("sound", as: "a.m4a"))
    let other = try bench.processor(store, pipeline: "podcast")
    let intake = try other.takeIn(try bench.drop("sound", as: "b.m4a"))
    #expect(intake.recording?.key != recording.key && intake.recording?.state == .received)
  }

  @Test("what cannot be accepted is kept, and quarantined with its reason")
  func refusal() throws {
    let arrived = try bench.drop("half", as: "a.m4a")
    let intake = try processor.takeIn(arrived, refusal: "it ends before its declared length")
    guard case .new(let recording)? = intake, recording.state == .quarantined else {
      Issue.record("\(String(describing: intake))")
      return
    }
    _ = processor.settle()
    #expect(
      bench.files(in: bench.inbox) == ["quarantine/a.m4a", "quarantine/a.m4a.reason.json"])
    let reason = try bench.json(bench.inbox + "/quarantine/a.m4a.reason.json")
    #expect(reason["reason"] == .text("it ends before its declared length"))
    #expect(
      try bench.ack(recording.key.name)["error"] == .text("it ends before its declared length"))
    #expect(
      try store.recordings.events(of: recording.key).map(\.state) == [.received, .quarantined])
  }
}

extension RecordingAcceptance {
  /// Whether the note is to be gone on with.
  var isAccepted: Bool {
    if case .accepted = self { return true }
    return false
  }
}

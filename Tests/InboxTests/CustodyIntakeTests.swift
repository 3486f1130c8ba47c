import JSONText
import Sidecars
import Foundation
import Glibc
import Hashing
import PipelineModel
import Store
import TestSupport
import Testing

@testable import Inbox

@Suite("Taking recordings in")
struct CustodyIntakeTests {
  private let bench: CustodyBench
  private let store: DiskStore
  private let custody: Custody

  private static let id = "0f8fad5b-d9cb-469f-a165-70867728950e"

  init() throws {
    bench = try CustodyBench()
    store = try bench.store()
    custody = try bench.custody(store)
  }

  private func receive(_ recording: SettledRecording) throws -> Note {
    let intake = try custody.takeIn(recording)
    guard case .received(let note) = intake else {
      throw CocoaError(.featureUnsupported, userInfo: [NSDebugDescriptionErrorKey: "\(intake)"])
    }
    return note
  }

  @Test("a recording is in the store with its digest before it counts as received")
  func received() throws {
    let sidecar = #"{"noteId":"\#(Self.id.uppercased())","title":"Lunch","tags":["a"],"x":1}"#
    let recording = try bench.drop("sound", as: "sub/note.m4a", sidecar: sidecar)
    let note = try receive(recording)
    #expect(note.recording.digest == SHA256.digest(of: "sound"))
    #expect(try store.text(of: note.recording) == "sound")
    #expect(try store.text(of: try #require(note.sidecar)) == sidecar)
    #expect(note.deviceID == Self.id && note.title == "Lunch" && note.tags == ["a"])
    #expect(note.facts?.contains(#""unknown":{"x":1}"#) == true)
    #expect(note.facts?.contains(#""noteId":{"source":"sidecar""#) == true)
    #expect(try store.note(note.key) == note)
    #expect(try store.events(of: note.key).map(\.state) == [.received])
    #expect(bench.files(in: bench.inbox) == ["sub/note.json", "sub/note.m4a"])
    #expect(try custody.recordingPath(of: note).hasPrefix(bench.storeFolder))
    #expect(custody.isKnown(recording.path, recording.stamp))
    let other = try bench.drop("sound", as: "b.m4a")
    #expect(!custody.isKnown(other.path, other.stamp))
  }

  @Test("a recording that was never whole gives its identity to the one that comes in its place")
  func secondChance() throws {
    let sidecar = #"{"noteId":"\#(Self.id)"}"#
    let cut = try bench.drop("sou", as: "note.m4a", sidecar: sidecar)
    guard case .quarantined(let spoiled) = try custody.takeIn(cut, refusal: "it is cut off") else {
      Issue.record("it was not quarantined")
      return
    }
    _ = custody.settle()
    #expect(try bench.ack(Self.id)["status"] == .text("quarantined"))
    #expect(bench.files(in: bench.inbox).contains("quarantine/note.m4a.reason.json"))
    let whole = try bench.drop("sound", as: "note.m4a", sidecar: sidecar)
    let note = try receive(whole)
    #expect(note.deviceID == Self.id && note.conflict == nil)
    #expect(note.acknowledgementName == Self.id)
    _ = custody.settle()
    #expect(try bench.ack(Self.id)["status"] == .text("received"))
    #expect(try bench.ack(spoiled.key.name)["status"] == .text("quarantined"))
    #expect(try store.note(spoiled.key)?.deviceID == nil)
    #expect(
      try store.events(of: spoiled.key).last?.reason == "\(note.key) came in its place")
    // One that was accepted once, and others that wait for a decision, keep theirs.
    try bench.process(note.key, with: custody)
    let third = try bench.drop("other sound", as: "again.m4a", sidecar: sidecar)
    guard case .conflict(_, let other) = try custody.takeIn(third) else {
      Issue.record("it is no conflict")
      return
    }
    #expect(other == note.key)
  }

  @Test("a file that is another version than the one that settled wants another look")
  func changed() throws {
    let recording = try bench.drop("sound", as: "note.m4a")
    try bench.write("more sound", to: recording.path)
    #expect(try custody.takeIn(recording) == .changed)
    try FileManager.default.removeItem(atPath: bench.inbox + "/note.m4a")
    #expect(try custody.takeIn(recording) == .changed)
    #expect(try store.tally().counts == [:])
  }

  @Test("a file that changes while it is taken in wants another look, and leaves no note")
  func changesMeanwhile() throws {
    let recording = try bench.drop("sound", as: "note.m4a")
    let path = bench.inbox + "/note.m4a"
    let store = try bench.store { operation in
      // The copy is about to be sealed.
      guard operation.hasPrefix("setMode"), let file = unsafe fopen(path, "a") else { return nil }
      _ = unsafe fputs(" and more", file)
      unsafe fclose(file)
      return nil
    }
    #expect(try bench.custody(store).takeIn(recording) == .changed)
    #expect(try store.tally().counts == [:])
  }

  @Test("the same file is not taken in twice, and not known any more once it was moved")
  func known() throws {
    let recording = try bench.drop("sound", as: "note.m4a")
    let note = try receive(recording)
    #expect(try custody.takeIn(recording) == .known(note))
    try bench.process(note.key, with: custody)
    #expect(custody.settle().released.map(\.place) == [.accepted])
    #expect(!custody.isKnown(recording.path, recording.stamp))
  }

  @Test("the same bytes under another name are acknowledged again and released, also years later")
  func duplicateFile() throws {
    let first = try receive(try bench.drop("sound", as: "note.m4a"))
    try bench.process(first.key, with: custody)
    _ = custody.settle()
    let before = try bench.ack(first.key.name)
    bench.time.advance(by: 5 * 365 * 86_400)
    let custody = try bench.custody()
    let again = try bench.drop("sound", as: "copy (1).m4a", sidecar: #"{"noteId":"\#(Self.id)"}"#)
    guard case .duplicate(let note) = try custody.takeIn(again) else {
      Issue.record("it is no duplicate")
      return
    }
    #expect(note.key == first.key && note.state == .uploaded)
    let report = custody.settle()
    #expect(report.released.map(\.place) == [.accepted, .accepted])
    #expect(
      bench.files(in: bench.inbox)
        == ["accepted/copy (1).json", "accepted/copy (1).m4a", "accepted/note.m4a"])
    // The device that knows it by a name of its own hears of it by that name.
    #expect(try bench.ack(Self.id)["status"] == .text("uploaded"))
    #expect(try bench.ack(first.key.name)["uploadedAt"] == before["uploadedAt"])
    #expect(try store.events(of: first.key).last?.reason == "arrived again as copy (1).m4a")
    #expect(try custody.dueNotes(limit: 9) == [])
  }

  @Test("a duplicate of what is not done yet stays until it is")
  func duplicateOfUnfinished() throws {
    let note = try receive(try bench.drop("sound", as: "a.m4a"))
    #expect(try custody.takeIn(try bench.drop("sound", as: "b.m4a")).note?.key == note.key)
    #expect(custody.settle().released.isEmpty)
    try bench.process(note.key, with: custody)
    #expect(custody.settle().released.count == 2)
    #expect(bench.files(in: bench.inbox) == ["accepted/a.m4a", "accepted/b.m4a"])
  }

  @Test("the same sound in other bytes is acknowledged without being processed to its end")
  func duplicateSound() throws {
    let first = try receive(try bench.drop("sound", as: "a.m4a"))
    try bench.process(first.key, with: custody, sound: "S")
    let second = try receive(try bench.drop("sound, tagged anew", as: "b.m4a"))
    guard
      case .duplicate(let note, let original) = try bench.process(
        second.key, with: custody, sound: "S")
    else {
      Issue.record("it is no duplicate")
      return
    }
    #expect(original == first.key && note.state == .uploaded && note.original == first.key)
    _ = custody.settle()
    #expect(bench.files(in: bench.inbox) == ["accepted/a.m4a", "accepted/b.m4a"])
    #expect(try bench.ack(second.key.name)["duplicateOf"] == .text(first.key.name))
    let third = try receive(try bench.drop("other sound", as: "c.m4a"))
    #expect(try bench.process(third.key, with: custody, sound: "T").isAccepted)
  }

  @Test("two that sound alike and are processed at once: one is done, the other with it")
  func soundAlikeAtOnce() throws {
    let first = try receive(try bench.drop("sound", as: "a.m4a"))
    let second = try receive(try bench.drop("sound, tagged anew", as: "b.m4a"))
    _ = try custody.begin(first.key)
    _ = try custody.begin(second.key)
    let sound = SHA256.digest(of: "S")
    guard case .accepted = try custody.accept(first.key, sound: sound),
      case .duplicate(let waiting, _) = try custody.accept(second.key, sound: sound)
    else {
      Issue.record("they were not told apart")
      return
    }
    #expect(waiting.state == .received && waiting.waitsForOriginal)
    #expect(try custody.dueNotes(limit: 9) == [])
    _ = try custody.finish(first.key)
    #expect(try store.note(second.key)?.state == .uploaded)
    #expect(custody.settle().released.count == 2)
  }

  @Test("one that waits for the same sound goes its own way when the other fails")
  func soundAlikeFailing() throws {
    let first = try receive(try bench.drop("sound", as: "a.m4a"))
    let second = try receive(try bench.drop("sound, tagged anew", as: "b.m4a"))
    _ = try custody.begin(first.key)
    _ = try custody.begin(second.key)
    let sound = SHA256.digest(of: "S")
    _ = try custody.accept(first.key, sound: sound)
    _ = try custody.accept(second.key, sound: sound)
    _ = try custody.fail(first.key, StageError("cannot encode", cause: .input))
    #expect(try custody.dueNotes(limit: 9).map(\.key) == [second.key])
    #expect(try bench.process(second.key, with: custody, sound: "S").isAccepted)
  }

  @Test("the same identity with other bytes: both are kept, and it is told")
  func conflict() throws {
    let sidecar = #"{"noteId":"\#(Self.id)"}"#
    let first = try receive(try bench.drop("sound", as: "a.m4a", sidecar: sidecar))
    let intake = try custody.takeIn(try bench.drop("other", as: "b.m4a", sidecar: sidecar))
    guard case .conflict(let claim, with: first.key) = intake else {
      Issue.record("it is no conflict: \(intake)")
      return
    }
    #expect(claim.state == .received && claim.key != first.key)
    // Only its sound tells.
    guard
      case .conflict(let second, with: first.key) = try bench.process(
        claim.key, with: custody, sound: "O")
    else {
      Issue.record("it was accepted")
      return
    }
    #expect(second.state == .quarantined)
    #expect(try store.text(of: second.recording) == "other")
    _ = custody.settle()
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
    #expect(try store.events(of: first.key).last?.reason?.contains("claims to be it") == true)
    // Once more the same is no second conflict.
    let again = try custody.takeIn(try bench.drop("other", as: "c.m4a", sidecar: sidecar))
    #expect(again.note?.key == second.key)
    #expect(try store.tally()[.quarantined] == 1)
    // Let in, it is processed like any other, and its file goes where accepted ones go.
    _ = try custody.change(second.key, .release(reason: nil))
    try bench.process(second.key, with: custody)
    _ = custody.settle()
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
    try bench.process(first.key, with: custody, sound: "S")
    let claim = try custody.takeIn(try bench.drop("other", as: "b.m4a", sidecar: sidecar)).note
    let second = try #require(claim)
    guard
      case .duplicate(let repeated, of: first.key) = try bench.process(
        second.key, with: custody, sound: "S")
    else {
      Issue.record("it is no duplicate")
      return
    }
    #expect(repeated.conflict == nil && repeated.state == .uploaded)
    _ = custody.settle()
    #expect(
      bench.files(in: bench.inbox) == [
        "accepted/a.json", "accepted/a.m4a", "accepted/b.json", "accepted/b.m4a",
      ])
    #expect(try bench.ack(Self.id)["id"] == .text(first.key.name))
    #expect(try bench.ack(second.key.name)["duplicateOf"] == .text(first.key.name))
    #expect(try store.note(named: Self.id)?.key == first.key)
  }

  @Test("a policy lets conflicts in")
  func conflictPolicy() throws {
    let custody = try bench.custody(store) { $0.conflicts = .process }
    let sidecar = #"{"uuid":"\#(Self.id)"}"#
    _ = try custody.takeIn(try bench.drop("sound", as: "a.m4a", sidecar: sidecar))
    let intake = try custody.takeIn(try bench.drop("other", as: "b.m4a", sidecar: sidecar))
    #expect(intake.note?.state == .received && intake.note?.conflict != nil)
    #expect(try custody.dueNotes(limit: 9).count == 2)
  }

  @Test("the same recording for two pipelines is two notes")
  func pipelines() throws {
    let note = try receive(try bench.drop("sound", as: "a.m4a"))
    let other = try bench.custody(store, pipeline: "podcast")
    let intake = try other.takeIn(try bench.drop("sound", as: "b.m4a"))
    #expect(intake.note?.key != note.key && intake.note?.state == .received)
  }

  @Test("what cannot be accepted is kept, and quarantined with its reason")
  func refusal() throws {
    let recording = try bench.drop("half", as: "a.m4a")
    let intake = try custody.takeIn(recording, refusal: "it ends before its declared length")
    guard case .quarantined(let note) = intake else {
      Issue.record("\(intake)")
      return
    }
    _ = custody.settle()
    #expect(
      bench.files(in: bench.inbox) == ["quarantine/a.m4a", "quarantine/a.m4a.reason.json"])
    let reason = try bench.json(bench.inbox + "/quarantine/a.m4a.reason.json")
    #expect(reason["reason"] == .text("it ends before its declared length"))
    #expect(try bench.ack(note.key.name)["error"] == .text("it ends before its declared length"))
    #expect(try store.events(of: note.key).map(\.state) == [.received, .quarantined])
  }
}

extension NoteAcceptance {
  /// Whether the note is to be gone on with.
  var isAccepted: Bool {
    if case .accepted = self { return true }
    return false
  }
}

import Foundation
import Hashing
import JSONText
import PipelineModel
import Store
import TestSupport
import Testing

@testable import Inbox

@Suite("Taking transcripts in")
struct CustodyTranscriptTests {
  private let bench: CustodyBench
  private let store: DiskStore
  private let custody: Custody

  init() throws {
    bench = try CustodyBench()
    store = try bench.store()
    custody = try bench.custody(store)
  }

  /// A recording with files beside it, as a watcher that takes transcripts tells it.
  private func receive(
    _ name: String, sidecar: String? = nil, transcripts: [(name: String, text: String)] = []
  ) throws -> Note {
    let recording = try bench.drop("sound of \(name)", as: name, sidecar: sidecar)
    let paths = try transcripts.map { transcript in
      let path = try #require(InboxPath(transcript.name))
      try bench.write(transcript.text, to: path)
      return path
    }
    let intake = try custody.takeIn(
      SettledRecording(
        path: recording.path, stamp: recording.stamp, sidecar: recording.sidecar, nameCount: 1,
        transcripts: paths))
    let note = intake.note
    return try #require(note)
  }

  private func transcripts(of note: Note) throws -> [String] {
    try store.files(of: note.key).compactMap(\.transcript).map { try store.text(of: $0) }
  }

  @Test("transcripts come into the store with their recording, and leave the inbox with it")
  func together() throws {
    let note = try receive(
      "a.m4a", transcripts: [("a.txt", "what is said"), ("a.m4a.srt", "captions")])
    #expect(try transcripts(of: note) == ["what is said", "captions"])
    _ = custody.settle()
    #expect(try bench.ack(note.acknowledgementName)["transcript"] == .text("a.txt"))
    #expect(bench.files(in: bench.inbox) == ["a.m4a", "a.m4a.srt", "a.txt"])
    try bench.process(note.key, with: custody)
    _ = custody.settle()
    #expect(
      bench.files(in: bench.inbox)
        == ["accepted/a.m4a", "accepted/a.m4a.srt", "accepted/a.txt"])
  }

  @Test("what is deleted from the inbox is in the store, and is never freed while it is needed")
  func deleted() throws {
    let custody = try bench.custody(store) {
      $0.keep = .delete
      $0.asidePeriod = 0
      $0.unseenAsidePeriod = 0
    }
    let note = try receive("a.m4a", transcripts: [("a.txt", "what is said")])
    try bench.process(note.key, with: custody)
    for _ in 0..<3 {
      _ = custody.settle()
      bench.time.advance(by: 100)
    }
    #expect(bench.files(in: bench.inbox) == [])
    var policy = CollectionPolicy()
    (policy.age, policy.grace) = (0, 0)
    _ = try store.collect(policy)
    #expect(try transcripts(of: note) == ["what is said"])
  }

  @Test("one that comes before its recording is begun is attached, and a later one is left there")
  func late() throws {
    let note = try receive("a.m4a")
    let text = try #require(InboxPath("a.txt"))
    try bench.write("what is said", to: text)
    let stamp = try bench.stamp(of: text)
    guard case .attached(let known) = try custody.takeTranscript(at: text, stamp: stamp) else {
      Issue.record("it was not attached")
      return
    }
    #expect(known.key == note.key && KeptFacts(of: known).transcript == "a.txt")
    #expect(try transcripts(of: note) == ["what is said"])
    #expect(custody.isKnown(text, stamp))
    #expect(try store.events(of: note.key).last?.reason == "its transcript came")
    try bench.process(note.key, with: custody)
    let captions = try #require(InboxPath("a.srt"))
    try bench.write("captions", to: captions)
    guard
      case .late(let done) = try custody.takeTranscript(
        at: captions, stamp: try bench.stamp(of: captions))
    else {
      Issue.record("it was taken")
      return
    }
    #expect(done.key == note.key)
    _ = custody.settle()
    #expect(bench.files(in: bench.inbox) == ["a.srt", "accepted/a.m4a", "accepted/a.txt"])
  }

  @Test("one without a recording waits, one that changed is looked at again")
  func alone() throws {
    let text = try #require(InboxPath("b.txt"))
    try bench.write("what is said", to: text)
    let stamp = try bench.stamp(of: text)
    #expect(try custody.takeTranscript(at: text, stamp: stamp) == .waiting)
    _ = try receive("b.m4a")
    try bench.write("what is said, and more", to: text)
    #expect(try custody.takeTranscript(at: text, stamp: stamp) == .changed)
  }

  @Test(
    "the acknowledgement names the file that says what is said",
    arguments: [
      (#"{"transcript":"said.txt"}"#, "said.txt"), (#"{"transcript":"Hello there"}"#, "a.json"),
      (#"{"title":"Lunch"}"#, "a.txt"),
    ])
  func named(sidecar: String, name: String) throws {
    let note = try receive(
      "a.m4a", sidecar: sidecar, transcripts: [("a.txt", "one"), ("said.txt", "two")])
    #expect(KeptFacts(of: note).transcript == name)
  }
}

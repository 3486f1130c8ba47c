import Foundation
@testable import Intake
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

@Suite("Taking transcripts in")
struct CustodyTranscriptTests {
  private let bench: ProcessorBench
  private let store: DiskStore
  private let processor: InboxProcessor

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
    processor = try bench.processor(store)
  }

  /// A recording with files beside it, as a watcher that takes transcripts tells it.
  private func receive(
    _ name: String, sidecar: String? = nil, transcripts: [(name: String, text: String)] = []
  ) throws -> Recording {
    let arrived = try bench.drop("sound of \(name)", as: name, sidecar: sidecar)
    let paths = try transcripts.map { transcript in
      let path = try #require(InboxPath(transcript.name))
      try bench.write(transcript.text, to: path)
      return path
    }
    let intake = try processor.takeIn(
      StableRecording(
        path: arrived.path, stamp: arrived.stamp, sidecar: arrived.sidecar, nameCount: 1,
        transcripts: paths))
    let recording = intake.recording
    return try #require(recording)
  }

  private func transcripts(of recording: Recording) throws -> [String] {
    try store.recordings.files(of: recording.key).filter { $0.role == .transcript }
      .compactMap(\.companion).map {
        try store.text(of: $0)
      }
  }

  @Test("transcripts come into the store with their recording, and leave the inbox with it")
  func together() throws {
    let recording = try receive(
      "a.m4a", transcripts: [("a.txt", "what is said"), ("a.m4a.srt", "captions")])
    #expect(try transcripts(of: recording) == ["what is said", "captions"])
    _ = processor.settle()
    #expect(try bench.ack(recording.acknowledgementName)["transcript"] == .text("a.txt"))
    #expect(bench.files(in: bench.inbox) == ["a.m4a", "a.m4a.srt", "a.txt"])
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    #expect(
      bench.files(in: bench.inbox)
        == ["accepted/a.m4a", "accepted/a.m4a.srt", "accepted/a.txt"])
  }

  @Test("what is deleted from the inbox is in the store, and is never freed while it is needed")
  func deleted() throws {
    let processor = try bench.processor(store) {
      $0.keep = .delete
      $0.asidePeriod = 0
      $0.unseenAsidePeriod = 0
    }
    let recording = try receive("a.m4a", transcripts: [("a.txt", "what is said")])
    try bench.process(recording.key, with: processor)
    for _ in 0..<3 {
      _ = processor.settle()
      bench.time.advance(by: 100)
    }
    #expect(bench.files(in: bench.inbox) == [])
    var policy = CollectionPolicy()
    (policy.age, policy.grace) = (0, 0)
    _ = try store.collect(policy)
    #expect(try transcripts(of: recording) == ["what is said"])
  }

  @Test("one that comes before its recording is begun is attached, and a later one is left there")
  func late() throws {
    let recording = try receive("a.m4a")
    let text = try #require(InboxPath("a.txt"))
    try bench.write("what is said", to: text)
    let stamp = try bench.stamp(of: text)
    let known = try #require(try processor.takeTranscript(at: text, stamp: stamp).attached)
    #expect(known.key == recording.key && StoredFacts(of: known).transcript == "a.txt")
    #expect(try transcripts(of: recording) == ["what is said"])
    #expect(processor.isKnown(text, stamp))
    #expect(try store.recordings.events(of: recording.key).last?.reason == "its transcript came")
    try bench.process(recording.key, with: processor)
    let captions = try #require(InboxPath("a.srt"))
    try bench.write("captions", to: captions)
    guard
      case .late(let done) = try processor.takeTranscript(
        at: captions, stamp: try bench.stamp(of: captions))
    else {
      Issue.record("it was taken")
      return
    }
    #expect(done.key == recording.key)
    _ = processor.settle()
    #expect(bench.files(in: bench.inbox) == ["a.srt", "accepted/a.m4a", "accepted/a.txt"])
  }

  @Test("one that only the sidecar names is attached when it comes, unless another folder has it")
  func named() throws {
    let recording = try receive("a.m4a", sidecar: #"{"transcript":"said.txt"}"#)
    #expect(StoredFacts(of: recording).transcript == nil)
    for path in ["other/said.txt", "said.txt"] {
      let text = try #require(InboxPath(path))
      try bench.write("what is said", to: text)
      let outcome = try processor.takeTranscript(at: text, stamp: try bench.stamp(of: text))
      #expect(outcome.attached?.key == (path == "said.txt" ? recording.key : nil))
    }
    let known = try #require(try store.recordings.recording(recording.key))
    #expect(StoredFacts(of: known).transcript == "said.txt")
    #expect(try transcripts(of: recording) == ["what is said"])
  }

  @Test(
    "one that comes with a copy is used if its recording waits, and is left there if it is done")
  func withCopy() throws {
    let recording = try receive("a.m4a")
    func copy(_ text: String, _ name: String) throws -> Recording {
      let arrived = try bench.drop("sound of a.m4a", as: name + ".m4a")
      let path = try #require(InboxPath(name + ".txt"))
      try bench.write(text, to: path)
      let copy = StableRecording(
        path: arrived.path, stamp: arrived.stamp, sidecar: nil, nameCount: 1, transcripts: [path])
      return try #require(try processor.takeIn(copy).recording)
    }
    let known = try copy("what is said", "b")
    #expect(known.key == recording.key && StoredFacts(of: known).transcript == "b.txt")
    try bench.process(recording.key, with: processor)
    // The same once more goes with it, and another one stays, as one that came too late.
    _ = try copy("what is said", "c")
    _ = try copy("what else is said", "d")
    _ = processor.settle()
    #expect(
      bench.files(in: bench.inbox) == [
        "accepted/a.m4a", "accepted/b.m4a", "accepted/b.txt", "accepted/c.m4a", "accepted/c.txt",
        "accepted/d.m4a", "d.txt",
      ])
    let text = try #require(InboxPath("d.txt"))
    guard
      case .late(let late) = try processor.takeTranscript(
        at: text, stamp: try bench.stamp(of: text))
    else {
      Issue.record("it was taken")
      return
    }
    #expect(late.key == recording.key)
    // Given back, it is beside the recording by name.
    let target = try ScratchFolder()
    _ = try store.writeOriginals(
      of: try #require(try store.recordings.recording(late.key)), to: target.path)
    #expect(Workspace.names(in: target.path) == ["a.m4a", "a.txt"])
  }

  @Test("one that the store has lost is taken in again by itself, and no other")
  func lost() throws {
    let recording = try receive("a.m4a", transcripts: [("a.txt", "what is said")])
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    let file = try #require(
      try store.recordings.files(of: recording.key).first { $0.role == .transcript })
    try FileManager.default.removeItem(atPath: store.path(of: try #require(file.companion)))
    try FileManager.default.removeItem(atPath: bench.inbox + "/accepted/a.txt")
    let error = #expect(throws: SpoolError.self) {
      try store.writeOriginals(of: recording, to: bench.outbox)
    }
    #expect(error?.description.contains("a.txt") == true, "\(error?.description ?? "")")
    let text = try #require(InboxPath("a.txt"))
    try bench.write("what is SAID", to: text)
    guard
      case .held = try processor.takeTranscript(
        at: text, stamp: try bench.stamp(of: text), mayWait: true)
    else {
      Issue.record("another one was taken")
      return
    }
    try bench.write("what is said", to: text)
    let outcome = try processor.takeTranscript(
      at: text, stamp: try bench.stamp(of: text), mayWait: true)
    #expect(outcome == .known(try #require(try store.recordings.recording(recording.key))))
    #expect(try transcripts(of: recording) == ["what is said", "what is said"])
    #expect(processor.settle().released.map(\.place) == [.accepted])
  }

  @Test("the transcript of a new recording is not taken for that of a finished one of its name")
  func sameName() throws {
    let first = try receive("a.m4a", transcripts: [("a.txt", "what is said")])
    try bench.process(first.key, with: processor)
    _ = processor.settle()
    let text = try #require(InboxPath("a.txt"))
    try bench.write("what else is said", to: text)
    let stamp = try bench.stamp(of: text)
    let held = InboxProcessor.CompanionOutcome.held(
      try #require(try store.recordings.recording(first.key)))
    #expect(try processor.takeTranscript(at: text, stamp: stamp, mayWait: true) == held)
    let arrived = try bench.drop("other sound", as: "a.m4a")
    #expect(try processor.takeTranscript(at: text, stamp: stamp) == held)
    try FileManager.default.removeItem(atPath: bench.inbox + "/" + arrived.path.description)
    guard case .late = try processor.takeTranscript(at: text, stamp: stamp) else {
      Issue.record("it was taken")
      return
    }
  }

  @Test("one that comes again after its recording was quarantined waits for that to come again")
  func again() throws {
    let arrived = try bench.drop("half", as: "a.m4a")
    let text = try #require(InboxPath("a.txt"))
    try bench.write("what is said", to: text)
    _ = try processor.takeIn(
      StableRecording(
        path: arrived.path, stamp: arrived.stamp, sidecar: nil, nameCount: 1, transcripts: [text]),
      refusal: "it is not whole")
    _ = processor.settle()
    #expect(bench.files(in: bench.inbox).filter { $0.hasSuffix("a.txt") } == ["quarantine/a.txt"])
    try bench.write("what is said", to: text)
    #expect(
      try processor.takeTranscript(at: text, stamp: try bench.stamp(of: text)) == .waiting)
    // Another text is one that the quarantined recording may have waited for.
    try bench.write("what else is said", to: text)
    _ = try #require(
      try processor.takeTranscript(at: text, stamp: try bench.stamp(of: text)).attached)
  }

  @Test("one without a recording waits, one that changed is looked at again")
  func alone() throws {
    let text = try #require(InboxPath("b.txt"))
    try bench.write("what is said", to: text)
    let stamp = try bench.stamp(of: text)
    #expect(try processor.takeTranscript(at: text, stamp: stamp) == .waiting)
    _ = try receive("b.m4a")
    try bench.write("what is said, and more", to: text)
    #expect(try processor.takeTranscript(at: text, stamp: stamp) == .changed)
  }

  @Test(
    "the acknowledgement names the file that says what is said",
    arguments: [
      (#"{"transcript":"said.txt"}"#, "said.txt"), (#"{"transcript":"Hello there"}"#, "a.json"),
      (#"{"title":"Lunch"}"#, "a.txt"),
    ])
  func named(sidecar: String, name: String) throws {
    let recording = try receive(
      "a.m4a", sidecar: sidecar, transcripts: [("a.txt", "one"), ("said.txt", "two")])
    #expect(StoredFacts(of: recording).transcript == name)
  }
}

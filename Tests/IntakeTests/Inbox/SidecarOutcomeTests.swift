import Foundation
@testable import Intake
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

@Suite("Taking sidecars in")
struct CustodySidecarTests {
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
    let recording = try processor.takeIn(arrived).recording
    return try #require(recording)
  }

  @Test("a sidecar that comes late is taken for its recording's, soon after it")
  func lateSidecar() throws {
    let recording = try receive(try bench.drop("sound", as: "a.m4a"))
    let path = try #require(InboxPath("a_meta.json"))
    try bench.write(#"{"noteId":"\#(Self.id)","title":"Lunch"}"#, to: path)
    let known = try #require(
      try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path)).attached)
    #expect(known.key == recording.key && known.deviceID == Self.id && known.title == "Lunch")
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    #expect(bench.files(in: bench.inbox) == ["accepted/a.m4a", "accepted/a_meta.json"])
    // Much later, the same name is another recording's.
    bench.time.advance(by: 7200)
    try bench.write(#"{"title":"Dinner"}"#, to: path)
    #expect(try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path)) == .waiting)
    let lone = try #require(InboxPath("b.json"))
    try bench.write("{}", to: lone)
    #expect(try processor.takeSidecar(at: lone, stamp: try bench.stamp(of: lone)) == .waiting)
  }

  @Test("one that was corrected in quarantine is taken, and a title that the user gave stays")
  func corrected() throws {
    let arrived = try bench.drop("sound", as: "a.m4a", sidecar: #"{"title":"Lunch"}"#)
    let spoiled = try #require(try processor.takeIn(arrived, refusal: "wrong").recording)
    _ = processor.settle()
    let path = try #require(InboxPath("quarantine/a.json"))
    func retake(_ text: String?) throws -> Recording {
      if let text { try bench.write(text, to: path) }
      try store.retakeSidecar(of: try #require(try store.recordings.recording(spoiled.key)))
      return try #require(try store.recordings.recording(spoiled.key))
    }
    #expect(try retake(nil).sidecar == spoiled.sidecar, "it is as it came")
    #expect(try retake("{").sidecar == spoiled.sidecar, "it does not read")
    let corrected = try retake(#"{"title":"Dinner","watchModel":"W1"}"#)
    #expect(corrected.title == "Dinner" && corrected.sidecar != spoiled.sidecar)
    _ = try store.recordings.change(spoiled.key, .rename("Supper"))
    let again = try retake(#"{"title":"Tea"}"#)
    #expect(again.title == "Supper" && again.sidecar != corrected.sidecar)
    // It leaves quarantine with its recording, under its name.
    _ = try store.recordings.change(spoiled.key, .retry(reason: nil))
    try bench.process(spoiled.key, with: processor)
    _ = processor.settle()
    #expect(bench.files(in: bench.inbox) == ["accepted/a.json", "accepted/a.m4a"])
    let files = try store.recordings.files(of: spoiled.key).filter { $0.role == .sidecar }
    #expect(files.map(\.place) == [.gone, .gone, .accepted])
  }

  @Test("what a sidecar asked of the pipeline is void once it was corrected in quarantine")
  func voidSettings() throws {
    let sidecar = #"{"spool":{"set":{"level":"1"}},"place":"Rome","sensitive":true}"#
    let arrived = try bench.drop("sound", as: "a.m4a", sidecar: sidecar)
    let recording = try #require(try processor.takeIn(arrived, refusal: "wrong").recording)
    #expect(StoredFacts(of: recording).request != nil)
    _ = processor.settle()
    let path = try #require(InboxPath("quarantine/a.json"))
    try bench.write(#"{"place":"Oslo","spool":{"set":{"level":"2"}}}"#, to: path)
    func retaken() throws -> Recording {
      try store.retakeSidecar(of: try #require(try store.recordings.recording(recording.key)))
      return try #require(try store.recordings.recording(recording.key))
    }
    #expect(try retaken().facts?.contains(#""level":"2""#) == true)
    try bench.write(#"{"title":"Lunch"}"#, to: path)
    let corrected = try retaken()
    #expect(corrected.title == "Lunch" && StoredFacts(of: corrected).request == nil)
    // What describes the recording stays.
    let facts = try #require(corrected.facts)
    #expect(facts.contains("Oslo") && facts.contains(#""sensitive":true"#), "\(facts)")
  }

  @Test("what the sidecar of a copy says fills in what was missing, and what differs is told")
  func copies() throws {
    let first = try receive(
      try bench.drop("sound", as: "a.m4a", sidecar: #"{"title":"Lunch","watchModel":"W1"}"#))
    #expect(first.tags.isEmpty)
    let copy = try receive(
      try bench.drop(
        "sound", as: "b.m4a",
        sidecar: #"{"title":"Dinner","createdAt":"2026-11-20T10:00:00Z","tags":["food"]}"#))
    #expect(copy.key == first.key && copy.title == "Lunch" && copy.tags == ["food"])
    #expect(copy.sidecar == first.sidecar, "its own sidecar stays")
    let facts = StoredFacts(of: copy)
    #expect(facts.createdAt?.hasPrefix("2026-11-20T10:00:00") == true)
    #expect(facts.differences == ["title: Lunch, and Dinner by a copy's sidecar"])
    _ = processor.settle()
    let text = AcknowledgementText.acknowledgement(of: copy, named: copy.key.name, claimants: [])
    #expect(text.contains("2026-11-20") && text.contains("Dinner by a copy's sidecar"))
    // The same once more says nothing new.
    let again = try receive(
      try bench.drop("sound", as: "c.m4a", sidecar: #"{"title":"Dinner","tags":["food"]}"#))
    #expect(StoredFacts(of: again).differences == facts.differences)
  }

  @Test(
    "any sidecar of a recording that says so makes it sensitive, however the key is written",
    arguments: ["sensitive", "Sensitive", "SENSITIVE"])
  func sensitive(key: String) throws {
    let said = "{\"\(key)\":\"yes\"}"
    let own = try receive(try bench.drop("sound", as: "a.m4a", sidecar: said))
    #expect(StoredFacts(of: own).isSensitive)
    #expect(!StoredFacts(of: try receive(try bench.drop("b", as: "b.m4a"))).isSensitive)
    let copy = try receive(try bench.drop("b", as: "c.m4a", sidecar: said))
    #expect(StoredFacts(of: copy).isSensitive)
    let no = "{\"\(key)\":false}"
    let open = try receive(try bench.drop("d", as: "d.m4a", sidecar: no))
    #expect(!StoredFacts(of: open).isSensitive)
  }

  @Test("the sidecar of a copy is the recording's own where that had none, whatever it says")
  func firstOfCopy() throws {
    for (number, sidecar) in [
      #"{"spool":{"set":{"level":"-9 dB"}}}"#, #"{"title":"Garage","spool":{"set":{"n":"7"}}}"#,
    ].enumerated() {
      let first = try receive(try bench.drop("sound \(number)", as: "a\(number).m4a"))
      #expect(first.sidecar == nil)
      let copy = try receive(
        try bench.drop("sound \(number)", as: "b\(number).m4a", sidecar: sidecar))
      #expect(copy.key == first.key)
      let own = try #require(copy.sidecar)
      #expect(try store.bytes(of: own) == Array(sidecar.utf8))
    }
  }

  @Test("a sidecar that comes behind a copy gives it a name of its own, which is acknowledged")
  func lateCopies() throws {
    let other = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    let first = try receive(
      try bench.drop("sound", as: "a.m4a", sidecar: #"{"noteId":"\#(Self.id)","title":"Lunch"}"#))
    let copy = try receive(try bench.drop("sound", as: "b.m4a"))
    #expect(copy.key == first.key)
    let path = try #require(InboxPath("b.json"))
    try bench.write(#"{"noteId":"\#(other)","tags":["late"]}"#, to: path)
    let recording = try #require(
      try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path)).attached)
    #expect(
      recording.key == first.key && recording.deviceID == Self.id && recording.tags == ["late"])
    #expect(try store.recordings.acknowledgementNames(of: recording).contains(other))
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    #expect(bench.files(in: bench.inbox).allSatisfy { $0.hasPrefix("accepted/") })
    // Another identity beside the note's own file is another recording's, which has yet to come.
    let stranger = try #require(InboxPath("a.json"))
    try bench.write(#"{"noteId":"1b4e28ba-2fa1-41d2-883f-0016d3cca427"}"#, to: stranger)
    #expect(
      try processor.takeSidecar(at: stranger, stamp: try bench.stamp(of: stranger)) == .waiting)
  }

  @Test("the sidecar of a new recording never goes to a finished one of the same name")
  func sameName() throws {
    let first = try receive(try bench.drop("sound", as: "New.m4a"))
    try bench.process(first.key, with: processor)
    _ = processor.settle()
    #expect(bench.files(in: bench.inbox) == ["accepted/New.m4a"])
    let path = try #require(InboxPath("New.json"))
    try bench.write(#"{"title":"Benches"}"#, to: path)
    let stamp = try bench.stamp(of: path)
    let held = InboxProcessor.CompanionOutcome.held(
      try #require(try store.recordings.recording(first.key)))
    // It came first, and another recording may follow it.
    #expect(try processor.takeSidecar(at: path, stamp: stamp, mayWait: true) == held)
    // One is on its way, under its own name or that of a transfer.
    for name in ["New.m4a", ".syncthing.New.m4a.tmp", "New.m4a.part"] {
      let other = try bench.drop("other sound", as: name)
      #expect(try processor.takeSidecar(at: path, stamp: stamp) == held, "\(name)")
      try FileManager.default.removeItem(atPath: bench.inbox + "/" + other.path.description)
    }
    // Files that are no recordings, or other ones', change nothing.
    _ = try bench.drop("a note", as: "New.pdf")
    _ = try bench.drop("sound", as: "Newer.m4a.part")
    let arrived = try bench.drop("other sound", as: "New.m4a")
    let second = try receive(
      StableRecording(path: arrived.path, stamp: arrived.stamp, sidecar: path, nameCount: 1))
    #expect(second.key != first.key && second.title == "Benches")
    #expect(try store.recordings.recording(first.key)?.sidecar == nil)
    // The one that is under way goes before the one that is done.
    try bench.process(second.key, with: processor)
    _ = processor.settle()
    let third = try receive(try bench.drop("third sound", as: "New.m4a"))
    try bench.write(#"{"title":"Garden"}"#, to: path)
    let known = try #require(
      try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path), mayWait: true).attached)
    #expect(known.key == third.key)
  }

  @Test("a late sidecar of a finished recording is taken for it, if it may be its own")
  func lateAndAlone() throws {
    let drop = try bench.drop("sound", as: "a.m4a")
    let recording = try #require(
      try processor.takeIn(drop, container: ContainerFacts(tags: [:], duration: 10)).recording)
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    let path = try #require(InboxPath("a.json"))
    try bench.write(#"{"duration":600}"#, to: path)
    #expect(try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path)) == .waiting)
    try bench.write(#"{"title":"Late","duration":10}"#, to: path)
    let known = try #require(
      try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path)).attached)
    #expect(known.key == recording.key)
  }

  @Test("what a recogniser wrote under the recording's name is no sidecar, and stays where it is")
  func transcripts() throws {
    let words = #"{"text":"hi","segments":[{"start":0,"end":1,"text":"hi"}],"language":"en"}"#
    let arrived = try bench.drop("sound", as: "a.m4a", sidecar: words)
    let recording = try receive(arrived)
    #expect(recording.sidecar == nil && recording.facts?.contains("segments") != true)
    let path = try #require(arrived.sidecar)
    #expect(try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path)) == .transcript)
    // A device's own word counts, whatever else it has heard.
    let own = try #require(InboxPath("a_meta.json"))
    try bench.write(#"{"title":"Lunch","segments":[]}"#, to: own)
    _ = try #require(try processor.takeSidecar(at: own, stamp: try bench.stamp(of: own)).attached)
  }

  @Test("a sidecar that is malformed, huge or a link does not keep its recording out")
  func badSidecars() throws {
    let malformed = try receive(try bench.drop("1", as: "a.m4a", sidecar: "{nonsense"))
    #expect(malformed.facts?.contains("problems") == true && malformed.sidecar != nil)
    let huge = try receive(
      try bench.drop("2", as: "b.m4a", sidecar: String(repeating: "x", count: 2 << 20)))
    #expect(huge.sidecar?.byteCount == 2 << 20 && huge.facts?.contains("at most") == true)
    let linked = try bench.drop("3", as: "c.m4a")
    try FileManager.default.createSymbolicLink(
      atPath: bench.inbox + "/c.json", withDestinationPath: "/etc/passwd")
    let recording = try receive(
      StableRecording(
        path: linked.path, stamp: linked.stamp, sidecar: InboxPath("c.json"), nameCount: 1))
    #expect(recording.sidecar == nil)
  }

  @Test("a sidecar that did not read is no one's for good: one that does takes its place")
  func rewritten() throws {
    let recording = try receive(try bench.drop("sound", as: "a.m4a", sidecar: #"{"title":"Lu"#))
    #expect(StoredFacts(of: recording).problems.count == 1)
    let path = try #require(InboxPath("a.json"))
    try bench.write(#"{"title":"Lunch","noteId":"\#(Self.id)"}"#, to: path)
    let mended = try #require(
      try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path)).attached)
    #expect(mended.deviceID == Self.id && StoredFacts(of: mended).problems.isEmpty)
    // The same once more is no news, and another one is none of its business.
    #expect(try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path)) == .known(mended))
    try bench.write(#"{"title":"Dinner"}"#, to: path)
    guard
      case .refused = try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path))
    else {
      Issue.record("it was replaced")
      return
    }
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    #expect(bench.files(in: bench.inbox) == ["a.json", "accepted/a.m4a"])
  }

  @Test("a late sidecar that speaks of more sound leaves a doubt")
  func longer() throws {
    let drop = try bench.drop("sound", as: "a.m4a")
    let recording = try #require(
      try processor.takeIn(drop, container: ContainerFacts(tags: [:], duration: 10)).recording)
    let path = try #require(InboxPath("a.json"))
    try bench.write(#"{"duration":60}"#, to: path)
    _ = try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path))
    let known = try #require(try store.recordings.recording(recording.key))
    #expect(
      StoredFacts(of: known).doubt == "its sidecar says 60.0 s, and it holds 10.0 s of sound")
  }

  @Test("a sidecar in the inbox is read up to its limit")
  func reading() throws {
    let path = try #require(InboxPath("a.json"))
    let folder = try InboxFolder(at: bench.inbox)
    try bench.write(
      "{\"title\":\"" + String(repeating: "x", count: Sidecar.byteLimit) + "\"}", to: path)
    #expect(try !Sidecar(reading: folder.open(path)).isReadable)
    try bench.write("{\"title\":\"fits\"}", to: path)
    let read = try Sidecar(reading: folder.open(path))
    #expect(read.title == "fits" && read.problems == [] && read.isReadable)
  }
}

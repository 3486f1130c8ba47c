import Foundation
@testable import Intake
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

/// A connection breaks, and the recording is sent again later without what came with it at first.
@Suite("What came with a cut-off recording")
struct CutVersionTests {
  private let bench: ProcessorBench
  private let store: DiskStore
  private let processor: InboxProcessor

  private static let id = "0f8fad5b-d9cb-469f-a165-70867728950e"
  private static let text = #"{"noteId":"\#(id)","title":"Interview","tags":["a"]}"#
  private static let beginning = String(repeating: "sound ", count: 1000)

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
    processor = try bench.processor(store)
  }

  private func takeCut(_ text: String = Self.beginning) throws -> Recording {
    let arrival = try bench.drop(text, as: "a.m4a", sidecar: Self.text)
    let recording = try #require(try processor.takeIn(arrival, refusal: "it is cut off").recording)
    #expect(processor.settle().problems.isEmpty)
    return recording
  }

  private func takeWhole(_ text: String = Self.beginning + "and more") throws -> Recording {
    try #require(try processor.takeIn(try bench.drop(text, as: "a.m4a")).recording)
  }

  private func unused(_ recording: Recording) throws -> [String] {
    try store.recordings.companionsQuarantined(
      besides: recording, try store.recordings.files(of: recording.key)
    ).map(\.location)
  }

  @Test(
    "its sidecar is that of the whole recording, which leaves with it, and nothing is to be done")
  func sidecar() throws {
    let cut = try takeCut()
    #expect(try store.recordings.tally().nextCommands.count == 1)
    let whole = try takeWhole()
    #expect(whole.title == "Interview" && whole.tags == ["a"] && whole.sidecar == cut.sidecar)
    #expect(whole.deviceID == Self.id && whole.acknowledgementName == Self.id)
    #expect(
      try store.recordings.files(of: whole.key).map(\.location).sorted() == [
        "a.m4a", "quarantine/a.json",
      ])
    #expect(try unused(whole).isEmpty)
    #expect(try store.recordings.tally().nextCommands.count == 1)
    try bench.process(whole.key, with: processor)
    #expect(processor.settle().problems.isEmpty)
    #expect(
      bench.files(in: bench.inbox)
        == [
          "accepted/a.json", "accepted/a.m4a", "quarantine/a.m4a", "quarantine/a.m4a.reason.json",
        ])
    #expect(try store.recordings.tally().completed == [cut.key])
    #expect(try store.recordings.tally().nextCommands == [])
    // What the whole recording has is not lost with the cut one, as where a backup was restored.
    for path in [try store.path(of: cut.content), bench.inbox + "/quarantine/a.m4a"] {
      try FileManager.default.removeItem(atPath: path)
    }
    #expect(try store.lostOriginals().isEmpty)
    #expect(
      try Inspection(of: bench.storeFolder).run().findings.allSatisfy { $0.subject != cut.key.name }
    )
  }

  @Test("nothing is to be done either where the whole recording was there before, by another name")
  func knownBefore() throws {
    let whole = try #require(
      try processor.takeIn(try bench.drop(Self.beginning + "and more", as: "b.m4a")).recording)
    try bench.process(whole.key, with: processor)
    #expect(processor.settle().problems.isEmpty)
    let cut = try takeCut()
    #expect(try store.recordings.tally().nextCommands.count == 1)
    #expect(try takeWhole().key == whole.key)
    #expect(processor.settle().problems.isEmpty)
    #expect(try store.recordings.tally().completed == [cut.key])
    #expect(try store.recordings.tally().nextCommands == [])
  }

  @Test("with other bytes, or too few to tell, it is named and not used", arguments: [true, false])
  func otherBytes(isShort: Bool) throws {
    _ = try takeCut(isShort ? "sound" : Self.beginning)
    let other = try takeWhole(isShort ? "sound and more" : "x" + Self.beginning + "and more")
    #expect(other.title != "Interview" && other.sidecar == nil && other.deviceID == nil)
    #expect(try unused(other) == ["quarantine/a.json"])
    try bench.process(other.key, with: processor)
    #expect(try store.recordings.tally().nextCommands.count == 1)
    try FileManager.default.removeItem(atPath: bench.inbox + "/quarantine/a.json")
    #expect(try unused(other).isEmpty)
  }

  @Test("its own sidecar comes first, and one that is sent once more is this recording's")
  func ownSidecar() throws {
    _ = try takeCut()
    let arrival = try bench.drop(
      Self.beginning + "and more", as: "a.m4a", sidecar: #"{"title":"Corrected"}"#)
    let whole = try #require(try processor.takeIn(arrival).recording)
    #expect(whole.title == "Corrected" && whole.deviceID == nil)
    #expect(try unused(whole).isEmpty)
  }

  @Test(
    "one that comes again behind the whole recording is taken",
    arguments: [Self.text, #"{"title":"B"}"#])
  func again(text: String) throws {
    _ = try takeCut()
    let whole = try takeWhole()
    if text == Self.text {
      try bench.process(whole.key, with: processor)
      #expect(processor.settle().problems.isEmpty)
    }
    let path = try #require(InboxPath("a.json"))
    try bench.write(text, to: path)
    let outcome = try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path))
    switch outcome {
    case .known(let known): #expect(text == Self.text && known.key == whole.key)
    case .attached(let known): #expect(known.title == "B" && known.key == whole.key)
    default: Issue.record("\(outcome)")
    }
  }

  @Test("a transcript goes over, too")
  func transcript() throws {
    let path = try #require(InboxPath("a.txt"))
    var arrival = try bench.drop(Self.beginning, as: "a.m4a")
    try bench.write("What was said.", to: path)
    arrival.transcripts = [path]
    _ = try processor.takeIn(arrival, refusal: "it is cut off")
    #expect(processor.settle().problems.isEmpty)
    let whole = try takeWhole()
    #expect(StoredFacts(of: whole).transcript == "a.txt")
    let files = try store.recordings.files(of: whole.key)
    #expect(files.contains { $0.role == .transcript && $0.location == "quarantine/a.txt" })
  }
}

import Foundation
@testable import Intake
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

@Suite("What devices ask for")
struct CommandTests {
  private let bench: ProcessorBench
  private let store: DiskStore
  private let processor: InboxProcessor

  private static let id = "0f8fad5b-d9cb-469f-a165-70867728950e"

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
    processor = try bench.processor(store)
  }

  private func receive(_ text: String = "sound", as name: String = "a.m4a") throws -> Recording {
    let recording = try bench.drop(text, as: name, sidecar: #"{"noteId":"\#(Self.id)"}"#)
    return try #require(try processor.takeIn(recording).recording)
  }

  /// Delivers a command. - Returns: what came of it.
  @discardableResult
  private func send(
    _ id: String, _ fields: String, at second: Int = 0, in folder: String = ""
  ) throws -> CommandOutcome {
    let path = try #require(InboxPath("\(folder)\(id).command.json"))
    let time = #""issuedAt":"2027-01-15T08:00:\#(second < 10 ? "0" : "")\#(second)Z""#
    try bench.write(#"{"noteId":"\#(Self.id)",\#(time),\#(fields)}"#, to: path)
    return try processor.takeCommand(at: path, stamp: try bench.stamp(of: path))
  }

  private func status(_ outcome: CommandOutcome) -> RecordingCommandResult.Status? {
    if case .decided(let result, _) = outcome { result.status } else { nil }
  }

  private func answer(_ id: String) throws -> [String: JSONValue] {
    try bench.json("\(bench.outbox)/\(id).result.json")
  }

  @Test("a command is done, answered and moved away")
  func done() throws {
    let recording = try receive()
    let outcome = try send("c1", #""command":"rename","title":" Lunch\u0007 at\nnoon ""#)
    #expect(status(outcome) == .applied)
    #expect(status(try send("c2", #""command":"tag","tags":["a","b","a"]"#)) == .applied)
    let changed = try #require(try store.recordings.recording(recording.key))
    #expect(changed.title == "Lunch at noon" && changed.tags == ["a", "b"])
    #expect(processor.settle().answers == 2)
    #expect(try answer("c1")["status"] == .text("applied"))
    #expect(try bench.ack(Self.id)["title"] == .text("Lunch at noon"))
    #expect(
      bench.files(in: bench.inbox)
        == ["a.json", "a.m4a", "accepted/c1.command.json", "accepted/c2.command.json"])
  }

  @Test("delivered twice, also after a restart, it is done once")
  func twice() throws {
    let recording = try receive()
    try send("c1", #""command":"rename","title":"one""#, at: 1)
    try send("c2", #""command":"rename","title":"two""#, at: 2)
    _ = processor.settle()
    let again = try bench.processor()
    let path = try #require(InboxPath("c1.command.json"))
    try bench.write(#"{"noteId":"\#(Self.id)","command":"rename","title":"one"}"#, to: path)
    let outcome = try again.takeCommand(at: path, stamp: try bench.stamp(of: path))
    guard case .decided(let result, _) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(result.status == .applied && !result.isFresh)
    #expect(try store.recordings.recording(recording.key)?.title == "two")
    #expect(again.settle().answers == 1)
    #expect(
      try store.recordings.events(of: recording.key).filter { $0.reason == "renamed" }.count == 2)
  }

  @Test(
    "in whatever order they come, the last word counts",
    arguments: [
      [1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1],
    ])
  func order(order: [Int]) throws {
    let recording = try receive()
    for number in order {
      try send("c\(number)", #""command":"rename","title":"\#(number)""#, at: number)
      try send("t\(number)", #""command":"tag","tags":["\#(number)"]"#, at: number)
    }
    #expect(try store.recordings.recording(recording.key)?.title == "3")
    #expect(try store.recordings.recording(recording.key)?.tags == ["3"])
    _ = processor.settle()
    let superseded = try (1...3).filter { try answer("c\($0)")["status"] == .text("superseded") }
    let late = order.enumerated().filter { index, number in
      order[..<index].contains { $0 > number }
    }.map(\.element).sorted()
    #expect(superseded == late)
  }

  @Test("commands that come before their note wait for it, and are done in order")
  func early() throws {
    #expect(status(try send("c2", #""command":"rename","title":"second""#, at: 2)) == .waiting)
    #expect(status(try send("c1", #""command":"rename","title":"first""#, at: 1)) == .waiting)
    _ = processor.settle()
    #expect(try answer("c1")["status"] == .text("waiting"))
    let recording = try receive()
    #expect(recording.title == "second")
    _ = processor.settle()
    #expect(try answer("c1")["status"] == .text("applied"))
    #expect(try answer("c2")["status"] == .text("applied"))
  }

  @Test("retry and cancel do what the note's state allows")
  func processing() throws {
    let recording = try receive()
    #expect(status(try send("r0", #""command":"retry""#, at: 0)) == .refused)
    _ = try processor.begin(recording.key)
    #expect(status(try send("x1", #""command":"cancel""#, at: 1)) == .applied)
    // Whoever processes it learns that it is not wanted any more.
    _ = try processor.accept(recording.key, sound: nil)
    guard case .refused? = try processor.finish(recording.key) else {
      Issue.record("a cancelled note was uploaded")
      return
    }
    #expect(try processor.dueNotes(limit: 1) == [])
    #expect(status(try send("r2", #""command":"retry""#, at: 2)) == .applied)
    try bench.process(recording.key, with: processor)
    #expect(status(try send("x3", #""command":"cancel""#, at: 3)) == .refused)
    _ = processor.settle()
    #expect(try answer("x3")["reason"] == .text("it is uploaded"))
  }

  @Test(
    "malformed commands are answered and moved away",
    arguments: [
      "", "{", "[]", #"{"command":"rename"}"#, #"{"noteId":"x y","command":"retry"}"#,
      #"{"noteId":"a","command":"drop table"}"#, #"{"noteId":"a","command":"rename","title":7}"#,
      #"{"noteId":"a","command":"tag","tags":[[]]}"#,
      #"{"noteId":"a","command":"retry","issuedAt":"soon"}"#,
      #"{"noteId":"a","command":"retry","id":"other"}"#,
      String(repeating: "[", count: 100_000),
    ])
  func malformed(text: String) throws {
    let path = try #require(InboxPath("c1.command.json"))
    try bench.write(text, to: path)
    let outcome = try processor.takeCommand(at: path, stamp: try bench.stamp(of: path))
    guard case .malformed(let result, let reason) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(result.isFresh && result.decidedAt != nil)
    #expect(processor.settle().answers == 1)
    guard case .text = try answer("c1")["decidedAt"] else {
      Issue.record("the answer has no time")
      return
    }
    #expect(try answer("c1")["status"] == .text("refused"))
    #expect(try answer("c1")["reason"] == .text(reason))
    #expect(
      bench.files(in: bench.inbox)
        == ["quarantine/c1.command.json", "quarantine/c1.command.json.reason.json"])
  }

  @Test("a malformed command that comes again was refused before; mended, it is done")
  func malformedAgain() throws {
    let recording = try receive()
    let path = try #require(InboxPath("c1.command.json"))
    func send(_ text: String) throws -> RecordingCommandResult? {
      try bench.write(text, to: path)
      switch try processor.takeCommand(at: path, stamp: try bench.stamp(of: path)) {
      case .malformed(let result, _), .decided(let result, _): return result
      case .changed: return nil
      }
    }
    let first = try #require(try send("{"))
    _ = processor.settle()
    bench.time.advance(by: 60)
    let second = try #require(try send("{"))
    #expect(first.isFresh && !second.isFresh && second.decidedAt == first.decidedAt)
    // Whoever sends it again gets the answer again.
    #expect(processor.settle().answers == 1)
    #expect(try #require(try send("[]")).isFresh)
    let title = #"{"command":"rename","title":"Lunch","noteId":"\#(Self.id)"}"#
    #expect(try send(title)?.status == .applied)
    #expect(try store.recordings.recording(recording.key)?.title == "Lunch")
    // What cannot be read says nothing against what was done.
    let late = try #require(try send("{"))
    #expect(!late.isFresh && late.status == .applied && late.request == .rename("Lunch"))
    _ = processor.settle()
    #expect(try answer("c1")["status"] == .text("applied"))
  }

  @Test("a command that waited for its note is told once it is decided, and once only")
  func decidedLate() throws {
    #expect(status(try send("c1", #""command":"rename","title":"Lunch""#)) == .waiting)
    #expect(processor.settle().decidedLate.isEmpty)
    #expect(try store.recordings.tally(pipeline: processor.pipeline).waitingCommands?.count == 1)
    let recording = try receive()
    let told = processor.settle().decidedLate
    #expect(told.map(\.id) == ["c1"] && told.first?.recording == recording.key)
    #expect(told.first?.status == .applied && told.first?.request == .rename("Lunch"))
    #expect(try answer("c1")["status"] == .text("applied"))
    #expect(try store.recordings.tally(pipeline: processor.pipeline).waitingCommands == nil)
    #expect(status(try send("c1", #""command":"rename","title":"Lunch""#)) == .applied)
    #expect(processor.settle().decidedLate.isEmpty)
  }

  @Test("a hostile name reaches no path", arguments: ["..", "a b", "-rf", "a\nb", "é", ""])
  func hostile(id: String) throws {
    let path = try #require(InboxPath("\(id).command.json"))
    try bench.write(#"{"noteId":"a","command":"retry"}"#, to: path)
    guard case .malformed = try processor.takeCommand(at: path, stamp: try bench.stamp(of: path))
    else {
      Issue.record("it was done")
      return
    }
    _ = processor.settle()
    let names = bench.files(in: bench.outbox).filter { $0 != "state.json" }
    #expect(names.count == 1 && names.allSatisfy { $0.hasPrefix("x-") })
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: bench.path).sorted()
        == ["inbox", "outbox", "store"])
  }

  @Test("one that changed since it settled wants another look")
  func changed() throws {
    let path = try #require(InboxPath("c1.command.json"))
    try bench.write("{}", to: path)
    let stamp = try bench.stamp(of: path)
    try bench.write(#"{"noteId":"a","command":"retry"}"#, to: path)
    #expect(try processor.takeCommand(at: path, stamp: stamp) == .changed)
    try FileManager.default.removeItem(atPath: bench.inbox + "/c1.command.json")
    #expect(try processor.takeCommand(at: path, stamp: stamp) == .changed)
  }
}

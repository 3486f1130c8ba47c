import Foundation
@testable import Intake
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@Suite("Telling devices")
struct AcknowledgementTests {
  private let bench: ProcessorBench
  private let store: DiskStore
  private let processor: InboxProcessor

  private static let id = "0f8fad5b-d9cb-469f-a165-70867728950e"

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
    processor = try bench.processor(store)
  }

  private func receive(_ text: String, as name: String, id: String? = nil) throws -> Recording {
    let recording = try bench.drop(
      text, as: name, sidecar: id.map { #"{"noteId":"\#($0)","title":"T"}"# })
    return try #require(try processor.takeIn(recording).recording)
  }

  @Test("an acknowledgement says how the note stands, at every step")
  func steps() throws {
    let recording = try receive("sound", as: "a.m4a", id: Self.id)
    _ = processor.settle()
    var ack = try bench.ack(Self.id)
    #expect(ack["type"] == .text("ack") && ack["noteId"] == .text(Self.id))
    #expect(ack["status"] == .text("received") && ack["uploadedAt"] == .null)
    #expect(ack["error"] == .null && ack["title"] == .text("T"))
    _ = try processor.begin(recording.key)
    _ = try processor.fail(
      recording.key, SpoolError("cannot send", reason: "busy", cause: .transient))
    _ = processor.settle()
    ack = try bench.ack(Self.id)
    #expect(ack["status"] == .text("failed") && ack["error"] == .text("cannot send: busy"))
    guard case .text(let time)? = ack["retryAt"] else {
      Issue.record("it does not say when it is tried again")
      return
    }
    #expect(time.hasPrefix("2027-01-15T08:00:0") && time.hasSuffix("Z"))
    bench.time.advance(by: 3)
    #expect(try processor.dueNotes(limit: 1).first?.key == recording.key)
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    ack = try bench.ack(Self.id)
    #expect(ack["status"] == .text("uploaded") && ack["uploadedAt"] != .null)
    #expect(ack["error"] == .null && ack["retryAt"] == .null && ack["attempts"] == .number("2"))
    #expect(processor.settle().acknowledgements == 0)
  }

  @Test("times have three digits of a second, zeros too, as in all other output")
  func times() throws {
    for (fraction, digits) in [(0, "000"), (0.49, "490"), (0.3214, "321")] {
      let text = AcknowledgementText.reason(
        forCommand: ReleaseName.quarantine, "no JSON", at: 1_800_000_000 + fraction)
      #expect(text.contains(#""quarantinedAt":"2027-01-15T08:00:00.\#(digits)Z""#), "\(text)")
    }
  }

  @Test("a note is acknowledged in every outbox of its pipeline, and one that is away waits alone")
  func severalOutboxes() throws {
    let second = bench.outbox + "2"
    let processor = try bench.processor(
      store, outbox: Outbox(path: bench.outbox, others: [second], pipelines: ["another"]))
    let recording = try #require(
      try processor.takeIn(
        try bench.drop("sound", as: "a.m4a", sidecar: #"{"noteId":"\#(Self.id)"}"#)
      ).recording)
    try Data().write(to: URL(fileURLWithPath: second))
    #expect(processor.settle().problems.count == 1)
    #expect(try bench.ack(Self.id)["status"] == .text("received"))
    try FileManager.default.removeItem(atPath: second)
    #expect(processor.settle().problems.isEmpty)
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: "\(second)/\(Self.id).ack.json"))
        == Data(contentsOf: URL(fileURLWithPath: "\(bench.outbox)/\(Self.id).ack.json")))
    // The snapshot shows the notes of all pipelines that share the outbox.
    let other = try bench.processor(store, pipeline: "another")
    let shared = try #require(try other.takeIn(try bench.drop("sound", as: "b.m4a")).recording)
    bench.time.advance(by: 60)
    #expect(processor.settle().isSnapshotWritten)
    let text = try String(contentsOfFile: bench.outbox + "/state.json", encoding: .utf8)
    #expect(text.contains(#""received":2"#))
    #expect(text.contains(recording.key.name) && text.contains(shared.key.name))
    #expect(text.contains(#""pipeline":"another""#))
  }

  @Test("files get their names only when they are whole and flushed, and the folder is after them")
  func order() throws {
    let log = CallLog()
    let processor = try bench.processor(store, hooks: [log.hook])
    _ = try processor.takeIn(try bench.drop("sound", as: "a.m4a"))
    _ = processor.settle()
    let calls = log.calls.withLock { $0 }
    let renames = calls.indices.filter { if case .replace = calls[$0] { true } else { false } }
    #expect(renames.count == 2, "an acknowledgement and the snapshot")
    for index in renames {
      guard case .replace(let from, _) = calls[index] else { continue }
      #expect(calls[index - 1] == .flush(from))
      #expect(calls[index + 1] == .flushFolder(.inbox))
    }
  }

  @Test("nobody ever sees half an acknowledgement")
  func atomic() throws {
    let recording = try receive("sound", as: "a.m4a", id: Self.id)
    _ = processor.settle()
    let before = try bench.ack(Self.id)
    let hook: FolderCallHook = { @Sendable (call) throws(SystemError) in
      if case .flush = call { throw SystemError(5) }
    }
    let failing = try bench.processor(store, hooks: [hook])
    try bench.process(recording.key, with: failing)
    #expect(!failing.settle().problems.isEmpty)
    #expect(try bench.ack(Self.id) == before)
    #expect(bench.files(in: bench.outbox).count == 2, "something was left behind")
  }

  @Test("what is missing or out of date is made again at the start")
  func remade() throws {
    let recording = try receive("sound", as: "a.m4a", id: Self.id)
    try bench.process(recording.key, with: processor)
    _ = processor.settle()
    let written = try bench.ack(Self.id)
    for name in ["\(Self.id).ack.json", "state.json"] {
      try FileManager.default.removeItem(atPath: bench.outbox + "/" + name)
    }
    let stray = bench.outbox + "/.spool-half.tmp"
    try Data("{".utf8).write(to: URL(fileURLWithPath: stray))
    let report = try bench.processor(store).reconcile()
    #expect(report.acknowledgements == 1 && report.isSnapshotWritten)
    #expect(try bench.ack(Self.id) == written)
    #expect(bench.files(in: bench.outbox) == ["\(Self.id).ack.json", "state.json"])
    try FileManager.default.removeItem(atPath: bench.outbox)
    #expect(try bench.processor(store).reconcile().acknowledgements == 1)
    #expect(try bench.processor(store).reconcile().acknowledgements == 0)
  }

  @Test("a device gets its identity back as it wrote it, also a second device and after all time")
  func letters() throws {
    let capitals = Self.id.uppercased()
    let recording = try receive("sound", as: "a.m4a", id: capitals)
    #expect(recording.deviceID == Self.id)
    let other = "{9C1E4B0A-52D3-4E8F-9A16-3B0D2F6C8E41}"
    _ = try receive("sound", as: "b.m4a", id: other)
    _ = processor.settle()
    #expect(try bench.ack(capitals)["noteId"] == .text(capitals))
    // What no file may be called is called by its usual form, and still given back as it came.
    let name = "9c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41"
    #expect(try bench.ack(name)["noteId"] == .text(other))
    #expect(try bench.ack(name)["id"] == .text(recording.key.name))
    #expect(try store.recordings.recording(named: Self.id)?.key == recording.key)
    #expect(try store.recordings.recording(named: capitals)?.key == recording.key)
    // The same identity, written otherwise, is no other note's.
    let again = try receive("other bytes", as: "c.m4a", id: Self.id)
    #expect(again.conflict == recording.key)
  }

  @Test("once a note's device is known, it is acknowledged by that name alone")
  func lateName() throws {
    let recording = try receive("sound", as: "a.m4a")
    _ = processor.settle()
    #expect(bench.files(in: bench.outbox).contains("\(recording.key).ack.json"))
    let path = try #require(InboxPath("a.json"))
    try bench.write(#"{"noteId":"\#(Self.id)"}"#, to: path)
    _ = try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path))
    bench.time.advance(by: 1)
    _ = processor.settle()
    #expect(bench.files(in: bench.outbox) == ["\(Self.id).ack.json", "state.json"])
    #expect(try bench.ack(Self.id)["id"] == .text(recording.key.name))
    #expect(try bench.processor(store).reconcile().acknowledgements == 0)
  }

  @Test("a late sidecar that claims another's identity does not take it")
  func lateClaim() throws {
    let first = try receive("sound", as: "a.m4a", id: Self.id)
    let second = try receive("other", as: "b.m4a")
    let path = try #require(InboxPath("b.json"))
    try bench.write(#"{"noteId":"\#(Self.id)"}"#, to: path)
    _ = try processor.takeSidecar(at: path, stamp: try bench.stamp(of: path))
    _ = processor.settle()
    #expect(try bench.ack(Self.id)["id"] == .text(first.key.name))
    #expect(try bench.ack(second.key.name)["conflictsWith"] == .text(first.key.name))
  }

  @Test("the acknowledgements of a note that is forgotten go, and come again with it")
  func forgotten() throws {
    let recording = try receive("sound", as: "a.m4a", id: Self.id)
    _ = processor.settle()
    _ = try bench.store().recordings.forget(recording.key)
    bench.time.advance(by: 1)
    _ = processor.settle()
    #expect(bench.files(in: bench.outbox) == ["state.json"])
    _ = try bench.store().recordings.forget(recording.key)
    _ = try receive("sound", as: "b.m4a", id: Self.id)
    bench.time.advance(by: 1)
    _ = processor.settle()
    #expect(bench.files(in: bench.outbox) == ["\(Self.id).ack.json", "state.json"])
  }

  @Test("changes that another process makes are told as well")
  func otherProcess() throws {
    let recording = try receive("sound", as: "a.m4a")
    _ = processor.settle()
    let other = try bench.store()
    _ = try other.recordings.change(recording.key, .cancel(reason: "by hand"))
    #expect(processor.settle().acknowledgements == 1)
    #expect(try bench.ack(recording.key.name)["error"] == .text("by hand"))
  }

  @Test("the snapshot shows all current notes, at most once a second")
  func snapshot() throws {
    let first = try receive("sound", as: "a.m4a", id: Self.id)
    #expect(processor.settle().isSnapshotWritten)
    let second = try receive("other", as: "b.m4a")
    let report = processor.settle()
    #expect(!report.isSnapshotWritten)
    #expect(report.nextCall.map { $0 > 0 && $0 <= 1 } == true)
    bench.time.advance(by: 1)
    #expect(processor.settle().isSnapshotWritten)
    #expect(!processor.settle().isSnapshotWritten, "nothing has changed")
    var state = try bench.json(bench.outbox + "/state.json")
    #expect(names(in: state) == [.text(first.key.name), .text(second.key.name)])
    try bench.process(first.key, with: processor)
    bench.time.advance(by: 40 * 86_400)
    _ = processor.settle()
    state = try bench.json(bench.outbox + "/state.json")
    #expect(names(in: state) == [.text(second.key.name)])
    guard case .object(let counts)? = state["counts"] else {
      Issue.record("it counts nothing")
      return
    }
    #expect(counts["uploaded"] == .number("1") && counts["received"] == .number("1"))
  }

  @Test("a snapshot of many uploaded notes shows the last of them and counts all")
  func limit() throws {
    let processor = try bench.processor(store) { $0.currentLimit = 2 }
    for number in 1...4 {
      let recording = try receive("\(number)", as: "\(number).m4a")
      if number < 4 { try bench.process(recording.key, with: processor) }
    }
    _ = processor.settle()
    let state = try bench.json(bench.outbox + "/state.json")
    let shown = names(in: state)
    let newest = try store.recordings.matching(RecordingQuery(states: [.uploaded], limit: 2)).map(
      \.key.name)
    let open = try store.recordings.matching(RecordingQuery(states: [.received])).map(\.key.name)
    #expect(Set(shown) == Set((newest + open).map { JSONValue.text($0) }))
    var counts = ["uploaded": JSONValue.number("3"), "received": .number("1")]
    for state in RecordingState.allCases.map(\.rawValue) + ["cancelled"] where counts[state] == nil
    {
      counts[state] = .number("0")
    }
    #expect(state["counts"] == .object(counts))
  }

  private func names(in state: [String: JSONValue]) -> [JSONValue?] {
    guard case .list(let recordings)? = state["notes"] else { return [] }
    return recordings.map { recording in
      if case .object(let fields) = recording { fields["id"] } else { nil }
    }
  }

  @Test("names that could lead elsewhere are replaced by their digests")
  func hostileNames() {
    for name in ["../../etc/passwd", "a/b", "", ".hidden", "-rf", "a\nb", "é"] {
      let path = AcknowledgementName.acknowledgement(name)
      #expect(path.names.count == 1 && path.description.hasPrefix("x-"), "\(name)")
    }
    #expect(AcknowledgementName.acknowledgement(Self.id).description == "\(Self.id).ack.json")
  }
}

/// The calls that changed a folder, in order.
private final class CallLog: Sendable {
  let calls = Mutex<[FolderCall]>([])

  var hook: FolderCallHook {
    { @Sendable (call) throws(SystemError) in self.calls.withLock { $0.append(call) } }
  }
}

@testable import Intake
import PipelineModel
import Platform
import Store
import Testing

/// One identity, two recordings: a device that sends the second one must not believe that the first
/// was it.
@Suite("A recording that has come before claims another one's identity")
struct IdentityClaimTests {
  private static let id = "7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41"
  private static let otherID = "0d0c7a4e-8f7e-4f43-b1a5-6a4f6a0e2b11"
  private let bench: ProcessorBench
  private let store: DiskStore
  private let processor: InboxProcessor

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
    processor = try bench.processor(store)
  }

  private func sidecar(_ id: String = id) -> String { #"{"noteId":"\#(id)"}"# }

  private func takeIn(_ text: String, _ name: String, sidecar: String? = nil) throws -> Recording {
    let intake = try processor.takeIn(try bench.drop(text, as: name, sidecar: sidecar))
    return try #require(intake.recording)
  }

  private func claim(_ text: String, _ name: String) throws -> (
    recording: Recording, other: RecordingKey
  ) {
    let intake = try processor.takeIn(try bench.drop(text, as: name, sidecar: sidecar()))
    guard case .conflict(let recording, let other)? = intake else {
      Issue.record("it is no conflict: \(intake)")
      throw SpoolError("test", name, reason: "no conflict")
    }
    return (recording, other)
  }

  @Test("bytes that were uploaded under another name are a conflict, told to both and kept")
  func known() throws {
    let named = try takeIn("sound", "a.m4a", sidecar: sidecar())
    try bench.process(named.key, with: processor, sound: "A")
    let plain = try takeIn("other", "b.m4a")
    try bench.process(plain.key, with: processor, sound: "B")
    let (claimant, other) = try claim("other", "c.m4a")
    #expect(claimant.key == plain.key && other == named.key)
    #expect(claimant.state == .uploaded && claimant.isClaimOpen)
    #expect(processor.settle().problems.isEmpty)
    #expect(try bench.ack(Self.id)["claimedBy"] == .list([.text(plain.key.name)]))
    #expect(try bench.ack(plain.key.name)["conflictsWith"] == .text(named.key.name))
    guard case .list(let shown)? = try bench.json("\(bench.outbox)/state.json")["notes"] else {
      Issue.record("there are no notes in state.json")
      return
    }
    let fields = shown.compactMap { if case .object(let fields) = $0 { fields } else { nil } }
    #expect(fields.contains { $0["conflictsWith"] == .text(named.key.name) })
    #expect(fields.contains { $0["claimedBy"] == .list([.text(plain.key.name)]) })
    #expect(try store.recordings.openClaims(limit: 9).map(\.key) == [plain.key])
    #expect(try store.recordings.recording(named: Self.id)?.key == named.key)
    // Both histories tell of it.
    #expect(
      try store.recordings.events(of: named.key).last?.reason?.contains("claims to be it") == true)
    #expect(
      try store.recordings.events(of: plain.key).last?.reason?.contains("claiming to be") == true)
    // Decided by hand, it is history.
    #expect(try processor.change(plain.key, .release(reason: "released by hand"))?.recording != nil)
    #expect(try store.recordings.openClaims(limit: 9).isEmpty)
    #expect(try store.recordings.recording(plain.key)?.conflict == named.key)
  }

  @Test("what has an identity of its own keeps it, and is processed under it")
  func owned() throws {
    let named = try takeIn("sound", "a.m4a", sidecar: sidecar())
    try bench.process(named.key, with: processor, sound: "A")
    let owner = try takeIn("other", "b.m4a", sidecar: sidecar(Self.otherID))
    let (claimant, _) = try claim("other", "c.m4a")
    #expect(claimant.key == owner.key && claimant.state == .received)
    try bench.process(owner.key, with: processor, sound: "B")
    let done = try #require(try store.recordings.recording(owner.key))
    #expect(done.state == .uploaded && done.isClaimOpen && done.deviceID == Self.otherID)
    _ = processor.settle()
    #expect(try bench.ack(Self.otherID)["conflictsWith"] == .text(named.key.name))
    #expect(try bench.ack(Self.id)["claimedBy"] == .list([.text(owner.key.name)]))
    #expect(try store.recordings.recording(named: Self.otherID)?.key == owner.key)
  }

  @Test("what waits without an identity is judged once it is decoded")
  func waiting() throws {
    let named = try takeIn("sound", "a.m4a", sidecar: sidecar())
    try bench.process(named.key, with: processor, sound: "A")
    let plain = try takeIn("other", "b.m4a")
    _ = try claim("other", "c.m4a")
    guard case .conflict(let judged, _) = try bench.process(plain.key, with: processor, sound: "B")
    else {
      Issue.record("it is no conflict")
      return
    }
    #expect(judged.state == .quarantined && judged.conflict == named.key)
  }

  @Test("the same sound under both identities is no conflict, whichever is decoded first")
  func sameSound() throws {
    let named = try takeIn("sound", "a.m4a", sidecar: sidecar())
    let plain = try takeIn("same sound", "b.m4a")
    try bench.process(plain.key, with: processor, sound: "A")
    let (claimant, _) = try claim("same sound", "c.m4a")
    #expect(claimant.isClaimOpen)
    try bench.process(named.key, with: processor, sound: "A")
    let settled = try #require(try store.recordings.recording(plain.key))
    #expect(settled.conflict == nil && settled.reason == nil)
    let again = try processor.takeIn(
      try bench.drop("same sound", as: "d.m4a", sidecar: sidecar()))
    guard case .duplicate? = again else {
      Issue.record("it is no duplicate: \(again)")
      return
    }
  }

  @Test("the same claim once more is a repeat, and stays decided")
  func repeated() throws {
    let named = try takeIn("sound", "a.m4a", sidecar: sidecar())
    try bench.process(named.key, with: processor, sound: "A")
    let plain = try takeIn("other", "b.m4a")
    try bench.process(plain.key, with: processor, sound: "B")
    _ = try claim("other", "c.m4a")
    _ = try processor.change(plain.key, .release(reason: "released by hand"))
    let again = try processor.takeIn(try bench.drop("other", as: "d.m4a", sidecar: sidecar()))
    guard case .duplicate(let recording)? = again else {
      Issue.record("it is no repeat: \(again)")
      return
    }
    #expect(!recording.isClaimOpen)
  }

  @Test("a sidecar that comes after the recording was uploaded claims just as well")
  func lateSidecar() throws {
    let named = try takeIn("sound", "a.m4a", sidecar: sidecar())
    try bench.process(named.key, with: processor, sound: "A")
    let plain = try takeIn("other", "b.m4a")
    try bench.process(plain.key, with: processor, sound: "B")
    let path = try #require(InboxPath("b.json"))
    try bench.write(sidecar(), to: path)
    let recording = try #require(
      try processor.takeSidecar(at: path, stamp: bench.stamp(of: path)).attached)
    #expect(recording.isClaimOpen && recording.conflict == named.key)
    _ = processor.settle()
    #expect(try bench.ack(Self.id)["claimedBy"] == .list([.text(plain.key.name)]))
    #expect(try bench.ack(Self.id)["id"] == .text(named.key.name))
  }

  @Test("a recording that has come before takes the identity of one that was never whole")
  func spoiled() throws {
    let spoiled = try processor.takeIn(
      try bench.drop("half", as: "a.m4a", sidecar: sidecar()), refusal: "it is cut off")
    let plain = try takeIn("other", "b.m4a")
    let intake = try processor.takeIn(try bench.drop("other", as: "c.m4a", sidecar: sidecar()))
    guard case .duplicate(let recording)? = intake else {
      Issue.record("it is no duplicate: \(intake)")
      return
    }
    #expect(
      recording.key == plain.key && recording.conflict == nil && spoiled.recording?.key != plain.key
    )
    _ = processor.settle()
    #expect(try bench.ack(Self.id)["id"] == .text(plain.key.name))
  }
}

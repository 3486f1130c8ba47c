import Foundation
@testable import Intake
import PipelineModel
import Platform
import Store
import Synchronization
import TestSupport
import Testing

@Suite("An original is given back as it arrived")
struct OriginalExportTests {
  private let bench: ProcessorBench
  private let store: DiskStore
  private let processor: InboxProcessor
  private let target: ScratchFolder

  init() throws {
    bench = try ProcessorBench()
    store = try bench.store()
    processor = try bench.processor(store)
    target = try ScratchFolder()
  }

  private func takeIn(_ text: String, _ path: String) throws -> Recording {
    try #require(try processor.takeIn(try bench.drop(text, as: path)).recording)
  }

  private func export(_ recording: Recording) throws -> (path: String, isNew: Bool) {
    let first = try #require(try store.writeOriginals(of: recording, to: target.path).first)
    return (first.path, first.isNew)
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: target.file(name), encoding: .utf8)
  }

  @Test("by its arrival name, with its time, and once only")
  func plain() throws {
    let arrived = try bench.drop("sound", as: "calls/a (1).m4a")
    let recording = try #require(try processor.takeIn(arrived).recording)
    let outcome = try export(recording)
    #expect(outcome.path == target.file("a (1).m4a") && outcome.isNew)
    #expect(try text("a (1).m4a") == "sound")
    let attributes = try FileManager.default.attributesOfItem(atPath: outcome.path)
    let time = try #require(attributes[.modificationDate] as? Date).timeIntervalSince1970
    #expect(abs(time - Double(arrived.stamp.modified) / 1e9) < 0.001)
    let again = try export(recording)
    #expect(again == (path: outcome.path, isNew: false))
    #expect(Workspace.names(in: target.path) == ["a (1).m4a"])
  }

  @Test("never over another file, nor through a link")
  func taken() throws {
    let recording = try takeIn("sound", "a.m4a")
    let victim = try ScratchFolder()
    try victim.write("mine", to: "x")
    try target.write("mine", to: "a.m4a")
    try FileManager.default.createSymbolicLink(
      atPath: target.file("a (2).m4a"), withDestinationPath: victim.file("x"))
    #expect(try export(recording).path == target.file("a (3).m4a"))
    #expect(try text("a (3).m4a") == "sound" && text("a.m4a") == "mine")
    #expect(try String(contentsOfFile: victim.file("x"), encoding: .utf8) == "mine")
    #expect(try !export(recording).isNew)
  }

  @Test(
    "a hostile name leads nowhere and steers nothing",
    arguments: ["-rf.m4a", ".hidden.m4a", "a\nb.m4a", "\u{1b}[31m.m4a", "$(x).m4a"])
  func hostile(name: String) throws {
    let recording = try takeIn("sound \(name)", name)
    let path = try export(recording).path
    let last = try #require(path.split(separator: "/").last)
    #expect(path == target.path + "/" + last && !last.hasPrefix("-") && !last.hasPrefix("."))
    #expect(last.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    #expect(try text(String(last)) == "sound \(name)")
  }

  @Test("a hyphen at the beginning of a name keeps its place, as in the names of exports")
  func hyphen() throws {
    let recording = try takeIn("sound", "-r.m4a")
    #expect(try export(recording).path == target.file("_r.m4a"))
    #expect(try !export(recording).isNew)
  }

  @Test("with its sidecar, as it arrived")
  func sidecar() throws {
    let arrived = try bench.drop("sound", as: "a.m4a", sidecar: #"{"title": "Lunch"}"#)
    let recording = try #require(try processor.takeIn(arrived).recording)
    let written = try store.writeOriginals(of: recording, to: target.path)
    #expect(written.map(\.role) == [.recording, .sidecar])
    let name = try #require(arrived.sidecar?.description)
    #expect(try text("a.m4a") == "sound" && text(name) == #"{"title": "Lunch"}"#)
  }

  @Test("with the sidecars of its copies, the newest under its name")
  func laterSidecars() throws {
    let first = #"{"title": "Lunch"}"#
    let arrived = try bench.drop("sound", as: "a.m4a", sidecar: first)
    let recording = try #require(try processor.takeIn(arrived).recording)
    let later = #"{"title": "Dinner", "place": "Rome"}"#
    _ = try processor.takeIn(try bench.drop("sound", as: "b.m4a", sidecar: later))
    let known = try #require(try store.recordings.recording(recording.key))
    let written = try store.writeOriginals(of: known, to: target.path)
    #expect(written.map(\.role) == [.recording, .sidecar, .sidecar])
    #expect(Workspace.names(in: target.path) == ["a (2).json", "a.json", "a.m4a"])
    #expect(try text("a.json") == later && text("a (2).json") == first)
    // No collection frees what only the store has.
    var policy = CollectionPolicy()
    (policy.age, policy.grace) = (0, 0)
    bench.time.advance(by: 10)
    _ = try store.collect(policy)
    #expect(try store.writeOriginals(of: known, to: target.path).allSatisfy { !$0.isNew })
  }

  @Test("by the very bytes of a name in an older encoding")
  func olderEncoding() throws {
    let bytes = Array("caf".utf8) + [0xE9] + Array(".m4a".utf8)
    let path = try #require(InboxPath(bytes: bytes))
    try bench.write("sound", to: path)
    let arrived = StableRecording(
      path: path, stamp: try bench.stamp(of: path), sidecar: nil, nameCount: 1)
    let recording = try #require(try processor.takeIn(arrived).recording)
    #expect(try export(recording).isNew)
    #expect(try ProcessedFolder(at: target.path).stamp(of: path)?.byteCount == 5)
    let found = try store.recordings.recordings(ofFile: recording.fileName)
    #expect(found.map(\.key) == [recording.key])
  }

  @Test("what the store has lost comes from where its file was moved, if that is what arrived")
  func lost() throws {
    let recording = try takeIn("sound", "a.m4a")
    try bench.process(recording.key, with: processor, sound: "A")
    #expect(processor.settle().problems.isEmpty)
    let path = try store.path(of: recording.content)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    try Data("other".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try export(recording).isNew)
    #expect(try text("a.m4a") == "sound")
  }

  @Test("a damaged original never gets a name")
  func damaged() throws {
    let recording = try takeIn("sound", "a.m4a")
    for path in [try store.path(of: recording.content), bench.inbox + "/a.m4a"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      try Data("noise".utf8).write(to: URL(fileURLWithPath: path))
    }
    let news = Mutex<[String]>([])
    store.listen { line in news.withLock { $0.append(line) } }
    let error = try #require(throws: SpoolError.self) { try export(recording) }
    let told = news.withLock { $0.joined() }
    #expect(told.contains("nothing can make it again") && !told.contains("made again where"))
    #expect(error.advice?.contains("nothing can make it again") == true)
    // It was set aside: now the store says so without reading anything.
    #expect(try store.lostOriginals().map(\.key) == [recording.key])
    let found = try Inspection(of: bench.storeFolder).run().findings
    #expect(found.contains { $0.kind == .missingRecording && $0.meaning.contains("sent again") })
    #expect(Workspace.names(in: target.path) == [])
  }

  @Test(
    "a recording that is done may be in the folder of accepted files alone, as long as it is there",
    arguments: ["a.m4a", "100 %.m4a"])
  func acceptedAlone(name: String) throws {
    let recording = try takeIn("sound", name)
    try bench.process(recording.key, with: processor, sound: "A")
    #expect(processor.settle().problems.isEmpty)
    let accepted = bench.inbox + "/accepted/" + name
    try FileManager.default.removeItem(atPath: try store.path(of: recording.content))
    func findings(isQuick: Bool = false) throws -> [InspectionFinding] {
      var options = Inspection.Options()
      options.isQuick = isQuick
      return try Inspection(of: bench.storeFolder, options).run().findings
    }
    let found = try findings()
    #expect(found.map(\.kind) == [.originalElsewhere])
    #expect(found.first?.isDamage == false && found.first?.meaning.contains("accepted/") == true)
    #expect(try store.lostOriginals().isEmpty)
    // As long as before, and something else.
    try Data("noise".utf8).write(to: URL(fileURLWithPath: accepted))
    #expect(try findings(isQuick: true).map(\.kind) == [.originalElsewhere])
    #expect(try findings().map(\.kind) == [.missingRecording])
    try FileManager.default.removeItem(atPath: accepted)
    #expect(try findings(isQuick: true).map(\.kind) == [.missingRecording])
    #expect(try store.lostOriginals().map(\.key) == [recording.key])
  }

  @Test("a recording in quarantine may lie there alone, as long as it is there")
  func quarantinedAlone() throws {
    let arrival = try bench.drop("sound", as: "a.m4a")
    let recording = try #require(
      try processor.takeIn(arrival, refusal: "it is cut off").recording)
    #expect(processor.settle().problems.isEmpty)
    try FileManager.default.removeItem(atPath: try store.path(of: recording.content))
    func findings() throws -> [InspectionFinding] {
      try Inspection(of: bench.storeFolder).run().findings
    }
    let found = try #require(try findings().first)
    #expect(found.kind == .originalElsewhere && !found.isDamage, "\(found)")
    #expect(found.meaning.contains("quarantine/a.m4a, and nowhere else: keep that file"))
    #expect(try store.lostOriginals().isEmpty)
    try FileManager.default.removeItem(atPath: bench.inbox + "/quarantine/a.m4a")
    #expect(try findings().map(\.kind) == [.missingRecording])
    #expect(try store.lostOriginals().map(\.key) == [recording.key])
  }

  @Test("a damaged original that is set aside is lost if the folder of accepted files lacks it")
  func setAside() throws {
    let recording = try takeIn("sound", "a.m4a")
    try bench.process(recording.key, with: processor, sound: "A")
    #expect(processor.settle().problems.isEmpty)
    let path = try store.path(of: recording.content)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    try Data("noise".utf8).write(to: URL(fileURLWithPath: path))
    func findings() throws -> [InspectionFinding] {
      try Inspection(of: bench.storeFolder).run().findings
    }
    let damage = try #require(try findings().first { $0.kind == .damagedArtifact })
    #expect(damage.meaning.contains("accepted/a.m4a"), "\(damage)")
    #expect(throws: SpoolError.self) { try store.path(of: recording.content) }
    #expect(try findings().map(\.kind).contains(.originalElsewhere))
    #expect(try store.lostOriginals().isEmpty)
    try FileManager.default.removeItem(atPath: bench.inbox + "/accepted/a.m4a")
    let loss = try #require(try findings().first { $0.kind == .missingRecording })
    #expect(loss.meaning.contains("it was damaged, and is kept as"), "\(loss)")
    #expect(try store.lostOriginals().map(\.key) == [recording.key])
  }
}

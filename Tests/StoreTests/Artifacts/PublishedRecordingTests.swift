import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite("An export remembers the recording and the pipeline that it was made of")
struct PublishedRecordingTests {
  private let scratch: ScratchFolder
  private let store: DiskStore
  private let path: String

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
    try FileManager.default.createDirectory(
      atPath: scratch.file("out"), withIntermediateDirectories: true)
    path = scratch.file("out/note.wav")
  }

  private func recording(_ path: String, _ bytes: String) -> RecordingIdentity {
    RecordingIdentity(path: path, digest: SHA256.digest(of: bytes))
  }

  private func publish(
    _ text: String, of recording: RecordingIdentity?, isReplacing: Bool = false,
    by pipeline: String? = nil, receipts: Set<String> = []
  ) throws(SpoolError) {
    _ = try store.publish(
      SHA256.digest(of: text), at: path,
      of: ExportSource(recording, pipeline: pipeline, receipts: receipts),
      isReplacing: isReplacing
    ) { (temporary) throws(SpoolError) in
      do { try text.write(toFile: temporary, atomically: false, encoding: .utf8) } catch {
        throw SpoolError("cannot write", reason: "\(error)")
      }
    }
  }

  @Test("another recording is refused, by name, and takes its place only when told to")
  func other() throws {
    let (mine, yours) = (recording("/a/note.wav", "a"), recording("/b/note.wav", "b"))
    try publish("first", of: mine)
    #expect(try store.recording(ofPublished: path) == mine)
    #expect(try DiskStore(at: store.path).recording(ofPublished: path) == mine)
    let error = try #require(throws: SpoolError.self) { try publish("second", of: yours) }
    #expect(error.reason?.contains(mine.path) == true && error.reason?.contains(yours.path) == true)
    #expect(error.advice?.contains("--replace") == true)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).count == 1)

    try publish("second", of: yours, isReplacing: true)
    #expect(try store.recording(ofPublished: path) == yours)
  }

  @Test("the same recording, moved or edited, replaces what was made of it")
  func same() throws {
    try publish("first", of: recording("/a/note.wav", "a"))
    try publish("second", of: recording("/b/note.wav", "a"))
    try publish("third", of: recording("/b/note.wav", "edited"))
    #expect(try store.recording(ofPublished: path) == recording("/b/note.wav", "edited"))
    // So does one that two names lead to.
    let file = try scratch.write("sound", to: "file.wav")
    try FileManager.default.createSymbolicLink(
      atPath: scratch.file("link.wav"), withDestinationPath: file)
    try publish("fourth", of: recording(file, "x"), isReplacing: true)
    try publish("fifth", of: recording(scratch.file("link.wav"), "y"))
  }

  @Test("where nothing is known of the recording, nothing is refused")
  func unknown() throws {
    try publish("first", of: nil)
    #expect(try store.recording(ofPublished: path) == nil)
    try publish("second", of: recording("/b/note.wav", "b"))
    try publish("third", of: nil)
    // What somebody changed is nobody's.
    try publish("fourth", of: recording("/b/note.wav", "b"))
    try Data("edited".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try store.recording(ofPublished: path) == nil)
  }

  @Test("another pipeline's export is refused like another program's; a name is a pipeline")
  func otherPipeline() throws {
    let note = recording("/a/note.wav", "a")
    try publish("first", of: note, by: "mine")
    try publish("second", of: note, by: "mine")
    let error = try #require(throws: SpoolError.self) {
      try publish("third", of: note, by: "yours")
    }
    #expect(error.message == "cannot write \(path)")
    #expect(error.reason == "it is an export of mine, and one of yours would take its place")
    #expect(error.advice?.contains("--replace") == true)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "second")
    try publish("third", of: note, isReplacing: true, by: "yours")
    try publish("fourth", of: note, by: "yours")
    // What version 0.1 wrote without a run is unknown, and is replaced as before.
    try publish("fifth", of: note)
    try publish("sixth", of: note, by: "mine")
  }

  @Test("what a receipt covers is replaced only with that receipt, or where that is gone")
  func covered() throws {
    let note = recording("/a/note.wav", "a")
    let receipt = try scratch.write("signed", to: "out/note.receipt.json")
    try publish("first", of: note, by: "mine", receipts: [receipt])
    try store.protect([path], by: receipt)
    let error = try #require(throws: SpoolError.self) {
      try publish("second", of: note, by: "mine")
    }
    #expect(error.reason?.contains(receipt) == true)
    #expect(error.advice?.contains("--replace") == true)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "first")
    let reopened = try DiskStore(at: store.path)
    #expect(
      try reopened.refusal(toReplace: path, with: ExportSource(note, pipeline: "mine")) != nil)

    try publish("third", of: note, by: "mine", receipts: [receipt])
    try store.protect([path], by: receipt)
    try FileManager.default.removeItem(atPath: receipt)
    try publish("fourth", of: note, by: "mine")
  }
}

import Foundation
import Glibc
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
    _ text: String, of recording: RecordingIdentity?, sounds: [RecordingIdentity] = [],
    isReplacing: Bool = false, by pipeline: String? = nil, receipts: Set<String> = []
  ) throws(SpoolError) {
    _ = try store.publish(
      SHA256.digest(of: text), at: path,
      of: ExportSource(recording, sounds: sounds, pipeline: pipeline, receipts: receipts),
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

  @Test("a text alone, moved or edited, replaces what was made of it")
  func text() throws {
    try publish("first", of: recording("/a/note.txt", "a"))
    try publish("second", of: recording("/b/note.txt", "a"))
    try publish("third", of: recording("/b/note.txt", "edited"))
    #expect(try store.recording(ofPublished: path) == recording("/b/note.txt", "edited"))
  }

  @Test("the same bytes or samples are the same recording, under any path; others are another one")
  func sound() throws {
    func note(_ path: String, _ bytes: String, _ samples: String?) -> RecordingIdentity {
      RecordingIdentity(
        path: path, digest: SHA256.digest(of: bytes), sound: samples.map { SHA256.digest(of: $0) })
    }
    let first = note("/a/note.wav", "a", "samples")
    try publish("first", of: first, sounds: [first])
    let moved = note("/b/moved.wav", "a", nil)
    try publish("second", of: moved, sounds: [moved])
    // Only now its samples are known.
    try store.attribute([path], to: [first])
    let retagged = note("/b/moved.wav", "retagged", "samples")
    try publish("third", of: retagged, sounds: [retagged])
    let other = note("/b/moved.wav", "other", "other samples")
    let error = try #require(throws: SpoolError.self) {
      try publish("fourth", of: other, sounds: [other])
    }
    #expect(error.reason?.contains("/b/moved.wav held before") == true, "\(error)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "third")
    let reopened = try DiskStore(at: store.path)
    let source = ExportSource(other, sounds: [other])
    #expect(try reopened.refusal(toReplace: path, with: source) != nil)
  }

  @Test("all sound inputs count, with their order, and not only the one that names the export")
  func severalSounds() throws {
    let (intro, week1, week2) = (
      recording("/intro.wav", "intro"), recording("/1.wav", "1"), recording("/2.wav", "2")
    )
    try publish("first", of: intro, sounds: [intro, week1])
    try publish("second", of: intro, sounds: [intro, week1])
    for sounds in [[week1, intro], [intro, intro, week1]] {
      let error = try #require(throws: SpoolError.self) {
        try publish("third", of: intro, sounds: sounds)
      }
      #expect(error.reason?.contains("the same recordings in another order") == true, "\(error)")
    }
    for sounds in [[intro, week2], [intro], [intro, week1, week2]] {
      let error = try #require(throws: SpoolError.self) {
        try publish("third", of: intro, sounds: sounds)
      }
      #expect(error.reason?.contains("/1.wav") == true || sounds.count == 3, "\(error)")
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "second")
  }

  @Test("of what an older version published, the bytes of the nearest recording are known")
  func older() throws {
    let (intro, talk) = (recording("/intro.wav", "intro"), recording("/talk.wav", "talk"))
    try publish("first", of: intro)
    try publish("second", of: intro, sounds: [intro, talk])
    try publish("third", of: intro, isReplacing: true)
    let edited = recording("/intro.wav", "edited")
    #expect(throws: SpoolError.self) { try publish("fourth", of: edited, sounds: [edited, talk]) }
  }

  @Test("no file takes the place of a device or a pipe, not even on request")
  func devices() throws {
    let pipe = scratch.file("pipe")
    try unsafe #require(mkfifo(pipe, 0o600) == 0)
    let link = scratch.file("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
    for path in [pipe, link] {
      let error = try #require(throws: SpoolError.self) {
        try store.publish(SHA256.digest(of: "x"), at: path, isReplacing: true) {
          (temporary) throws(SpoolError) in try put("x", at: temporary)
        }
      }
      #expect(error.reason?.contains("a device or a pipe") == true, "\(error)")
      #expect(throws: SpoolError.self) { try store.backUp(to: path, isReplacing: true) }
    }
    #expect(try FileStamp(at: pipe).isPipe)
    #expect(try FileStamp(at: link).isLink)
  }

  @Test("nothing is written over what a run took in, not even on request")
  func recordingItself() throws {
    let tape = try scratch.write("tape", to: "tape.wav")
    try FileManager.default.createSymbolicLink(
      atPath: scratch.file("link.wav"), withDestinationPath: tape)
    try store.runs.save(
      RunRecord(
        id: RunID("run-1"), pipeline: "p", pipelinePath: "/p.yaml",
        inputs: ["note": scratch.file("link.wav")], overrides: [:], startedAt: 1))
    let error = try #require(throws: SpoolError.self) {
      try store.publish(SHA256.digest(of: "x"), at: tape, isReplacing: true) {
        (temporary) throws(SpoolError) in try put("x", at: temporary)
      }
    }
    #expect(error.reason?.contains("never writes over") == true, "\(error)")
    #expect(throws: SpoolError.self) { try store.backUp(to: tape, isReplacing: true) }
    #expect(try String(contentsOfFile: tape, encoding: .utf8) == "tape")
    // An export that another run took in is an export.
    try publish("first", of: nil)
    try store.runs.save(
      RunRecord(
        id: RunID("run-2"), pipeline: "p", pipelinePath: "/p.yaml", inputs: ["note": path],
        overrides: [:], startedAt: 2))
    try publish("second", of: nil, isReplacing: true)
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

  @Test(
    "a copy of a pipeline's export is its own, although another one has made equal bytes",
    arguments: [false, true])
  func copied(isMadeThere: Bool) throws {
    let note = recording("/a/note.wav", "a")
    func publish(in folder: String, by pipeline: String) throws {
      let path = scratch.file(folder + "/note.wav")
      try FileManager.default.createDirectory(
        atPath: scratch.file(folder), withIntermediateDirectories: true)
      let digest = SHA256.digest(of: "sound")
      let count = try store.publish(
        SHA256.digest(of: pipeline), at: path, of: ExportSource(note, pipeline: pipeline),
        isReplacing: false
      ) { (temporary) throws(SpoolError) in try put("sound", at: temporary) }
      var run = RunRecord(
        id: RunID("run-\(folder)"), pipeline: pipeline, pipelinePath: "/p.yaml",
        inputs: ["note": note.path], overrides: [:], startedAt: 1)
      run.state = .done
      // A run that has found its export in its place does not know the bytes.
      run.published = [
        PublishedFile(
          path: path, byteCount: count, step: StepID("export"), wasThere: pipeline == "mine",
          digest: pipeline == "mine" ? nil : digest)
      ]
      try store.runs.save(run)
    }
    try publish(in: "mine", by: "mine")
    try publish(in: "yours", by: "yours")
    if isMadeThere {
      try publish(in: "copy", by: "yours")
    } else {
      try FileManager.default.copyItem(
        atPath: scratch.file("mine"), toPath: scratch.file("copy"))
    }
    let copy = scratch.file("copy/note.wav")
    // It is met before anything is known of the pipeline.
    _ = try store.published(at: copy)
    let refusal = try store.refusal(toReplace: copy, with: ExportSource(note, pipeline: "mine"))
    #expect((refusal != nil) == isMadeThere, "\(String(describing: refusal))")
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

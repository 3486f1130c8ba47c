import Foundation
@testable import Intake
import PipelineModel
import Platform
import Store
import TestSupport
import Testing

@Suite("A recording's name becomes harmless and stays recognisable")
struct RecordingNameTests {
  @Test(
    "stem and ending are kept apart",
    arguments: [
      ("walk.m4a", "walk.m4a"), ("two.parts.WAV", "two.parts.WAV"), ("no ending", "no ending"),
      ("a/b", "recording"), ("$(rm).wav", "(rm).wav"), ("..wav", "recording.wav"),
      ("x.$(y)", "x"), ("x.much-too-long", "x"), ("-rf.wav", "_rf.wav"), ("a\\b.wav", "a_b.wav"),
    ])
  func cleaning(name: String, expected: String) {
    #expect(RecordingName(FileName(name)).text() == expected)
  }

  @Test(
    "what would be an option or a path is called alike by every command",
    arguments: ["-rf", #"a\b"#])
  func everyCommand(stem: String) {
    #expect(RecordingName(FileName(stem + ".wav")).stem == ExportName.stem(of: stem + ".wav"))
    #expect(BatchOrder.exportName(stem) == ExportName.stem(of: stem + ".wav"))
  }

  @Test("a mark stands before the ending")
  func marks() {
    #expect(RecordingName(FileName("walk.m4a")).text(marked: "3f9a12cd") == "walk-3f9a12cd.m4a")
  }

  @Test(
    "what takes one ending away leaves all of the stem and of the mark",
    arguments: [
      ("Talk 10.30.recording-a", "Talk 10.30"), ("a.b.c.Sitzungsprotokoll eins", "a.b.c"),
      ("walk.m4a", "walk"), ("no ending", "no ending"), ("x.much-too-long", "x"),
      ("1.2.wav", "1.2"),
    ])
  func stems(name: String, stem: String) throws {
    let name = RecordingName(FileName(name))
    let plain = try #require(FileName(name.fileName()))
    let marked = try #require(FileName(name.fileName(marked: "3f9a12cd")))
    #expect(String(decoding: plain.stem, as: UTF8.self) == stem)
    #expect(String(decoding: marked.stem, as: UTF8.self) == stem + "-3f9a12cd")
  }

  @Test("bytes that are no text do no harm")
  func bytes() {
    let name = RecordingName(FileName(bytes: [0xff, 0x0a, 0x61, 0x2e, 0x77, 0x61, 0x76]))
    #expect(name.text().hasSuffix("a.wav"))
    #expect(name.text().unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0xfffd })
  }

  @Test("folders are made harmless one by one")
  func folders() throws {
    let path = try #require(InboxPath("a b/$x/.hidden/n.wav"))
    #expect(path.safeFolders == ["a b", "x", "hidden"])
  }

  @Test("its exports get a mark beside those of another pipeline, and keep the name of their own")
  func otherPipeline() throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    let export = scratch.file("out/walk.wav")
    try FileManager.default.createDirectory(
      atPath: scratch.file("out"), withIntermediateDirectories: false)
    let digest = SHA256.digest(of: "a recording")
    let recording = RecordingIdentity(path: "/inbox/walk.m4a", digest: digest)
    _ = try store.publish(
      digest, at: export, of: ExportSource(recording, pipeline: "first"), isReplacing: false
    ) { _ in }
    let names = ExportNames(store)
    func name(by pipeline: String) -> String? {
      let choice = names.choose(
        RecordingName(FileName("walk.m4a")), mark: "3f9a12cd", digest: digest, pipeline: pipeline,
        excluding: []
      ) { [scratch.file("out/" + $0.replacing("m4a", with: "wav"))] }
      guard let choice else { return nil }
      return choice.name
    }
    #expect(name(by: "first") == "walk.m4a")
    #expect(name(by: "second") == "walk-3f9a12cd.m4a")
  }
}

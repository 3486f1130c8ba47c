import Foundation
@testable import Intake
import TestSupport
import Testing

@Suite("The walk finds every recording, and nothing else")
struct TreeWalkTests {
  private let scratch: ScratchFolder
  private let root: String

  init() throws {
    scratch = try ScratchFolder()
    root = URL(fileURLWithPath: scratch.path).resolvingSymlinksInPath().path
  }

  private func make(_ paths: String...) throws {
    for path in paths {
      let url = URL(fileURLWithPath: root + "/" + path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("x".utf8).write(to: url)
    }
  }

  private func find(
    _ selection: FileSelection = FileSelection(), output: String = "exports"
  ) -> TreeWalk.Finding {
    TreeWalk(root: root, outputFolder: root + "/" + output, selection: selection).find()
  }

  @Test("in the order of the paths' bytes, hidden ones and exports left out")
  func order() throws {
    try make(
      "b.wav", "a/z.M4A", "a/b/c.flac", "a.wav", "notes.txt", ".hidden.wav", ".trash/x.wav",
      "exports/b.wav", "a/exports/d.wav", "wav", "é.wav", "line\nbreak.wav")
    let paths = find().files.map(\.path)
    #expect(
      paths == [
        "a.wav", "a/b/c.flac", "a/exports/d.wav", "a/z.M4A", "b.wav", "line\nbreak.wav", "é.wav",
      ])
  }

  @Test("a store in the folder is left out, with the unfinished files of its work")
  func store() throws {
    try make("a.wav", "st/spool.sqlite", "st/drafts/1/1-export.wav", "b/store/spool.sqlite")
    let found = find()
    #expect(found.files.map(\.path) == ["a.wav"])
    #expect(found.skipped.counts == [.store: 2])
    #expect(found.skipped.entries.map(\.path) == ["b/store", "st"])
  }

  @Test("--include adds what has no extension of sound, --exclude takes away, folders too")
  func selection() throws {
    try make("a.wav", "b.dat", "raw/c.wav", "raw/d.dat", "old.wav")
    let include = try #require(Glob("*.dat"))
    let raw = try #require(Glob("raw"))
    let old = try #require(Glob("old*"))
    #expect(find(FileSelection(including: [include])).files.count == 5)
    #expect(
      find(FileSelection(including: [include], excluding: [raw, old])).files.map(\.path)
        == ["a.wav", "b.dat"])
  }

  @Test("links that lead out, to folders or nowhere are left out; one to a file inside is taken")
  func links() throws {
    try make("in/a.wav")
    let outside = try ScratchFolder()
    try outside.write("x", to: "secret.wav")
    let manager = FileManager.default
    for (name, target) in [
      ("out.wav", outside.file("secret.wav")), ("inside.wav", root + "/in/a.wav"),
      ("loop", root), ("folder", outside.path), ("gone.wav", root + "/gone"),
    ] {
      try manager.createSymbolicLink(atPath: root + "/" + name, withDestinationPath: target)
    }
    let finding = find()
    #expect(finding.files.map(\.path) == ["in/a.wav", "inside.wav"])
    #expect(finding.troubles.isEmpty)
    #expect(finding.skipped.counts == [.link: 4])
    #expect(finding.skipped.entries.map(\.path) == ["folder", "gone.wav", "loop", "out.wav"])
  }

  @Test("what is left out is counted by its kind, and a recording's sidecar is not")
  func skipped() throws {
    try make(
      "a.wav", "a.json", "other.json", "notes.txt", ".hidden", ".git/config", "raw/b.wav",
      "old.wav", "exports/c.wav")
    #expect(unsafe mkfifo(root + "/pipe.wav", 0o600) == 0)
    let raw = try #require(Glob("raw"))
    let old = try #require(Glob("old*"))
    let skipped = find(FileSelection(excluding: [raw, old])).skipped
    #expect(skipped.counts == [.noRecording: 2, .hidden: 2, .excluded: 2, .special: 1])
    #expect(
      skipped.entries.map(\.path)
        == [".git", ".hidden", "notes.txt", "old.wav", "other.json", "pipe.wav", "raw"])
  }

  @Test("of very many files that are no recordings all are counted, and the first are named")
  func manySkipped() {
    var skipped = SkippedFiles()
    for number in 0..<5000 {
      skipped.add("\(number).jpg", Array("\(number).jpg".utf8), .noRecording)
    }
    #expect(skipped.counts == [.noRecording: 5000] && skipped.entries.count == 1000)
  }

  @Test("a pipe is no recording, whatever it is called")
  func pipe() throws {
    let status = unsafe mkfifo(root + "/a.wav", 0o600)
    #expect(status == 0)
    #expect(find().files.isEmpty)
  }

  @Test("the folder of another batch's exports is left out, and named")
  func otherExports() throws {
    try make("a.wav", "earlier/batch.json", "earlier/a.wav", "earlier/sub/b.wav")
    let finding = find()
    #expect(finding.files.map(\.path) == ["a.wav"])
    #expect(finding.exportFolders == ["earlier"])
  }

  @Test("a name that is no UTF-8 is a trouble with advice, unless it is excluded")
  func invalidNames() throws {
    try make("a.wav")
    let bytes = Array((root + "/caf").utf8CString.dropLast()) + [CChar(bitPattern: 0xE9)]
    let descriptor = unsafe open(bytes + Array(".wav".utf8CString), O_CREAT | O_WRONLY, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
    let finding = find()
    #expect(finding.files.map(\.path) == ["a.wav"])
    #expect(finding.troubles.map(\.path) == ["caf\u{FFFD}.wav"])
    let glob = try #require(Glob("caf*"))
    #expect(find(FileSelection(excluding: [glob])).troubles.isEmpty)
  }

  @Test("a recording knows its sidecar")
  func sidecars() throws {
    try make("a.wav", "a.m4a", "a.json", "b.wav", "c/b.json", "c/d.wav")
    try make("e.wav", "e.wav.json", "f.wav", "f_meta.json", "g.wav", "g.json", "g_meta.json")
    let sidecars = Dictionary(
      find().files.map { ($0.path, $0.sidecar) }, uniquingKeysWith: { first, _ in first })
    #expect(
      sidecars == [
        "a.wav": "a.json", "a.m4a": "a.json", "b.wav": nil, "c/d.wav": nil,
        "e.wav": "e.wav.json", "f.wav": "f_meta.json", "g.wav": "g.json",
      ])
  }
}

import Foundation
import TestSupport
import Testing

@Suite("The captions that a pipeline writes have the corrections of the recording's words")
struct CorrectedCaptionsTests {
  private static let text = """
    Please call me back on Monday morning. The meeting with the client was moved. The quick brown \
    fox jumps over the lazy dog.
    """

  private let place: Workspace
  private let sound: String
  private let text: String

  init() throws {
    place = try Workspace()
    sound = place.file("talk.wav")
    text = try place.folder.write(Self.text, to: "talk.txt")
    try speak()
  }

  private func run(_ pipeline: String) throws -> SpoolRun {
    let run = try place.run(pipeline, [sound, text])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    return run
  }

  private func captions(_ name: String = "talk.srt") throws -> String {
    try String(contentsOfFile: place.out + "/" + name, encoding: .utf8)
  }

  /// The captions of `words export`, of a recording or a run.
  private func exported(_ name: String) throws -> String {
    let path = place.file("exported.srt")
    let export = try place.spool(["words", "export", name, "-o", path])
    #expect(export.exitCode == 0, "\(export.errorOutput)")
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  /// Corrects words of the recording.
  private func correct(_ changes: [(old: String, new: String)]) throws {
    let path = place.file("edited.txt")
    let export = try place.spool(["words", "export", sound, "-o", path, "--replace"])
    try #require(export.exitCode == 0, "\(export.errorOutput)")
    var words = try String(contentsOfFile: path, encoding: .utf8)
    for (old, new) in changes { words = words.replacingOccurrences(of: old, with: new) }
    try words.write(toFile: path, atomically: true, encoding: .utf8)
    let edit = try place.spool(["words", "edit", sound, "--from", path])
    try #require(edit.exitCode == 0 && edit.text.contains("corrected"), "\(edit.errorOutput)")
  }

  @Test("a correction makes captions again and nothing else, and an undo brings the old ones back")
  func again() throws {
    let pipeline = PackageFiles.pipeline("words.yaml")
    _ = try run(pipeline)
    let before = try captions()
    #expect(before.contains("lazy"))

    try correct([("lazy", "sleepy")])
    let corrected = try run(pipeline)
    #expect(corrected.made == ["transcript"] && corrected.reused == ["decode", "align"])
    let after = try captions()
    #expect(after.contains("sleepy") && !after.contains("lazy"))
    #expect(try exported(sound) == after)
    let why = try place.spool(["why", "last", "transcript"])
    #expect(why.text.contains("the corrections of its words have changed"), "\(why.text)")
    #expect(try run(pipeline).made.isEmpty)

    #expect(try place.spool(["words", "undo", sound]).exitCode == 0)
    #expect(try run(pipeline).made.isEmpty)
    #expect(try captions() == before)
  }

  @Test("behind a cut they are those of what is left, and a receipt of them is as it was signed")
  func cut() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: cutting
      inputs: { tape: sound, text: transcript }
      stages:
        - decode: { from: $tape }
        - align: { transcript: $text }
        - cut: { remove: [{ from: 0 s, to: 2.1 s }] }
          from: decode
        - retime: { changes: [cut] }
          from: align
        - transcript: [srt]
        - proof
      """)
    _ = try run(pipeline)
    let before = try captions()
    try correct([("Monday", "Tuesday")])
    #expect(try run(pipeline).made.isEmpty, "what was cut was corrected")
    #expect(try captions() == before)

    try correct([("lazy", "sleepy")])
    #expect(try run(pipeline).made == ["transcript", "proof"])
    let after = try captions()
    #expect(after.contains("sleepy") && !after.contains("lazy") && !after.contains("Tuesday"))
    #expect(try exported("last") == after)
    let verified = try place.spool(["verify", place.out])
    #expect(verified.exitCode == 0, "\(verified.text)")
  }

  private func copyToFolder(_ paths: String...) throws {
    let folder = place.file("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for path in paths {
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      try FileManager.default.copyItem(atPath: path, toPath: folder + "/" + name)
    }
  }

  /// Runs a pipeline on the folder.
  /// - Returns: its last line.
  private func batch(_ pipeline: String) throws -> String {
    let batch = try place.spool(
      ["batch", pipeline, place.file("in"), "--out", place.out, "--json"])
    #expect(batch.exitCode == 0, "\(batch.errorOutput)")
    return String(batch.text.split(separator: "\n").last ?? "")
  }

  private func correctBetweenBatches(_ pipeline: String) throws {
    #expect(try batch(pipeline).contains(#""done":1"#))
    #expect(try batch(pipeline).contains(#""reused":1"#))
    try correct([("lazy", "sleepy")])
    #expect(try batch(pipeline).contains(#""done":1"#))
    #expect(try captions().contains("sleepy"))
    #expect(try batch(pipeline).contains(#""reused":1"#))
  }

  @Test("a batch does a recording again when its words were corrected, and then no more")
  func batch() throws {
    try copyToFolder(sound, text)
    try correctBetweenBatches(PackageFiles.pipeline("words.yaml"))
  }

  @Test("a batch takes notice of corrections that were made over another file of the same sound")
  func batchOfCopy() throws {
    let copy = place.file("copy.wav")
    _ = try Reference.ffmpeg(["-i", sound, "-c", "copy", "-metadata", "title=A copy", copy])
    try copyToFolder(copy, place.folder.write(Self.text, to: "copy.txt"))
    let words = PackageFiles.pipeline("words.yaml")
    _ = try run(words)
    #expect(try batch(words).contains(#""done":1"#))
    try correct([("lazy", "sleepy")])
    #expect(try batch(words).contains(#""done":1"#))
    #expect(try captions("copy.srt").contains("sleepy"))
    #expect(try batch(words).contains(#""reused":1"#))
  }

  @Test(
    "words that are lost from the store have their corrections in the run that finds them again",
    arguments: ["a restored store", "damage"])
  func foundAgain(loss: String) throws {
    let pipeline = try place.pipeline(Self.aligning)
    _ = try run(pipeline)
    try correct([("lazy", "sleepy")])
    _ = try run(pipeline)
    let before = try captions()
    #expect(before.contains("sleepy"))
    if loss == "damage" {
      for name in FileManager.default.enumerator(atPath: place.store + "/artifacts") ?? .init() {
        let path = place.store + "/artifacts/\(name)"
        let bytes = try? Data(contentsOf: URL(filePath: path))
        guard bytes?.range(of: Data("lazy".utf8)) != nil else { continue }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try "garbage".write(toFile: path, atomically: false, encoding: .utf8)
      }
    } else {
      let backup = place.file("backup.sqlite")
      #expect(try place.spool(["store", "backup", backup]).exitCode == 0)
      try FileManager.default.removeItem(atPath: place.store)
      #expect(try place.spool(["store", "restore", backup]).exitCode == 0)
    }
    #expect(try run(pipeline).made.contains("align"))
    #expect(try captions() == before)
    #expect(try run(pipeline).made.isEmpty)
    #expect(try captions() == before)
  }

  private static let aligning = """
    pipeline: aligning
    inputs: { tape: sound, text: transcript? }
    stages:
      - decode: { from: $tape }
      - export: [wav]
      - align: { transcript: $text }
      - transcript: [srt]
    """

  private func speak(_ options: [String] = []) throws {
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound] + options + [Self.text]).exitCode == 0)
  }

  @Test("a batch notices corrections also where only a recording with a text has words")
  func batchWithText() throws {
    try copyToFolder(sound, text)
    // Digests of files are kept, and so batches count them as unchanged, once they are 2 s old.
    Thread.sleep(forTimeInterval: 2.2)
    try correctBetweenBatches(place.pipeline(Self.aligning))
  }

  @Test("a text that says another word since wins over a correction, which is named once")
  func newerText() throws {
    let pipeline = try place.pipeline(Self.aligning)
    _ = try run(pipeline)
    try correct([("lazy", "sleepy"), ("Monday", "Tuesday")])
    #expect(try run(pipeline).warnings.isEmpty)
    try Self.text.replacingOccurrences(of: "lazy", with: "hazy")
      .write(toFile: text, atomically: true, encoding: .utf8)
    let changed = try run(pipeline)
    #expect(try captions().contains("hazy") && captions().contains("Tuesday"))
    let warning = "the text says “hazy” there now: “lazy” → “sleepy”"
    #expect(changed.warnings.contains { $0.contains(warning) }, "\(changed.warnings)")
    #expect(try run(pipeline).warnings.isEmpty)
    let shown = try place.spool(["words", "show", sound])
    #expect(shown.errorOutput.contains(warning), "\(shown.errorOutput)")
    #expect(try place.spool(["search", "hazy"]).exitCode == 0)
    #expect(try place.spool(["search", "sleepy"]).exitCode == 1)
  }

  @Test(
    "another recording under the same name tells of the corrections of the one before")
  func otherRecording() throws {
    let pipeline = try place.pipeline(Self.aligning)
    _ = try run(pipeline)
    try correct([("lazy", "sleepy")])
    _ = try run(pipeline)
    try speak(["-s", "150"])
    let other = try place.spool(["run", pipeline, sound, text, "--out", place.out, "--replace"])
    #expect(other.exitCode == 0, "\(other.errorOutput)")
    #expect(try captions().contains("lazy"))
    let notice = "talk.wav is another recording than before, and the corrections"
    #expect(other.errorOutput.contains(notice), "\(other.errorOutput)")
    let shown = try place.spool(["words", "show", sound])
    #expect(shown.errorOutput.contains(notice), "\(shown.errorOutput)")
    // The very line that it gives.
    let line = try #require(
      other.errorOutput.split(separator: "\n").first { $0.contains(notice) }?
        .split(separator: "take them over: ").last)
    for command in line.split(separator: " && ") {
      let words = command.split(separator: " ").dropFirst().map(String.init)
      let done = try place.spool(words)
      #expect(done.exitCode == 0, "\(done.errorOutput)")
    }
    let taken = try run(pipeline)
    #expect(try captions().contains("sleepy"))
    #expect(taken.warnings.isEmpty, "\(taken.warnings)")
  }

  @Test("why names a changed text, and no corrections that are as they were")
  func whyOfText() throws {
    let pipeline = try place.pipeline(Self.aligning)
    _ = try run(pipeline)
    try correct([("lazy", "sleepy")])
    _ = try run(pipeline)
    try Self.text.replacingOccurrences(of: "moved", with: "Moved")
      .write(toFile: text, atomically: true, encoding: .utf8)
    #expect(try run(pipeline).made.contains("transcript"))
    let why = try place.spool(["why", "last", "transcript"])
    #expect(why.text.contains("align above it gave"), "\(why.text)")
    #expect(!why.text.contains("corrections"), "\(why.text)")
  }

  @Test("a correction tells the commands for all captions of its words, and so does its withdrawal")
  func everyCommand() throws {
    let pipeline = try place.pipeline(Self.aligning)
    _ = try run(pipeline)
    let other = try place.spool(
      ["run", pipeline, sound, text, "--out", place.file("other")])
    try #require(other.exitCode == 0, "\(other.errorOutput)")
    func lines(_ result: Program.Result) -> [[String]] {
      result.text.split(separator: "\n").filter { $0.hasPrefix("  spool run ") }.map {
        $0.split(separator: " ").dropFirst().map(String.init)
      }
    }
    let edit = try place.spool(
      ["words", "edit", sound], environment: ["EDITOR": "sed -i s/lazy/sleepy/", "VISUAL": ""])
    let found = lines(edit)
    #expect(found.count == 2, "\(edit.text)")
    for line in found { #expect(try place.spool(line).exitCode == 0) }
    func captions(_ folder: String) throws -> String {
      let name = try #require(Workspace.names(in: folder).first { $0.hasSuffix(".srt") })
      return try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    }
    for folder in [place.out, place.file("other")] {
      #expect(try captions(folder).contains("sleepy"), "\(folder)")
    }
    let undo = try place.spool(["words", "undo", sound])
    #expect(Set(lines(undo)) == Set(found), "\(undo.text)")
  }

  @Test("a correction tells the command that writes captions again, which does it")
  func nextCommand() throws {
    let pipeline = try place.pipeline(Self.aligning)
    _ = try run(pipeline)
    let edit = try place.spool(
      ["words", "edit", sound], environment: ["EDITOR": "sed -i s/lazy/sleepy/", "VISUAL": ""])
    let line = try #require(
      edit.text.split(separator: "\n").first { $0.contains("  spool run ") }, "\(edit.text)")
    let words = try #require(line.split(separator: "  spool ").last).split(separator: " ")
    let done = try place.spool(words.map(String.init))
    #expect(done.exitCode == 0, "\(done.errorOutput)")
    #expect(try captions().contains("sleepy"))
  }

  @Test("a hit in a sound that is no longer at its path names the run that heard it")
  func searchOfEarlierSound() throws {
    let pipeline = try place.pipeline(Self.aligning)
    _ = try run(pipeline)
    try speak(["-s", "150"])
    let other = try place.spool(["run", pipeline, sound, text, "--out", place.out, "--replace"])
    #expect(other.exitCode == 0, "\(other.errorOutput)")
    let hits = try place.spool(["search", "lazy"]).text.split(separator: "\n")
    #expect(hits.count == 2, "\(hits)")
    #expect(hits.filter { $0.contains("talk.wav (as it was in run ") }.count == 1, "\(hits)")
    let json = try place.spool(["search", "lazy", "--json"]).text.split(separator: "\n")
    #expect(json.filter { $0.contains(#""isElsewhere":true"#) }.count == 1, "\(json)")
  }
}

import Foundation
import TestSupport
import Testing

@Suite("What is said is taken from files beside the recording", .serialized) struct BesideTests {
  private static let text = "Please call me back on Monday morning, because the meeting was moved."
  private static let whisper = """
    {"text": " Please call me back on Monday morning, because the meeting was moved.",
     "segments": [{"id": 0, "start": 0.0, "end": 4.0, "words": [],
       "text": " Please call me back on Monday morning, because the meeting was moved."}]}
    """
  private let place: Workspace
  private let sound: String

  init() throws {
    place = try Workspace()
    try FileManager.default.createDirectory(
      atPath: place.file("notes"), withIntermediateDirectories: true)
    sound = place.file("notes/talk.wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound, Self.text]).exitCode == 0)
  }

  /// A file beside the recording.
  struct Beside: CustomTestStringConvertible, Sendable {
    let name: String
    let content: String
    var testDescription: String { name }

    static let all = [
      Beside(name: "talk.txt", content: BesideTests.text),
      Beside(
        name: "talk.srt", content: "1\n00:00:00,000 --> 00:00:05,000\n\(BesideTests.text)\n"),
      Beside(
        name: "talk.wav.vtt",
        content: "WEBVTT\n\n00:00.000 --> 00:05.000\n\(BesideTests.text)\n"),
      Beside(name: "talk.json", content: BesideTests.whisper),
      Beside(
        name: "talk.json",
        content: "{\"title\": \"A call\", \"transcript\": \"\(BesideTests.text)\"}"),
    ]
  }

  @Test("by run, in every format, and from the sidecar", arguments: Beside.all)
  func run(beside: Beside) throws {
    try write(beside.content, beside.name)
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.skipped == ["recognize"])
    #expect(try words("out/talk.json") == Self.text.split(separator: " ").map(String.init))
  }

  @Test("by run, but not where the user says that there is none, nor what Spool made of it itself")
  func declined() throws {
    let run = try place.spool([
      "run", PackageFiles.pipeline("words.yaml"), sound, "--out", place.file("notes"),
    ])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(FileManager.default.fileExists(atPath: place.file("notes/talk.srt")))
    let again = try place.run(PackageFiles.pipeline("words.yaml"), [sound])
    #expect(again.skipped == ["align"])
    try write(Self.text, "talk.txt")
    #expect(try place.run(PackageFiles.pipeline("words.yaml"), [sound]).skipped == ["recognize"])
    let declined = try place.run(
      PackageFiles.pipeline("words.yaml"), [sound, "text="], ["--replace"])
    #expect(declined.skipped == ["align"], "\(declined.errorOutput)")
    // The line that writes its captions again does without the text, too.
    let heard = try place.spool(["words", "export", "last"]).text
    let edited = try place.folder.write("Pleased " + heard, to: "edited.txt")
    let edit = try place.spool(["words", "edit", "last", "--from", edited])
    #expect(edit.text.contains(" added\n"), "\(edit.errorOutput)")
    #expect(edit.text.contains(" text= --out "), "\(edit.text)")
  }

  @Test("by batch, again when it changes, and never as a recording")
  func batch() throws {
    try FileManager.default.copyItem(atPath: sound, toPath: place.file("notes/other.wav"))
    try write(Self.text, "talk.txt")
    try write(Self.whisper, "other.json")
    #expect(try outcomes() == ["other.wav": "done", "talk.wav": "done"])
    #expect(try words("exports/talk.json") == Self.text.split(separator: " ").map(String.init))
    #expect(try words("exports/other.json") == Self.text.split(separator: " ").map(String.init))
    #expect(try outcomes() == ["other.wav": "reused", "talk.wav": "reused"])
    try write(Self.text.replacingOccurrences(of: "Please", with: "PLEASE"), "talk.txt")
    #expect(try outcomes() == ["other.wav": "reused", "talk.wav": "done"])
    #expect(try words("exports/talk.json").first == "PLEASE")
  }

  @Test("by run and batch, not without the text that the sidecar names, unless another is there")
  func missing() throws {
    try write(#"{"transcript":"said.txt"}"#, "talk.json")
    let reason = "names said.txt, which is not there"
    let pipeline = PackageFiles.pipeline("words.yaml")
    let run = try place.run(pipeline, [sound])
    #expect(run.exitCode == 1 && run.errorOutput.contains(reason), "\(run.errorOutput)")
    #expect(try place.run(pipeline, [sound, "text="]).exitCode == 0)
    let batch = try place.spool([
      "batch", pipeline, place.file("notes"), "--out", place.file("exports"),
    ])
    #expect(batch.exitCode == 1 && (batch.text + batch.errorOutput).contains(reason))
    try write(Self.text, "talk.txt")
    let other = try place.run(pipeline, [sound], ["--replace"])
    #expect(other.exitCode == 0 && other.skipped == ["recognize"])
    #expect(other.errorOutput.contains(reason + ": "), "\(other.errorOutput)")
    #expect(try outcomes() == ["talk.wav": "done"])
    try write(Self.text, "said.txt")
    #expect(try !place.run(pipeline, [sound], ["--replace"]).errorOutput.contains(reason))
  }

  private func outcomes() throws -> [String: String] {
    let run = try place.spool([
      "batch", PackageFiles.pipeline("words.yaml"), place.file("notes"), "--out",
      place.file("exports"), "--quiet",
    ])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    struct Report: Decodable {
      struct File: Decodable {
        let path: String
        let outcome: String
      }
      let files: [File]
    }
    let data = try Data(contentsOf: URL(fileURLWithPath: place.file("exports/batch.json")))
    let files = try JSONDecoder().decode(Report.self, from: data).files
    return Dictionary(files.map { ($0.path, $0.outcome) }, uniquingKeysWith: { first, _ in first })
  }

  private func words(_ path: String) throws -> [String] {
    try ExportedWords(at: place.file(path)).words.map(\.text)
  }

  private func write(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: place.file("notes/" + name)))
  }
}

import Foundation
import TestSupport
import Testing

@Suite("Commands that name the words of several recordings, some of them in other runs too")
struct SharedRecordingTests {
  private static let text = """
    Welcome to the garden show. Today we talk about the secret passage. Nobody saw the old grey car \
    in the street.
    """

  private let place: Workspace

  init() throws {
    place = try Workspace()
    let program = try #require(Program(named: "espeak-ng"))
    for (name, text) in [
      ("music", "Here is some music."), ("guest", "Thank you."),
      ("anna", "Welcome to the garden show. Today we talk about the secret passage."),
      ("ben", "Nobody saw the old grey car in the street."),
    ] {
      let spoken = try program.run(["-v", "en-us+m3", "-w", place.file(name + ".wav"), text])
      #expect(spoken.exitCode == 0)
    }
    try place.folder.write(Self.text, to: "text.txt")
  }

  /// Joins music and voices to a show.
  @discardableResult
  private func show(_ name: String, _ voices: String...) throws -> SpoolRun {
    let pipeline = try place.pipeline(
      """
      pipeline: show
      inputs: { music: sound, voices: sound+, text: transcript }
      vars: { name: { value: x } }
      stages:
        - concat: { from: [$music, $voices] }
        - align: { transcript: $text }
          id: words
        - transcript: { formats: [srt], name: $name }
      """)
    let list = voices.map { "voices=\(place.file($0 + ".wav"))" }
    let inputs =
      ["music=\(place.file("music.wav"))"] + list + ["text=\(place.file("text.txt"))"]
    let run = try place.run(pipeline, inputs, ["--set", "name=\(name)"])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    return run
  }

  private func captions(_ name: String) throws -> String {
    try String(contentsOfFile: place.out + "/\(name).srt", encoding: .utf8)
  }

  /// Corrects a word of the newest run.
  private func correct(_ old: String, _ new: String) throws -> Program.Result {
    let words = try place.spool(["words", "export", "last"]).text
    let edited = try place.folder.write(words.replacing(old, with: new), to: "edited.srt")
    let edit = try place.spool(["words", "edit", "last", "--from", edited])
    try #require(edit.exitCode == 0 && edit.text.contains("1 place"), "\(edit.errorOutput)")
    return edit
  }

  /// Types a command that was printed.
  private func type(_ line: String) throws -> Program.Result {
    try place.spool(line.split(separator: " ").dropFirst().map(String.init))
  }

  @Test("the line that writes captions again names each recording of a list by the list's name")
  func repetition() throws {
    try show("a", "anna", "ben")
    let edit = try correct("secret", "hidden")
    let last = try #require(edit.text.split(separator: "line:  ").last)
    let line = String(last.split(separator: "\n")[0])
    #expect(
      line.contains(" voices=\(place.file("anna.wav")) voices=\(place.file("ben.wav")) "), "\(line)"
    )
    let again = try type(line)
    #expect(again.exitCode == 0, "\(line): \(again.errorOutput)")
    #expect(try captions("a").contains("hidden"))
  }

  @Test("edited captions of a show whose music other shows have are taken in by the run's name")
  func sharedMusic() throws {
    try show("a", "anna")
    try show("b", "ben")
    let path = place.out + "/a.srt"
    try captions("a").replacing("secret", with: "hidden")
      .write(toFile: path, atomically: true, encoding: .utf8)
    let run = try show("a", "anna")
    let warning = try #require(run.warnings.first { $0.contains("a.srt was edited") })
    let command = try #require(warning.split(separator: "to take its words in: ").last)
    let id = try #require(run.record).id
    #expect(command == "spool words edit \(id) words --from \(path)")
    // The music alone does not say which show is meant.
    let file = try place.spool(["words", "edit", place.file("music.wav"), "--from", path])
    #expect(file.exitCode == 2, "\(file.text)")
    let taken = try type(String(command))
    #expect(taken.exitCode == 0 && taken.text.contains("1 place"), "\(taken.errorOutput)")
    #expect(try place.spool(["words", "export", "anna.wav"]).text.contains("hidden"))
  }

  @Test("what is to be taken out of a former show's words is that of the files which are left out")
  func leftOut() throws {
    try show("a", "anna", "ben", "guest")
    _ = try correct("secret", "hidden")
    let pipeline = try place.folder.write(
      """
      pipeline: talk
      inputs: { first: sound, second: sound, text: transcript }
      stages:
        - concat: { from: [$first, $second] }
        - align: { transcript: $text }
        - transcript: { formats: [srt], name: talk }
      """, to: "talk.yaml")
    // The same recording under another name, and in another input.
    try FileManager.default.copyItem(
      atPath: place.file("ben.wav"), toPath: place.file("copy.wav"))
    let run = try place.run(pipeline, ["anna.wav", "copy.wav", "text.txt"].map(place.file))
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let said = ", take out of copy.corrected.srt what only music.wav, guest.wav say, and then "
    #expect(run.warnings.contains { $0.contains(said) }, "\(run.warnings)")
  }

  @Test("captions and figures are called as the recording that they name, as exports are")
  func names() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: named
      inputs: { music: sound, host: sound, text: transcript }
      stages:
        - concat: { from: [$music, $host] }
        - measure: { write: true, recording: $host }
        - export: { formats: [flac], recording: $host, name: "{stem}-show" }
        - align: { transcript: $text, from: concat }
        - transcript: { formats: [srt], recording: $host, name: "{stem}-show" }
      """)
    let run = try place.run(pipeline, ["music.wav", "anna.wav", "text.txt"].map(place.file))
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["anna-show.flac", "anna-show.srt", "anna.measure.json"])
    // The name is in no artifact.
    let other = try place.run(
      place.pipeline(
        String(contentsOfFile: pipeline, encoding: .utf8).replacing(", recording: $host", with: "")),
      ["music.wav", "anna.wav", "text.txt"].map(place.file))
    #expect(other.exitCode == 0 && other.made.isEmpty, "\(other.errorOutput) \(other.made)")
    #expect(place.exports.contains("music-show.srt"), "\(place.exports)")
  }
}

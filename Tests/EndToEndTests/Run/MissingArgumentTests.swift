import Foundation
import Glibc
import TestSupport
import Testing

/// Exit code 2 stands for a wrong command line: an argument that names nothing is one, whatever the
/// command.
@Suite(
  "An argument that names nothing is a wrong command line",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct MissingArgumentTests {
  private let place: Workspace
  private static let pipeline = PackageFiles.pipeline("voice-note.yaml")

  /// `PIPE` stands in the lines for a pipeline's file, and `NONE` for the argument.
  private static let lines = [
    "run PIPE NONE.wav", "run PIPE note=NONE.wav", "run NONE.yaml in.wav", "batch PIPE NONE",
    "batch NONE.yaml .", "watch PIPE NONE", "watch NONE.yaml .", "normalize NONE.wav -o out.wav",
    "normalize in.wav NONE.wav -o out/", "convert NONE.wav -o out.flac",
    "clean NONE.wav -o out.wav", "trim NONE.wav --from 0:01 -o out.wav",
    "mix in.wav NONE.wav -o out.wav", "play NONE.wav", "play NONE",
    "play in.wav --compare NONE.wav",
    "verify NONE", "verify NONE.receipt.json", "why NONE", "resume NONE", "words show NONE",
    "words show NONE.wav", "runs show NONE", "runs forget NONE", "inbox show NONE",
    "pipeline check NONE.yaml", "pipeline plan PIPE NONE.wav", "pipeline graph NONE.yaml",
    "pipeline new new.yaml --from NONE", "stages NONE", "plugin show NONE", "proof key show NONE",
    "proof quote NONE --from 0:01 --to 0:02", "store restore NONE",
    "proof ledger prove NONE NONE", "verify in.wav --key NONE", "verify in.wav --tsa-ca NONE",
    "store gc --config NONE", "pipeline crashtest PIPE NONE.wav",
  ]

  init() throws {
    place = try Workspace()
    try Reference.record(place.file("in.wav"), seconds: 2)
    // A store that is there, with a run in it.
    try #require(try place.run(try place.quickPipeline(), [place.file("in.wav")]).exitCode == 0)
  }

  @Test("with exit code 2, and nothing is begun", arguments: lines)
  func missing(line: String) throws {
    let words = line.split(separator: " ").map { $0 == "PIPE" ? Self.pipeline : String($0) }
    let before = try place.spool(["runs", "--json"]).text
    let result = try place.spool(words)
    #expect(result.exitCode == 2, "\(result.errorOutput)")
    #expect(result.text == "")
    #expect(try place.spool(["runs", "--json"]).text == before)
  }

  @Test(
    "and so is a pipe, whose writer may come later: it is refused at once",
    arguments: [
      ["run", pipeline, "pipe"], ["normalize", "pipe", "-o", "out.wav"], ["play", "pipe"],
      ["pipeline", "plan", pipeline, "pipe"], ["verify", "pipe"],
      ["mix", "in.wav", "pipe", "-o", "a.wav"],
    ])
  func pipe(words: [String]) throws {
    try #require(unsafe mkfifo(place.file("pipe"), 0o600) == 0)
    let result = try place.spool(words)
    #expect(result.exitCode == 2)
    let complaint = try #require(Complaint(result.errorOutput), "\(result.errorOutput)")
    #expect(complaint.why == "it is a pipe")
    #expect(complaint.next == "save what comes out of it as a file, and name that file")
  }

  @Test("a name with a line break is shown as a shell reads it")
  func lineBreak() throws {
    let result = try place.spool(["run", Self.pipeline, "no\nsuch.wav"])
    #expect(result.exitCode == 2)
    let shown = "$'" + place.file("no") + #"\nsuch.wav'"#
    #expect(Complaint(result.errorOutput)?.what == "cannot read \(shown)", "\(result.errorOutput)")
    // A run and its exports are told so, too.
    try FileManager.default.copyItem(atPath: place.file("in.wav"), toPath: place.file("a\nb.wav"))
    let file = try place.spool(["convert", "a\nb.wav", "-o", "out/", "-f", "flac"])
    #expect(file.text.hasPrefix(#"$'a\nb.wav' → out/a_b.flac"#), "\(file.text)")
  }
}

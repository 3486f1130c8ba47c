import Foundation
import TestSupport
import Testing

@Suite("A command says what was wrong with its line, and what it could not write")
struct CommandLineMistakeTests {
  @Test(
    "output that a full disk does not take is an error of every command",
    arguments: [
      ["pipeline", "list"], ["stages", "--json"], ["--help"], ["--version"],
      ["completion", "bash"],
    ])
  func fullDisk(arguments: [String]) throws {
    let place = try Workspace()
    let shell = try #require(Program(named: "sh"))
    let words = ["-c", "exec \"$0\" \"$@\" > /dev/full"]
    let result = try place.spool(arguments, under: shell, words)
    #expect(result.exitCode == 1)
    #expect(
      result.errorOutput.contains("cannot write standard output"), "\(result.errorOutput)")
  }

  @Test("so is a closed pipe, and a standard output that is closed", arguments: [">&-", "| :"])
  func closed(redirection: String) throws {
    let place = try Workspace()
    let shell = try #require(Program(named: "bash"))
    let pause = redirection == "| :" ? "sleep 0.3; " : ""
    let words = [
      "-c", "set -o pipefail; { \(pause)\"$0\" \"$@\"; } \(redirection)",
    ]
    let result = try place.spool(["stages"], under: shell, words)
    #expect(result.exitCode == 1)
    #expect(result.errorOutput.contains("cannot write standard output"), "\(result.errorOutput)")
  }

  @Test("a recording in the pipeline's place is told with the right order, not with its bytes")
  func swapped() throws {
    let place = try Workspace()
    let pipeline = PackageFiles.pipeline("voice-note.yaml")
    let note = PackageFiles.sample("note-1.m4a")
    let result = try place.spool(["run", note, pipeline])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("is no pipeline"), "\(result.errorOutput)")
    #expect(result.errorOutput.contains("help:  spool run"), "\(result.errorOutput)")
    #expect(result.errorOutput.hasSuffix("\(pipeline) \(note)\n"), "\(result.errorOutput)")
    let named = try place.spool(["run", note, "voice-note"])
    #expect(named.errorOutput.hasSuffix("voice-note \(note)\n"), "\(named.errorOutput)")
    let alone = try place.spool(["pipeline", "check", note])
    #expect(alone.exitCode == 2)
    #expect(alone.errorOutput.count < 500, "\(alone.errorOutput)")
  }

  @Test("an address is no file, and Spool downloads nothing")
  func address() throws {
    let place = try Workspace()
    let pipeline = PackageFiles.pipeline("voice-note.yaml")
    let url = "https://example.org/note.m4a?a=1&b=2"
    for argument in [url, "note=" + url] {
      let result = try place.spool(["run", pipeline, argument])
      #expect(result.exitCode == 2)
      #expect(result.errorOutput.contains("downloads nothing"), "\(result.errorOutput)")
      #expect(result.errorOutput.contains("curl -O '\(url)'"), "\(result.errorOutput)")
    }
  }

  @Test("a sound file in a receipt's place is told with the receipt beside it")
  func verify() throws {
    let place = try Workspace()
    let sound = try place.folder.write("RIFF\u{1}\u{2}", to: "a b.wav")
    _ = try place.folder.write("{}", to: "a b.receipt.json")
    let result = try place.spool(["verify", sound])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("is no receipt"), "\(result.errorOutput)")
    #expect(
      result.errorOutput.contains("spool verify '\(place.file("a b.receipt.json"))'"),
      "\(result.errorOutput)")
    #expect(!result.text.contains("BROKEN"))
  }

  @Test("a file without a receipt is told where one was looked for, and what to type")
  func unproven() throws {
    let place = try Workspace()
    try place.folder.write("RIFF\u{1}\u{2}", to: "ep.podcast.wav")
    let alone = try place.spool(["verify", "ep.podcast.wav"])
    #expect(alone.exitCode == 2)
    let complaint = try #require(Complaint(alone.errorOutput), "\(alone.errorOutput)")
    #expect(complaint.what == "ep.podcast.wav is no receipt")
    for name in ["ep.podcast.receipt.json", "ep.receipt.json", "receipts/ep.receipt.json"] {
      #expect(complaint.why.contains(name), "\(complaint)")
    }
    #expect(complaint.next.contains("spool verify FOLDER"), "\(complaint)")
    try FileManager.default.createDirectory(
      atPath: place.file("receipts"), withIntermediateDirectories: true)
    try place.folder.write("{}", to: "receipts/other.receipt.json")
    let other = Complaint(try place.spool(["verify", "ep.podcast.wav"]).errorOutput)
    #expect(other?.next == "spool verify receipts checks the others there")
    try place.folder.write("{}", to: "receipts/ep.podcast.receipt.json")
    let found = Complaint(try place.spool(["verify", "ep.podcast.wav"]).errorOutput)
    #expect(found?.next == "spool verify receipts/ep.podcast.receipt.json")
  }

  @Test("a refused watch leaves no folder behind")
  func watch() throws {
    let place = try Workspace()
    let pipeline = PackageFiles.pipeline("voice-note.yaml")
    let result = try place.spool(["watch", pipeline, "nowhere"])
    #expect(result.exitCode == 2)
    #expect(Workspace.names(in: place.folder.path) == [])
  }

  @Test("lines to type are quoted for the shell")
  func quoted() throws {
    let place = try Workspace()
    let result = try place.spool(["pipeline", "new", "my pipeline.yaml"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(
      result.text.contains("next:  spool pipeline check 'my pipeline.yaml'\n"), "\(result.text)")
  }

  @Test("a wrong value of --set is reported at the option")
  func overrides() throws {
    let place = try Workspace()
    let pipeline = PackageFiles.pipeline("voice-note.yaml")
    let note = PackageFiles.sample("note-1.m4a")
    let result = try place.spool(["pipeline", "plan", pipeline, note, "--set", "loudness=-18 dB"])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.hasPrefix("--set loudness: error: "), "\(result.errorOutput)")
  }

  @Test(
    "an option that is longer or shorter than the right one is told with it",
    arguments: [
      (["run", "p", "x", "--output", "d"], "--out"), (["--vers"], "--version"),
      (["-v"], "--version"),
    ])
  func options(arguments: [String], meant: String) throws {
    let result = try Workspace().spool(arguments)
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("did you mean '\(meant)'?"), "\(result.errorOutput)")
  }
}

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

  @Test(
    "a link that leads nowhere is no recording, and no run begins", arguments: ["loop", "gone"])
  func linkToNothing(target: String) throws {
    let place = try Workspace()
    try FileManager.default.createSymbolicLink(
      atPath: place.file("loop"), withDestinationPath: target)
    let result = try place.spool(["run", PackageFiles.pipeline("voice-note.yaml"), "loop"])
    #expect(result.exitCode == 2, "\(result.errorOutput)")
    #expect(Complaint(result.errorOutput)?.next.isEmpty == false, "\(result.errorOutput)")
    #expect(!FileManager.default.fileExists(atPath: place.store))
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

  @Test("recordings that are all excluded from a batch are named, and the option that does it")
  func excluded() throws {
    let place = try Workspace()
    let pipeline = try place.pipeline("pipeline: p\nstages: [decode]\n")
    try FileManager.default.createDirectory(
      atPath: place.file("in/below"), withIntermediateDirectories: true)
    for name in ["a.flac", "below/b.flac", "notes.txt"] {
      try place.folder.write("x", to: "in/" + name)
    }
    func refusal(_ patterns: [String]) throws -> Complaint {
      let options = patterns.flatMap { ["--exclude", $0] }
      let result = try place.spool(["batch", pipeline, place.file("in")] + options)
      #expect(result.exitCode == 1)
      let complaint = try #require(Complaint(result.errorOutput), "\(result.errorOutput)")
      #expect(complaint.what.hasPrefix("there is no recording in "), "\(complaint)")
      return complaint
    }
    let all = try refusal(["*.flac"])
    #expect(all.why == "--exclude leaves out a.flac and others" && all.next.contains("--exclude"))
    #expect(try refusal(["*"]).why == "--exclude leaves out a.flac")
    #expect(try refusal(["below", "a.*"]).why == "--exclude leaves out a.flac")
    try FileManager.default.removeItem(atPath: place.file("in/a.flac"))
    let folder = try refusal(["below"])
    #expect(folder.why.hasSuffix("; --exclude leaves out what is in below"), "\(folder)")
    try FileManager.default.removeItem(atPath: place.file("in/below"))
    let other = try refusal(["*.txt"])
    #expect(other.why == "no file in it or below it has an extension of sound", "\(other)")
    #expect(other.next.contains("--include"))
  }

  private static let address = "https://example.org/note.m4a?a=1&b=2"

  @Test(
    "an address is no file, and Spool downloads nothing",
    arguments: [
      ["run", "voice-note"], ["run", "voice-note", "note="], ["run"], ["batch", "voice-note"],
      ["watch", "voice-note"], ["normalize"], ["mix", "a.wav"], ["play"], ["words", "show"],
      ["verify"], ["proof", "quote"], ["pipeline", "check"], ["pipeline", "plan", "voice-note"],
      ["store", "restore"],
    ])
  func address(words: [String]) throws {
    let isNamed = words.last?.hasSuffix("=") == true
    let line =
      isNamed ? words.dropLast() + ["note=" + Self.address] : words + [Self.address]
    let result = try Workspace().spool(Array(line))
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("downloads nothing"), "\(result.errorOutput)")
    #expect(
      result.errorOutput.contains("curl -O '\(Self.address)'"), "\(result.errorOutput)")
  }

  @Test(
    "nor is it a place to write to",
    arguments: [
      ["run", "voice-note", "a.wav", "-o"], ["normalize", "a.wav", "-o"], ["runs", "--store"],
      ["watch", "voice-note", "in", "--outbox"],
    ])
  func addressOfResults(words: [String]) throws {
    let result = try Workspace().spool(words + [Self.address])
    #expect(result.exitCode == 2)
    #expect(
      result.errorOutput.contains("\(Self.address) is an address"), "\(result.errorOutput)")
    #expect(result.errorOutput.contains("nor uploads"), "\(result.errorOutput)")
  }

  @Test("nor is it an inbox of a settings file")
  func addressOfInbox() throws {
    let place = try Workspace()
    try place.folder.write(
      "inboxes: [{ inbox: https://example.org/in, pipeline: voice-note }]\n", to: "watch.yaml")
    let result = try place.spool(["watch", "--config", "watch.yaml"])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("is an address"), "\(result.errorOutput)")
    #expect(!result.errorOutput.contains("mkdir"), "\(result.errorOutput)")
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

  @Test("a watch by the name of no pipeline is told the names, as a run is")
  func watchedName() throws {
    let place = try Workspace()
    try FileManager.default.createDirectory(
      atPath: place.file("in"), withIntermediateDirectories: true)
    let watch = try place.spool(["watch", "nopipe", "in"])
    #expect(watch.exitCode == 2)
    #expect(watch.errorOutput.contains("voice-note"), "\(watch.errorOutput)")
    #expect(watch.errorOutput == (try place.spool(["run", "nopipe", "in"])).errorOutput)
  }

  @Test(
    "a refused command leaves no folder behind",
    arguments: [
      ["batch", "voice-note", "empty"], ["run", "voice-note", "zero.m4a"],
      ["run", "voice-note", "text.yaml", "-o", "o"],
      ["run", "voice-note", "note.m4a", "--store", "note.m4a"],
      ["run", "archive", "note.m4a", "-o", "o", "--keys", "/proc/x"],
      ["normalize", "zero.m4a", "-o", "o/x.wav"], ["convert", "text.yaml", "-o", "o/x.wav"],
      ["inbox", "export", "nothing", "--to", "o"],
    ])
  func refused(words: [String]) throws {
    let place = try Workspace()
    try FileManager.default.createDirectory(
      atPath: place.file("empty"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: PackageFiles.sample("note-1.m4a"), toPath: place.file("note.m4a"))
    try place.folder.write("", to: "zero.m4a")
    try place.folder.write("a: b\n", to: "text.yaml")
    let before = Workspace.names(in: place.folder.path)
    let result = try place.spool(words)
    #expect(result.exitCode != 0)
    // A run that is refused for its recording is in the list of runs.
    let store = words[0] == "run" && !words.contains("--store") ? ["store"] : []
    let after = Workspace.names(in: place.folder.path)
    #expect(
      Set(after).subtracting(store) == Set(before), "\(after): \(result.errorOutput)")
  }

  @Test("lines to type are quoted for the shell")
  func quoted() throws {
    let place = try Workspace()
    let result = try place.spool(["pipeline", "new", "my pipeline.yaml"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(
      result.text.contains("next:  spool pipeline check 'my pipeline.yaml'\n"), "\(result.text)")
  }

  @Test("a folder whose name is not UTF-8 is refused, and no other one is made")
  func notText() throws {
    let place = try Workspace()
    let note = PackageFiles.sample("note-1.m4a")
    let shell = try #require(Program(named: "sh"))
    let script = "exec \"$0\" \"$@\" --out \"$(printf 'o\\351')\""
    let result = try place.spool(["run", "voice-note", note], under: shell, ["-c", script])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("--out is not UTF-8 text"), "\(result.errorOutput)")
    #expect(Workspace.names(in: place.folder.path) == [])
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
      (["-v"], "--version"), (["run", "-v"], "spool --version"),
      (["run", "--vers"], "spool --version"), (["--josn", "runs"], "COMMAND --json"),
      (["runs", "--forget-failed"], "spool runs forget --failed"),
    ])
  func options(arguments: [String], meant: String) throws {
    let result = try Workspace().spool(arguments)
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("did you mean '\(meant)'?"), "\(result.errorOutput)")
  }
}

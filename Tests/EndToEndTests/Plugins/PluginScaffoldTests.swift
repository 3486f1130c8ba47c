import Foundation
import TestSupport
import Testing

@Suite("A new plugin works as it is")
struct PluginScaffoldTests {
  @Test(
    "in every language, it is built, passes its own test, and does its work in a pipeline",
    arguments: [
      ("python", "python3"), ("swift", "swiftc"), ("c", "cc"), ("shell", "cksum"),
    ])
  func worksAtOnce(language: String, tool: String) throws {
    guard Program(named: tool) != nil else {
      return print("skipped: \(tool) is not installed")
    }
    let place = try PluginPlace()
    let made = try place.spool(["plugin", "new", "mine", "--lang", language])
    #expect(made.exitCode == 0, "\(made.errorOutput)")
    #expect(made.text.hasPrefix("wrote Plugins/mine; "), "\(made.text)")
    let folder = place.file("Plugins/mine")
    // Its own test, as its README has it: builds what is to be built.
    let test = try Program(path: "\(folder)/test.sh").run(
      [],
      environment: ["SPOOL": try SpoolProgram.program.path, "XDG_DATA_HOME": place.file("data")])
    try #require(test.exitCode == 0, "\(test.text)\(test.errorOutput)")
    #expect(test.text.contains(" passed"), "\(test.text)")
    #expect(!test.text.contains("failed"), "\(test.text)")
    let check = try place.spool(["plugin", "check", "mine"])
    #expect(check.exitCode == 0, "\(check.errorOutput)")

    guard SoundFacts.areAvailable else { return }
    try Reference.record(place.file("note.wav"), seconds: 1)
    let run = try place.spool(
      ["run", "\(folder)/try.yaml", "note.wav", "--plugins", "Plugins", "--out", "out"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    if language == "shell" {
      let facts = try String(contentsOfFile: place.file("out/note.facts.txt"), encoding: .utf8)
      #expect(facts.hasPrefix("What it is\nmilliseconds: 1000\nchecksum: "), "\(facts)")
    } else {
      #expect(FileManager.default.fileExists(atPath: place.file("out/note.wav")))
    }
  }

  @Test("what is there is left alone, and a name that no pipeline could write is refused")
  func refusals() throws {
    let place = try PluginPlace()
    #expect(try place.spool(["plugin", "new", "mine"]).exitCode == 0)
    let before = try Workspace.listing(of: place.file("Plugins"))
    let again = try place.spool(["plugin", "new", "mine", "--lang", "shell"])
    #expect(again.exitCode == 2, "the kind is there: \(again.errorOutput)")
    let elsewhere = try place.spool(["plugin", "new", "other", "--dir", "no/such/folder"])
    #expect(elsewhere.exitCode == 1)
    #expect(Complaint(elsewhere.errorOutput) != nil, "\(elsewhere.errorOutput)")
    try place.write("x", to: "Plugins/taken/file")
    let taken = try place.spool(["plugin", "new", "taken"])
    #expect(taken.exitCode == 1)
    #expect(taken.errorOutput.contains("File exists"), "\(taken.errorOutput)")
    #expect(taken.errorOutput.contains("--dir"), "\(taken.errorOutput)")
    for name in ["Loud", "9lives", "a b", "../x", "ä", "gate"] {
      let result = try place.spool(["plugin", "new", name])
      #expect(result.exitCode == 2, "\(name): \(result.errorOutput)")
      #expect(result.errorOutput.contains("a plugin cannot be called"), "\(result.errorOutput)")
    }
    try FileManager.default.removeItem(atPath: place.file("Plugins/taken"))
    #expect(try Workspace.listing(of: place.file("Plugins")) == before)
  }
}

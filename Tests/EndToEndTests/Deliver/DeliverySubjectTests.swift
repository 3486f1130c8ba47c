import Foundation
import Platform
import TestSupport
import Testing

/// The commands that take a run or a recording by its name.
@Suite("What was delivered is found by every name that is printed of it")
struct DeliverySubjectTests {
  private let place: Workspace
  private let disk: String

  init() throws {
    place = try Workspace()
    disk = place.file("disk")
    for name in ["disk", "somewhere", "elsewhere"] {
      try FileManager.default.createDirectory(
        atPath: place.file(name), withIntermediateDirectories: false)
    }
    try place.folder.write(
      "destinations: { nas: { folder: \(disk) } }\n", to: "destinations.yaml")
  }

  private var destinations: [String] { ["--destinations", place.file("destinations.yaml")] }

  private func code(_ words: [String]) throws -> (exitCode: Int, told: String) {
    let result = try place.spool(words + (words[1] == "release" ? [] : destinations))
    return (Int(result.exitCode), result.text + result.errorOutput)
  }

  @Test("a run's recording by its path, by its name where it is gone, and by the run")
  func runs() throws {
    let pipeline = try place.pipeline("pipeline: kept\nstages: [ decode, { export: [wav] } ]\n")
    let recording = place.file("somewhere/walk.wav")
    try Reference.record(recording, seconds: 0.3)
    let run = try place.spool(["run", pipeline, recording, "--out", place.out])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    for name in ["walk.wav", recording, "somewhere/walk.wav", "last"] {
      for words in [
        ["deliver", "send", name, "--to", "nas"],
        ["deliver", "fetch", "nas", name, "--out", place.file("back")],
        ["deliver", "release", name],
      ] {
        let (code, told) = try code(words)
        #expect(code == 0, "\(words) \(told)")
      }
      // It is found, and this destination gives no links.
      let link = try code(["deliver", "link", name])
      #expect(link.exitCode == 1 && link.told.contains("no links"), "\(link)")
    }
    try FileManager.default.removeItem(atPath: recording)
    for name in ["walk.wav", recording] {
      let sent = try code(["deliver", "send", name, "--to", "nas", "--what", "exports"])
      #expect(sent.exitCode == 0, "\(sent)")
    }
    // Another one of its name: both are listed.
    let other = place.file("elsewhere/walk.wav")
    try Reference.record(other, seconds: 0.5)
    #expect(try place.spool(["run", pipeline, other, "--out", place.file("o")]).exitCode == 0)
    let (several, told) = try code(["deliver", "send", "walk.wav", "--to", "nas"])
    #expect(several == 2, "\(told)")
    #expect(told.contains(other) && told.contains(recording), "\(told)")
    let (named, _) = try code(["deliver", "send", recording, "--to", "nas", "--what", "exports"])
    #expect(named == 0)
    #expect(try code(["deliver", "send", "none.wav", "--to", "nas"]).exitCode == 2)
  }

  @Test("a recording of an inbox by its key, its noteId, its file's name and its path there")
  func recordings() throws {
    let inbox = try WatchedPlace(delivery: "{ to: nas }")
    let there = inbox.place.file("disk")
    try FileManager.default.createDirectory(atPath: there, withIntermediateDirectories: false)
    try inbox.place.folder.write(
      "destinations: { nas: { folder: \(there) } }\n", to: "destinations.yaml")
    let options = ["--destinations", inbox.place.file("destinations.yaml")]
    try inbox.make(1)
    let watch = try inbox.watch(options)
    let id = "7f3c2a10-0000-4bbb-8ccc-000000000001"
    try inbox.place.folder.write("{\"noteId\": \"\(id)\"}", to: "made/side.json")
    let name = "wa\u{1}lk.wav"
    try inbox.shell(
      "mkdir inbox/d; mv made/side.json $'inbox/d/wa\\001lk.json'; "
        + "mv made/1.wav $'inbox/d/wa\\001lk.wav'")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let note = try #require(try inbox.notes().first)
    for named in [note.key, String(note.key.prefix(6)), id, name, note.file, "last"] {
      for words in [
        ["deliver", "send", named, "--to", "nas"] + options,
        ["deliver", "fetch", "nas", named, "--out", inbox.place.file("back")] + options,
        ["deliver", "release", named],
      ] {
        let result = try inbox.place.spool(words)
        #expect(result.exitCode == 0, "\(words) \(result.errorOutput)")
      }
      let link = try inbox.place.spool(["deliver", "link", named] + options)
      #expect(link.errorOutput.contains("no links"), "\(named) \(link.errorOutput)")
    }
  }
}

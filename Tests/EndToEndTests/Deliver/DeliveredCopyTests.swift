import Foundation
import Platform
import TestSupport
import Testing

/// The folder at a destination, which has to hold what its receipt and its list say.
@Suite("What a destination has can be checked there, version by version")
struct DeliveredCopyTests {
  private let place: Workspace
  private let disk: String

  init() throws {
    place = try Workspace()
    disk = place.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try place.folder.write(
      "destinations: { nas: { folder: \(disk) } }\n", to: "destinations.yaml")
  }

  private func run(_ pipeline: String, _ recording: String, _ more: [String] = []) throws {
    let run = try place.spool(
      ["run", pipeline, recording, "--out", place.out, "--destinations"]
        + [place.file("destinations.yaml")] + more)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
  }

  private func check() throws {
    let verified = try place.spool(["verify", disk])
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
    let listed = try Program(named: "bash")?.run([
      "-c",
      #"set -e; find "$1" -name '*.sha256' -print0 | while IFS= read -r -d '' list; do"#
        + #" cd "$(dirname "$list")"; sha256sum --quiet -c "$(basename "$list")"; cd - >/dev/null; done"#,
      "bash", disk,
    ])
    #expect(listed?.exitCode == 0, "\(listed?.text ?? "") \(listed?.errorOutput ?? "")")
  }

  @Test(
    "names stay as they were exported",
    arguments: [
      "walk", "Zo\u{EB} \u{2013} 日本", "Zoe\u{308}", "Who was there?", "Side A: \"x\" <1>", "d ot.",
    ])
  func names(name: String) throws {
    let pipeline = try place.pipeline(
      """
      pipeline: kept
      stages: [ decode, { export: [flac] }, proof, { deliver: { to: [nas] } } ]
      """)
    let recording = place.file("\(name).wav")
    try Reference.record(recording, seconds: 0.3)
    try run(pipeline, recording)
    try check()
    // The receipt has its confirmation beside it.
    let exports = FileManager.default.enumerator(atPath: place.out)?.compactMap { $0 as? String }
    let beside = (exports ?? []).filter { $0.hasSuffix(".json") }
    #expect(beside.count == 2, "\(exports ?? [])")
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
  }

  @Test(
    "a run with another setting gives a second folder with all of its files, and the first stays")
  func versions() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: kept
      inputs: { note: sound }
      vars:
        gain: { value: 0 dB, overridable: true }
      stages:
        - decode
        - export: [flac]
        - gain: { gain: $gain }
          from: decode
          id: louder
        - export: { formats: [wav], name: "{stem}-louder" }
          from: louder
          id: other
        - proof
        - deliver: { to: [nas] }
      """)
    let recording = place.file("walk.wav")
    try Reference.record(recording, seconds: 0.3)
    try run(pipeline, recording)
    try run(pipeline, recording)
    let files = FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    #expect(files.count { $0.hasSuffix("walk.sha256") } == 1, "\(files)")
    try check()
    try run(pipeline, recording, ["--set", "gain=-3 dB"])
    try check()
    let now = FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    #expect(now.count { $0.hasSuffix("walk.flac") } == 2, "\(now)")
    #expect(now.count { $0.hasSuffix("originals/walk.wav") } == 1, "\(now)")
    #expect(now.contains { $0.contains(" (2)/walk.sha256") }, "\(now)")
    let again = try place.spool([
      "deliver", "send", "last", "--to", "nas", "--destinations",
      place.file("destinations.yaml"),
    ])
    #expect(again.exitCode == 0 && again.text.contains("before"), "\(again.text)")
  }

  @Test("what another store has sent to the same names is told with what helps, and comes back")
  func twoStores() throws {
    func pipeline(_ more: String) throws -> String {
      try place.pipeline(
        "pipeline: kept\nstages: [ decode, { export: [flac] }, proof, "
          + "{ deliver: { to: [nas]\(more) } } ]\n"
      )
    }
    let recording = place.file("walk.wav")
    try Reference.record(recording, seconds: 0.3)
    try run(try pipeline(""), recording)
    let options = ["--destinations", place.file("destinations.yaml")]
    let second = ["--out", place.file("out2"), "--store", place.file("store2")] + options
    let failed = try place.spool(["run", try pipeline(""), recording] + second)
    let told = failed.errorOutput
    #expect(told.contains("the destination has another file of this name"), "\(told)")
    #expect(
      told.contains("spool store restore") && told.contains("--from nas")
        && told.contains("if-there: rename"),
      "\(told)")
    #expect(!told.contains("deliver retry"), "\(told)")
    let renamed = try place.spool(["run", try pipeline(", if-there: rename"), recording] + second)
    #expect(renamed.exitCode == 0, "\(renamed.errorOutput)")
    let sent = try place.spool(
      ["deliver", "run", "--once", "--store", place.file("store2")] + options)
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    let restored = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")]
        + ["--store", place.file("store3")] + options)
    #expect(restored.exitCode == 0, "\(restored.errorOutput)")
    #expect(restored.text.contains("1 recording"), "\(restored.text)")
    #expect(!restored.errorOutput.contains("unnamed"), "\(restored.errorOutput)")
  }

  @Test("two names that look the same are both verified")
  func forms() throws {
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [flac] }, { proof: { bag: true } } ]\n")
    let names = ["Zo\u{EB}", "Zoe\u{308}"]
    for (index, name) in names.enumerated() {
      try Reference.record(place.file("\(name).wav"), seconds: 0.3 + 0.1 * Double(index))
      let run = try place.spool(["run", pipeline, place.file("\(name).wav"), "--out", place.out])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
    }
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
    let stored = try place.spool(["store", "check"])
    #expect(stored.exitCode == 0, "\(stored.text)")
    for name in names {
      let stray = "\(place.out)/\(name)/data/stray.txt"
      try "x".write(toFile: stray, atomically: false, encoding: .utf8)
      #expect(try place.spool(["verify", place.out]).exitCode == 4, "\(name)")
      try FileManager.default.removeItem(atPath: stray)
    }
  }
}

import Foundation
import TestSupport
import Testing

@Suite(
  "A store looks after itself, as the settings say",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct RetentionTests {
  private let place: Workspace
  private let note: String

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 1)
  }

  /// Runs a pipeline whose exports have this name.
  private func run(named name: String) throws -> SpoolRun {
    let pipeline = try place.pipeline(
      """
      pipeline: quick
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - normalize: { peak: -3 dB }
        - export: { formats: [wav], name: "\(name)" }
      """)
    let run = try place.run(pipeline, [note])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    return run
  }

  @Test("prune names and deletes what a later run replaced under another name")
  func prune() throws {
    _ = try run(named: "old")
    #expect(try place.spool(["store", "prune"]).text.hasPrefix("nothing to delete"))
    _ = try run(named: "new")
    let plan = try place.spool(["store", "prune", "--dry-run"])
    #expect(plan.text.contains("\(place.out)/old.wav: replaced by new.wav of run "), "\(plan.text)")
    #expect(place.exports == ["new.wav", "old.wav"])
    let pruned = try place.spool(["store", "prune", "--json"])
    #expect(pruned.text.contains(#""reason":"replaced""#), "\(pruned.text)")
    #expect(place.exports == ["new.wav"])
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("a mistake in the settings is shown with its place, and does not fail a run")
  func mistake() throws {
    let settings = try place.folder.write("retention:\n  sise: 3 GB\n", to: "settings.yaml")
    _ = try run(named: "a")
    for command in [["store", "gc", "--dry-run"], ["store", "info"]] {
      let result = try place.spool(command + ["--config", settings])
      #expect(result.exitCode == 2)
      #expect(
        result.errorOutput.contains("\(settings):2:3: ")
          && result.errorOutput.contains("did you mean \"size\""), "\(result.errorOutput)")
    }
    let again = try place.spool(
      ["run", place.file("pipeline.yaml"), note, "--out", place.out],
      environment: ["SPOOL_CONFIG": settings])
    #expect(again.exitCode == 0)
    #expect(again.errorOutput.contains("nothing was freed in the store: 1 problem in"))
  }

  @Test("a day after the last collection, the end of a run frees what nothing needs")
  func automatic() throws {
    _ = try run(named: "a")
    let settings = try place.folder.write("retention: { auto: false }\n", to: "settings.yaml")
    // A file in the store that no checkpoint names, as a crash may leave one.
    let stray = "\(place.store)/artifacts/ab/" + String(repeating: "ab", count: 32)
    try FileManager.default.createDirectory(
      atPath: place.store + "/artifacts/ab", withIntermediateDirectories: true)
    try Data("stray".utf8).write(to: URL(fileURLWithPath: stray))
    func age(_ path: String) throws {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -2 * 86_400)], ofItemAtPath: path)
    }
    func runAgain(_ environment: [String: String] = [:]) throws -> Bool {
      let run = try place.spool(
        ["run", place.file("pipeline.yaml"), note, "--out", place.out, "--json"],
        environment: environment)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      return run.text.contains(#""event":"collected""#)
    }
    try age(stray)
    #expect(try !runAgain(), "the store's first collection is a day away")
    try age(place.store + "/collected")
    #expect(try !runAgain(["SPOOL_CONFIG": settings]), "it is turned off")
    #expect(FileManager.default.fileExists(atPath: stray))
    #expect(try runAgain())
    #expect(!FileManager.default.fileExists(atPath: stray) && place.exports == ["a.wav"])
    let info = try place.spool(["store", "info"]).text
    #expect(info.split(separator: "\n").count <= 20 && info.contains("sound"), "\(info)")
  }
}

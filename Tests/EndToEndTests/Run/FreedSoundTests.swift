import Foundation
import TestSupport
import Testing

@Suite(
  "Sound that a collection has freed is made again where a source reads it",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct FreedSoundTests {
  private let place: Workspace
  private let files: [String]

  init() throws {
    place = try Workspace()
    files = ["intro.wav", "talk.wav"].map(place.file)
    for (number, file) in files.enumerated() {
      try Reference.record(file, seconds: 1 + 2 * Double(number))
    }
  }

  /// Sources that read stages: joined, mixed, and both, one upon the other.
  private static let sources = [
    "- concat: { from: [$intro, t] }\n    id: whole",
    "- mixdown: { from: [t, $intro] }\n    id: whole",
    """
    - concat: { from: [$intro, t] }
        id: joined
      - normalize: { loudness: -20 LUFS }
        id: even
      - mixdown: { from: [even, t] }
        id: mixed
      - concat: { from: [mixed, even] }
        id: whole
    """,
  ]

  private func pipeline(_ source: String, _ loudness: Int, keep: Bool = false) throws -> String {
    try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound, talk: sound }
      stages:
        - decode: { from: $talk }
        - gain: -3 dB
          id: t
        \(source)
        - normalize: { loudness: -\(loudness) LUFS }
          keep: \(keep)
        - export: [wav]
      """)
  }

  private func free() throws {
    let freed = try place.spool(["store", "gc", "--sound", "--grace", "0s"])
    #expect(freed.exitCode == 0, "\(freed.errorOutput)")
  }

  @Test("with the same bytes, whatever is in the store", arguments: sources)
  func bytes(source: String) throws {
    var wanted: [Int: Data] = [:]
    for loudness in [17, 18, 19] {
      let store = place.file("fresh-\(loudness)")
      let out = place.file("fresh-out-\(loudness)")
      let run = try place.run(
        try pipeline(source, loudness), files, ["--store", store, "--out", out])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let name = try #require(Workspace.names(in: out).first)
      wanted[loudness] = try Data(contentsOf: URL(filePath: "\(out)/\(name)"))
    }
    for (loudness, isKept) in [(17, false), (18, true), (19, false), (17, true)] {
      let run = try place.run(try pipeline(source, loudness, keep: isKept), files)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let name = try #require(place.exports.first)
      #expect(try place.export(name) == wanted[loudness])
      try free()
    }
    let every = try place.run(try pipeline(source, 18), files, ["--checkpoint", "every"])
    #expect(every.exitCode == 0, "\(every.errorOutput)")
  }

  private struct Plan: Decodable { let exportBytes: Double }

  private func plannedBytes(_ loudness: Int) throws -> Double {
    let plan = try place.spool(
      ["pipeline", "plan", try pipeline(Self.sources[0], loudness), "--json"] + files)
    #expect(plan.exitCode == 0, "\(plan.errorOutput)")
    return try JSONDecoder().decode(Plan.self, from: plan.output).exportBytes
  }

  @Test("and a plan knows the length of what is reused and of what is made again")
  func forecast() throws {
    let first = try plannedBytes(17)
    #expect(try place.run(try pipeline(Self.sources[0], 17), files).exitCode == 0)
    let size = try place.export(try #require(place.exports.first)).count
    #expect(abs(first - Double(size)) < 10_000)
    #expect(abs(try plannedBytes(18) - Double(size)) < 10_000, "the kept part is unknown")
    try free()
    #expect(abs(try plannedBytes(19) - Double(size)) < 10_000, "the freed part is unknown")
  }

  @Test("a run says which stages work once more for sound that was not kept")
  func again() throws {
    #expect(try place.run(try pipeline(Self.sources[0], 17), files).exitCode == 0)
    try free()
    let run = try place.spool(
      ["run", try pipeline(Self.sources[0], 18)] + files + ["--out", place.out])
    #expect(run.text.contains("again: its sound was not kept"), "\(run.text)")
    for command in [["runs", "show", "last"], ["why", "last"]] {
      let told = try place.spool(command).text
      #expect(told.contains("  again "), "\(told)")
    }
    // What is there needs no work.
    let same = try place.spool(
      ["run", try pipeline(Self.sources[0], 18)] + files + ["--out", place.out])
    #expect(same.text.contains("reused") && !same.text.contains("again"), "\(same.text)")
  }
}

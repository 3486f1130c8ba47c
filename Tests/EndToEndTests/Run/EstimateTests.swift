import Foundation
import TestSupport
import Testing

@Suite(
  "How long a run takes is learned from earlier ones",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct EstimateTests {
  private let place: Workspace
  /// A whole stage behind a pass, as stages of words are.
  private let pipeline: String

  init() throws {
    place = try Workspace()
    try Reference.record(place.file("a.wav"), seconds: 2)
    try Reference.record(place.file("b.wav"), seconds: 4)
    pipeline = try place.pipeline(
      """
      pipeline: slow
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
        - command:
            run: [sh, -c, 'sleep 1; cp "$0" "$1"', "{input}", "{output}"]
            outputs: { carries: sound }
        - export: { formats: [wav] }
      """)
  }

  private struct Plan: Decodable {
    let seconds: Double
    let unknown: [String]
    let reused: [String]
  }

  private func plan(_ name: String) throws -> Plan {
    let result = try place.spool(["pipeline", "plan", pipeline, place.file(name), "--json"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    return try JSONDecoder().decode(Plan.self, from: result.output)
  }

  @Test("what is kept behind freed sound is foreseen as reused, and so it is")
  func freedSound() throws {
    let (talk, words) = (place.file("talk.wav"), "one two three four five six seven")
    let text = try place.folder.write(words, to: "talk.txt")
    #expect(try #require(Program(named: "espeak-ng")).run(["-w", talk, words]).exitCode == 0)
    let pipeline = PackageFiles.pipeline("words.yaml")
    #expect(try place.run(pipeline, [talk, text]).exitCode == 0)
    let free = try place.spool(["store", "gc", "--older-than", "0s", "--grace", "0s"])
    #expect(free.exitCode == 0, "\(free.errorOutput)")
    try FileManager.default.removeItem(atPath: place.out + "/talk.srt")
    let result = try place.spool(
      ["pipeline", "plan", pipeline, talk, text, "--out", place.out, "--json"])
    let plan = try JSONDecoder().decode(Plan.self, from: result.output)
    let run = try place.run(pipeline, [talk, text])
    #expect(run.made.contains("decode"), "no sound was freed")
    #expect(plan.reused.contains("align") && run.reused.contains("align"), "\(result.text)")
    #expect(Set(plan.reused) == Set(run.reused))
  }

  @Test("a stage that never ran is named as unknown; once it ran, its time is in the sum")
  func learning() throws {
    let before = try plan("a.wav")
    #expect(before.unknown == ["command"] && before.seconds < 1)
    let text = try place.spool(["pipeline", "plan", pipeline, place.file("a.wav")]).text
    #expect(text.contains("besides command, whose speed is not known yet"), "\(text)")

    let first = try place.spool(["run", pipeline, place.file("a.wav"), "--json"])
    #expect(first.exitCode == 0, "\(first.errorOutput)")
    let after = try plan("b.wav")
    // Twice as long a recording: about 2 s, more on a busy machine, and never less.
    #expect(after.unknown == [] && after.seconds >= 2)

    let run = try place.spool(["run", pipeline, place.file("b.wav"), "--json"])
    let estimates = run.text.split(separator: "\n").filter { $0.contains(#""event":"estimate""#) }
    #expect(estimates.first?.contains(#""unknown":[]"#) == true, "\(estimates)")

    // A batch divides it among the files that it works on at once.
    let folder = place.file("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Reference.record(folder + "/c.wav", seconds: 2)
    let batch = try place.spool(["batch", pipeline, folder, "--out", place.out])
    let planned = batch.text.split(separator: "\n").first { $0.contains("1 to do") } ?? ""
    #expect(planned.contains("about") && !planned.contains("not known"), "\(batch.text)")
  }

  @Test("show and why tell the time inside each stage, and show --json the seconds")
  func stageTimes() throws {
    let run = try place.run(pipeline, [place.file("a.wav")])
    #expect(run.exitCode == 0)
    struct Shown: Decodable {
      struct Step: Decodable {
        let id: String
        let workSeconds: Double?
      }
      let steps: [Step]
    }
    let shown = try JSONDecoder().decode(
      Shown.self, from: try place.spool(["runs", "show", "last", "--json"]).output)
    let seconds = Dictionary(
      uniqueKeysWithValues: shown.steps.map { ($0.id, $0.workSeconds ?? -1) })
    #expect(seconds.values.allSatisfy { $0 >= 0 }, "\(seconds)")
    #expect((seconds["command"] ?? 0) >= 1 && (seconds["eq"] ?? 9) < (seconds["command"] ?? 0))
    let text = try place.spool(["runs", "show", "last"]).text
    #expect(text.contains("command"))
    #expect(text.split(separator: "\n").allSatisfy { !$0.hasSuffix(" ") }, "\(text)")
    #expect(try place.spool(["why", "last"]).text.contains(" s  "))
  }
}

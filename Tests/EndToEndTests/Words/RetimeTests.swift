import Foundation
import TestSupport
import Testing

@Suite("Words move with sound that was cut or stretched") struct RetimeTests {
  private static let text = """
    Please call me back on Monday morning. The meeting with the client was moved. The quick brown \
    fox jumps over the lazy dog.
    """

  /// Changes of the sound, and what they are to `retime`.
  private struct Change {
    let steps: [String]
    let names: String
    /// Where a moment of the old time is now; nil where only the sound itself can tell.
    let place: (@Sendable (Double) -> Double)?
  }

  private static let changes = [
    "trim": Change(steps: ["trim: { start: 1 s, end: 6 s }"], names: "[trim]") { $0 - 1 },
    "speed": Change(steps: ["speed: { tempo: 1.25 }"], names: "[speed]") { $0 / 1.25 },
    "silence": Change(
      steps: ["silence: { minimum: 0.2 s, maximum: 0.1 s }"], names: "[silence]", place: nil),
    "all": Change(
      steps: [
        "trim: { start: 1 s, end: 6 s }", "silence: { minimum: 0.2 s, maximum: 0.1 s }",
        "speed: { tempo: 0.8 }",
      ], names: "[trim, silence, speed]", place: nil),
  ]

  @Test("words behind a mix that was cut are moved, and one part is refused for two joins")
  func mixedAndCut() throws {
    let place = try Workspace()
    let sound = try speech(in: place)
    let text = try place.folder.write(Self.text, to: "talk.txt")
    func pipeline(_ changes: String) throws -> String {
      try place.pipeline(
        """
        pipeline: mixed
        inputs: { note: sound, text: transcript }
        stages:
          - decode: { from: $note }
          - align: { transcript: $text }
          - transcript: { formats: [json], name: before }
          - mixdown: { from: [decode, $note], tracks: [{ offset: 2 s }, {}] }
          - trim: { start: 1 s }
          - concat: { from: [$note, trim] }
          - retime: { changes: \(changes) , part: 1, from: align }
          - transcript: { formats: [json], name: after }
        """)
    }
    let run = try place.run(pipeline("[mixdown, trim]"), [sound, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let (before, after) = try (words("before", place), words("after", place))
    #expect(before.count == after.count && !before.isEmpty)
    for (old, new) in zip(before, after) {
      #expect(abs(old.startTime + 1 - new.startTime) < 0.01, "\(old) \(new)")
    }
    let refused = try place.run(pipeline("[mixdown, trim, concat]"), [sound, text])
    #expect(refused.exitCode == 2)
    #expect(
      refused.errorOutput.contains("retime cannot follow mixdown and concat at once"),
      "\(refused.errorOutput)")
  }

  @Test(
    "words that were aligned before are where they are heard afterwards",
    arguments: ["trim", "speed", "silence", "all"])
  func moved(name: String) throws {
    let change = try #require(Self.changes[name])
    let place = try Workspace()
    let sound = try speech(in: place)
    let text = try place.folder.write(Self.text, to: "talk.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: moved
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - align: { transcript: $text }
        - transcript: { formats: [json], name: before }
        - \(change.steps[0])
          from: decode
      \(change.steps.dropFirst().map { "  - \($0)" }.joined(separator: "\n"))
        - retime: { changes: \(change.names) }
          from: align
        - transcript: { formats: [json, srt], name: after }
        - align: { transcript: retime }
          id: heard
          from: \(name == "all" ? "speed" : name)
        - transcript: { formats: [json], name: heard }
      """)
    let run = try place.run(pipeline, [sound, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let before = try words("before", place)
    let after = try words("after", place)
    let heard = try words("heard", place)
    #expect(after.map(\.text) == heard.map(\.text))
    #expect(zip(after, after.dropFirst()).allSatisfy { $0.startTime <= $1.startTime })
    // What another alignment, of the sound as it is now, finds by itself.
    let distances = zip(after, heard).filter { ($0.0.flags ?? []).isEmpty }
      .map { abs($0.startTime - $1.startTime) }.sorted()
    #expect(distances.count > 10 && distances[distances.count / 2] < 0.04, "\(distances)")
    #expect(distances.filter { $0 < 0.15 }.count >= distances.count - 1, "\(distances)")
    if name == "silence" || name == "speed" {
      #expect(after.map(\.text) == before.map(\.text))
    } else {
      #expect(after.first?.text == "on" && after.last?.text == "over", "\(after)")
      #expect(after.first?.flags == ["clipped"])
    }
    guard let restartPoint = change.place else { return }
    let kept = before.drop { $0.text != after.first?.text }
    for (old, new) in zip(kept, after) where (new.flags ?? []).isEmpty {
      #expect(abs(restartPoint(old.startTime) - new.startTime) < 0.025, "\(old) \(new)")
      #expect(abs(restartPoint(old.endTime) - new.endTime) < 0.025, "\(old) \(new)")
    }
  }

  @Test("captions that were made before the cut are carried over, and what was cut out is told")
  func carriedOver() throws {
    let place = try Workspace()
    let sound = try speech(in: place)
    let captions = try place.folder.write(
      """
      1
      00:00:00,000 --> 00:00:01,900
      Please call me back on Monday morning.

      2
      00:00:02,200 --> 00:00:03,950
      The meeting with the client was moved.

      """, to: "talk.srt")
    let pipeline = try place.pipeline(
      """
      pipeline: moved
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - trim: { start: 2 s }
        - retime: { transcript: $text }
        - transcript: { formats: [json, srt] }
      """)
    let run = try place.run(pipeline, [sound, captions])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let srt = try String(contentsOfFile: place.out + "/talk.srt", encoding: .utf8)
    #expect(srt.hasPrefix("1\n00:00:00,200 --> "), "\(srt)")
    #expect(
      srt.contains("The meeting") && !srt.contains("Monday") && !srt.contains("2\n"), "\(srt)")
    let figures = run.findings["retime"]
    #expect(figures?.contains(#""removed":7"#) == true, "\(figures ?? "")")
    #expect(figures?.contains(#""words":14"#) == true, "\(figures ?? "")")
  }

  @Test("changes in another order are refused")
  func refusals() throws {
    let place = try Workspace()
    let sound = try speech(in: place)
    let text = try place.folder.write(Self.text, to: "talk.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: moved
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - trim: { start: 1 s, end: 6 s }
        - speed: { tempo: 1.25 }
        - retime: { transcript: $text, changes: [speed, trim] }
        - transcript: { formats: [json] }
      """)
    let run = try place.spool(["run", pipeline, sound, text, "--out", place.out])
    #expect(run.exitCode == 1)
    #expect(
      run.errorOutput.contains("the changes of time do not follow each other"),
      "\(run.errorOutput)")
  }

  @Test("words of a part are where they are heard in the show, and the captions have its name")
  func joined() throws {
    let place = try Workspace()
    let sound = try speech(in: place)
    try Reference.record(place.file("intro.wav"), seconds: 3, rate: 22_050)
    let text = try place.folder.write(Self.text, to: "talk.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound, talk: sound, text: transcript }
      stages:
        - decode: { from: $talk }
        - align: { transcript: $text }
        - transcript: { formats: [json], name: before }
        - cut: { remove: [{ from: 0 s, to: 1 s }], crossfade: 0 ms }
          from: decode
        - concat: { from: [$intro, cut] }
        - export: { formats: [wav], recording: $talk }
        - retime: { changes: [cut, concat], part: 2, from: align }
        - transcript: { formats: [json] }
        - mixdown: { from: [$intro, cut], tracks: [{}, { offset: 5 s }] }
        - retime: { changes: [cut, mixdown], part: 2, from: align }
          id: mixed
        - transcript: { formats: [json], name: mixed }
      """)
    let run = try place.run(pipeline, [place.file("intro.wav"), sound, text])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let before = try words("before", place)
    for (name, shift) in [("talk", 2.0), ("mixed", 4.0)] {
      let after = try words(name, place)
      #expect(after.count > 10 && after.count < before.count)
      let kept = before.drop { $0.text != after.first?.text }
      for (old, new) in zip(kept, after) where (new.flags ?? []).isEmpty {
        #expect(abs(old.startTime + shift - new.startTime) < 0.025, "\(name) \(old) \(new)")
      }
    }
    // What is left is fewer than were aligned, and the summary says so.
    let plain = try place.spool(
      ["run", pipeline, place.file("intro.wav"), sound, text, "--out", place.out])
    #expect(
      plain.text.contains(
        "words after retime  \(try words("talk", place).count) of \(before.count):"),
      "\(plain.text)")
  }

  private func words(_ name: String, _ place: Workspace) throws -> [ExportedWords.Word] {
    try ExportedWords(at: place.out + "/\(name).json").words
  }

  private func speech(in place: Workspace) throws -> String {
    let sound = place.file("talk.wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound, Self.text]).exitCode == 0)
    return sound
  }
}

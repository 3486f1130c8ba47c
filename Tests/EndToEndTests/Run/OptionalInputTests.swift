import Foundation
import TestSupport
import Testing

/// Recordings that a pipeline takes if they are there: an intro, a guest, music.
@Suite(
  "An input that is not given leaves the sound of the others as it is",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct OptionalInputTests {
  private let place: Workspace

  init() throws {
    place = try Workspace()
    for (name, seconds) in [("host", 3.0), ("guest", 2.0), ("intro", 1.0), ("music", 4.0)] {
      try Reference.record(place.file(name + ".wav"), seconds: seconds, channels: 1)
    }
  }

  private func file(_ name: String) -> String { "\(name)=\(place.file(name)).wav" }

  private func run(_ text: String, _ names: String...) throws -> SpoolRun {
    try place.run(
      try place.pipeline("pipeline: show\n" + text), names.map(file), ["--replace"])
  }

  /// How long the export is, in seconds.
  private func seconds() throws -> Double {
    Double(try SoundFacts(of: place.out + "/show.wav").frames) / 44_100
  }

  /// The mean power of all samples.
  private func power(_ path: String) throws -> Double {
    let samples = try Reference.floats(of: path)
    return samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(samples.count, 1))
  }

  @Test(
    "a step of several sounds that is skipped passes the one that is left",
    arguments: ["mixdown", "concat"])
  func passes(kind: String) throws {
    let text = """
      inputs: { host: sound, intro: sound, guest: sound? }
      stages:
        - decode: { from: $host }
          id: voice
        - \(kind): { from: [voice, $guest] }
          id: talk
          when: $guest
        - normalize: { loudness: -20 LUFS, from: talk }
        - concat: { from: [$intro, normalize] }
        - export: { formats: [wav], name: show }
      """
    let alone = try run(text, "host", "intro")
    #expect(alone.exitCode == 0 && alone.made.contains("normalize"), "\(alone.errorOutput)")
    #expect(try seconds() == 4)
    let both = try run(text, "host", "intro", "guest")
    #expect(both.exitCode == 0, "\(both.errorOutput)")
    #expect(try seconds() == (kind == "concat" ? 6 : 4))
  }

  @Test("a chain below a skipped step does not take another sound, and is skipped by name")
  func chain() throws {
    func text(_ from: String) -> String {
      """
      inputs: { host: sound, guest: sound? }
      stages:
        - decode: { from: $host }
        - gain: -3 dB
          id: one
        - decode: { from: $guest }
          id: second
        - gain: { gain: -6 dB\(from) }
          id: two
        - concat: { from: [one, two] }
        - export: { formats: [wav], name: show }
      """
    }
    let guessed = try run(text(""), "host")
    #expect(guessed.exitCode == 2 && place.exports == [])
    #expect(
      guessed.errorOutput.contains(
        "gain stands below second, which is skipped, and would take the sound of one"),
      "\(guessed.errorOutput)")
    let check = try place.spool(["pipeline", "check", "pipeline.yaml"])
    #expect(check.exitCode == 2 && check.errorOutput.contains("stands below second"))
    let named = try run(text(", from: second"), "host")
    #expect(named.exitCode == 0, "\(named.errorOutput)")
    #expect(try seconds() == 3)
    #expect(try run(text(", from: second"), "host", "guest").exitCode == 0)
    #expect(try seconds() == 5)
  }

  @Test("words of one sound are never written in the place of another's that is not given")
  func words() throws {
    func text(_ from: String) -> String {
      """
      pipeline: words
      inputs: { host: sound, guest: sound?, text: transcript?, other: transcript? }
      stages:
        - decode: { from: $host }
          id: h
        - align: { transcript: $text }
          when: $text
        - transcript: { formats: [srt], name: "{stem}.host" }
          when: $text
        - decode: { from: $guest }
          id: g
        - align: { transcript: $other, from: g }
          id: ga
          when: $other
        - transcript: { formats: [srt], name: "{stem}.guest"\(from) }
          when: $other
      """
    }
    _ = try place.pipeline(text(""))
    let check = try place.spool(["pipeline", "check", "pipeline.yaml"])
    #expect(
      check.exitCode == 2
        && check.errorOutput.contains(
          "transcript stands below ga, which is skipped, and would take the transcript of align"),
      "\(check.errorOutput)")
    _ = try place.pipeline(text(", from: ga"))
    let named = try place.spool(["pipeline", "check", "pipeline.yaml"])
    #expect(named.exitCode == 0, "\(named.errorOutput)")
    // Steps whose condition does not hold lack nothing.
    for inputs in [["host"], ["host", "guest"]] {
      let plan = try place.spool(
        ["pipeline", "plan", "pipeline.yaml"] + inputs.map { "\($0)=\(place.file("\($0).wav"))" })
      #expect(plan.exitCode == 0, "\(plan.errorOutput)")
    }
  }

  @Test("words that are moved in one of two cases alone are warned of")
  func unmovedAlternative() throws {
    func check(_ retime: String) throws -> String {
      _ = try place.pipeline(
        """
        pipeline: words
        inputs: { talk: sound, text: transcript? }
        stages:
          - decode: { from: $talk }
          - align: { transcript: $text }
            when: $text
          - recognize
            when: not $text
          - trim: { start: 1 s, from: decode }
          - export: { formats: [wav] }
          - retime: { changes: trim\(retime) }
          - transcript: { formats: [srt] }
        """.replacing("- recognize\n", with: "- recognize: {}\n"))
      let check = try place.spool(["pipeline", "check", "pipeline.yaml"])
      #expect(check.exitCode == 0, "\(check.errorOutput)")
      return check.errorOutput
    }
    let warning = "transcript writes words with the times before trim"
    #expect(try check(", from: align").contains(warning))
    #expect(try check("") == "")
  }

  @Test("words before a cut in two are to be taken behind the join, which no retime follows")
  func stretches() throws {
    func check(_ source: String) throws -> String {
      _ = try place.pipeline(
        """
        pipeline: words
        inputs: { talk: sound, ad: sound, text: transcript }
        stages:
          - decode: { from: $talk }
          - trim: { end: 10 s, from: decode }
            id: first
          - trim: { start: 10 s, from: decode }
            id: second
          - concat: { from: [first, $ad, second] }
            id: show
          - export: { formats: [wav], recording: $talk }
          - align: { transcript: $text, from: \(source) }
          - transcript: { formats: [srt] }
        """)
      let check = try place.spool(["pipeline", "check", "pipeline.yaml"])
      #expect(check.exitCode == 0, "\(check.errorOutput)")
      return check.errorOutput
    }
    let warning = try check("decode")
    #expect(warning.contains("stretches that show joins"), "\(warning)")
    #expect(warning.contains("by align: { from: show }"), "\(warning)")
    #expect(!warning.contains("retime"), "\(warning)")
    #expect(try check("show") == "")
  }

  @Test("a run of nothing says so")
  func nothing() throws {
    let run = try place.run(
      try place.pipeline(
        """
        pipeline: nothing
        inputs: { talk: sound? }
        stages:
          - decode: { from: $talk }
          - export: { formats: [wav] }
        """), [])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let text = try place.spool(["run", "pipeline.yaml", "--out", place.out]).text
    #expect(text.contains("nothing was made: no stage was given what it needs"), "\(text)")
  }

  @Test("settings of tracks keep to their tracks, and one of a missing track is left out")
  func tracks() throws {
    let text = """
      inputs: { host: sound, guest: sound, music: sound? }
      stages:
        - mixdown:
            from: [$music, $host, $guest]
            tracks: [{ gain: -30 dB }, { gain: -1 dB }, { mute: true }]
            duck: [{ track: 1, by: 2 }]
        - export: { formats: [wav], name: show }
      """
    let without = try run(text, "host", "guest")
    #expect(without.exitCode == 0, "\(without.errorOutput)")
    #expect(try seconds() == 3)
    let change = 10 * log10(try power(place.out + "/show.wav") / power(place.file("host.wav")))
    #expect(abs(change + 4) < 0.1, "1 dB of its own, and 3 dB of the middle: \(change)")
    #expect(try run(text, "host", "guest", "music").exitCode == 0)
    #expect(try seconds() == 4)
  }

  @Test("the number of a part is that in the pipeline, whether or not there is an intro")
  func part() throws {
    let text = """
      inputs: { host: sound, words: transcript, intro: sound?, music: sound? }
      stages:
        - concat: { from: [$intro, $host, $music] }
          id: show
        - export: { formats: [wav], name: show }
        - retime: { transcript: $words, changes: show, part: 2 }
        - transcript: { formats: [srt], name: show }
      """
    try "1\n00:00:00,500 --> 00:00:02,000\nhello there\n".write(
      toFile: place.file("words.srt"), atomically: true, encoding: .utf8)
    for (others, start) in [
      (["intro", "music"], "00:00:01,500"), (["music"], "00:00:00,500"),
      (["intro"], "00:00:01,500"),
      ([], "00:00:00,500"),
    ] {
      let run = try place.run(
        try place.pipeline("pipeline: show\n" + text),
        (["host"] + others).map(file) + ["words=\(place.file("words.srt"))"], ["--replace"])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let captions = String(decoding: try place.export("show.srt"), as: UTF8.self)
      #expect(captions.contains("\n\(start) --> "), "\(others): \(captions)")
    }
    // The words of a part that is not there have no place.
    let wrong = try place.run(
      try place.pipeline("pipeline: show\n" + text.replacing("part: 2", with: "part: 1")),
      [file("host"), "words=\(place.file("words.srt"))"], ["--replace"])
    #expect(wrong.exitCode == 2)
    #expect(
      wrong.errorOutput.contains("part 1 of retime means a sound that is not given"),
      "\(wrong.errorOutput)")
  }
}

import Foundation
import TestSupport
import Testing

@Suite(
  "The plugins for words do what their pages say",
  .enabled(if: Program(named: "python3") != nil, "there is no python3"))
struct SpokenPluginTests {
  private static let words = """
    {"systeminfo": "AVX = 1", "model": {"type": "base"}, "result": {"language": "en"},
     "transcription": [
      {"timestamps": {"from": "00:00:00,000", "to": "00:00:02,500"},
       "offsets": {"from": 0, "to": 2500}, "text": " Please call the garage today.", "tokens": [
        {"text": "[_BEG_]", "offsets": {"from": 0, "to": 0}, "id": 50364, "p": 0.9},
        {"text": " Please", "offsets": {"from": 10, "to": 400}, "p": 0.9},
        {"text": " call", "offsets": {"from": 400, "to": 800}, "p": 0.8},
        {"text": " the", "offsets": {"from": 800, "to": 900}, "p": 0.7},
        {"text": " gar", "offsets": {"from": 900, "to": 1200}, "p": 0.5},
        {"text": "age", "offsets": {"from": 1200, "to": 1500}, "p": 1.0},
        {"text": " today", "offsets": {"from": 1500, "to": 2300}, "p": 0.6},
        {"text": ".", "offsets": {"from": 2300, "to": 2400}, "p": 0.8}]},
      {"timestamps": {"from": "00:00:02,500", "to": "00:00:04,000"},
       "offsets": {"from": 2500, "to": 4000}, "text": " We decided to sell the car.", "tokens": []}]}
    """

  @Test("a recogniser's JSON becomes a transcript and its summary, where it is written or printed")
  func minutes() throws {
    for (ending, manner) in [("{output}", "file"), ("{output}.json", "json"), ("", "print")] {
      let place = try PluginPlace()
      let recogniser = try standIn(in: place)
      let run = try place.place.run(
        try minutes(in: place), [place.recording],
        ["--set", "recogniser=\(recogniser) {input} \(ending)"])
      try #require(run.exitCode == 0, "\(manner): \(run.errorOutput)")
      #expect(
        place.place.exports == [
          "tone.minutes.srt", "tone.minutes.txt", "tone.summary.json", "tone.summary.md",
        ])
      let text = String(decoding: try place.place.export("tone.minutes.txt"), as: UTF8.self)
      #expect(text.contains("Please call the garage today."))
      let captions = String(decoding: try place.place.export("tone.minutes.srt"), as: UTF8.self)
      #expect(captions.contains("00:00:00,010 --> "))
      let report = try JSONDecoder().decode(
        Report.self, from: place.place.export("tone.summary.json"))
      #expect(report.origin == "rules")
      #expect(report.actions.map(\.text) == ["Please call the garage today."])
      #expect(report.actions.map(\.startTime) == [0.01])
      #expect(report.decisions.map(\.phrase) == ["We decided"])
      #expect(report.urgent.isEmpty)
      let page = String(decoding: try place.place.export("tone.summary.md"), as: UTF8.self)
      #expect(page.contains("## To do\n\n- Please call the garage today. (0:00)\n"))
    }
  }

  @Test("a recogniser that fails, or writes something else, is told of in its own words")
  func failures() throws {
    let place = try PluginPlace()
    let recogniser = try standIn(in: place)
    for (command, reason, code) in [
      ("\(recogniser) no-such-file", "cannot open no-such-file", 1),
      ("no-such-program {input}", "transcribe-external cannot start no-such-program", 2),
      ("echo hello", "what the recogniser wrote is no JSON of Whisper", 1),
    ] as [(String, String, Int32)] {
      let run = try place.place.run(
        try minutes(in: place), [place.recording],
        ["--set", "recogniser=\(command)"])
      #expect(run.exitCode == code)
      #expect(run.errorOutput.contains(reason), "\(run.errorOutput)")
    }
  }

  @Test("what a file plugin warns of reaches the user")
  func warning() throws {
    let place = try PluginPlace()
    _ = try standIn(in: place)
    let run = try place.place.run(
      try minutes(in: place), [place.recording],
      ["--set", #"recogniser=echo '{"segments":[]}'"#])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings.contains { $0.contains("the recogniser has heard no words") })
  }

  @Test("a command writes the summary instead, with the text on its standard input")
  func command() throws {
    let place = try PluginPlace()
    let text = try place.place.folder.write(
      "It is urgent. We have to leave. Nothing else matters.\n", to: "talk.txt")
    let pipeline = try place.place.pipeline(
      """
      pipeline: gist
      inputs: { text: transcript }
      stages:
        - summary: { transcript: $text, command: tr a-z A-Z }
      """)
    try place.copy("summary")
    let run = try place.place.run(pipeline, [text])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let report = try JSONDecoder().decode(
      Report.self, from: place.place.export("talk.summary.json"))
    #expect(report.summary == "IT IS URGENT. WE HAVE TO LEAVE. NOTHING ELSE MATTERS.")
    #expect(report.origin == "command")
    #expect(report.urgent.map(\.text) == ["It is urgent."])
    #expect(report.actions.map(\.phrase) == ["have to"])
  }

  /// The pipeline, beside the plugins of the test.
  private func minutes(in place: PluginPlace) throws -> String {
    try place.place.pipeline(
      String(contentsOfFile: PackageFiles.pipeline("minutes.yaml"), encoding: .utf8))
  }

  /// A program that looks at its input as a recogniser does, and writes what one wrote. It lies in a
  /// plugin's folder, for others are closed to it.
  private func standIn(in place: PluginPlace) throws -> String {
    try place.copy("transcribe-external")
    try place.copy("summary")
    let path = "\(place.folder)/transcribe-external/recogniser.py"
    try """
    import sys
    try:
        with open(sys.argv[1], "rb") as file: head = file.read(44)
    except OSError:
        sys.exit("cannot open " + sys.argv[1])
    # 16 kHz, one channel.
    if head[:4] != b"RIFF" or head[22:28] != bytes([1, 0, 128, 62, 0, 0]): sys.exit("no such WAV file")
    text = r'''\(Self.words)'''
    if len(sys.argv) > 2: open(sys.argv[2], "w").write(text)
    else: print(text)
    """.write(toFile: path, atomically: true, encoding: .utf8)
    return "python3 \(path)"
  }

  private struct Report: Decodable {
    struct Finding: Decodable {
      let text: String
      let phrase: String
      let startTime: Double?
    }
    let summary: String
    let origin: String
    let actions: [Finding]
    let decisions: [Finding]
    let urgent: [Finding]
  }
}

import Platform

extension Command {
  /// `spool clean`: voice notes made clear and even.
  static let clean = Command(
    name: "clean", group: "Quick",
    summary: "Clean voice notes: rumble and room noise out, the voice even.",
    discussion: """
      Does what the pipeline voice-note does: a highpass and an equalizer for speech, a gate, a \
      compressor, and a loudness. To change any of it, save what --show prints and give it to spool \
      run.
      """,
    positionals: [QuickOptions.recordings],
    options: [QuickOptions.out, QuickOptions.loudness, QuickOptions.truePeak] + QuickOptions.single,
    examples: [
      Example("A note from a phone", "spool clean note.m4a -o clean.m4a"),
      Example("Quieter, several", "spool clean notes/*.m4a -t -18 -o clean/"),
    ],
    perform: CommandContext.cleanQuickly)
}

extension CommandContext {
  fileprivate func cleanQuickly() throws(SpoolError) -> ExitCode {
    let level = try quickLevel()
    return try runQuick(
      QuickWork(reportsLevels: true) { (recordings) throws(SpoolError) in
        try quickDecode(recordings) + QuickPipeline.cleaning(level)
      })
  }
}

extension QuickPipeline {
  /// The stages of `Pipelines/voice-note.yaml` between `decode` and `export`; a test compares them.
  static func cleaning(_ level: Stage) -> [Stage] {
    let bands = [
      "{ type: highpass, frequency: 80 Hz }",
      "{ type: peak, frequency: 250 Hz, gain: -2 dB, q: 1.2 }",
      "{ type: peak, frequency: 3.2 kHz, gain: 3 dB, q: 0.9 }",
      "{ type: high-shelf, frequency: 9 kHz, gain: 1.5 dB }",
    ]
    return [
      Stage("measure", id: "before"),
      Stage("eq", ["bands": bands.map { "\n        - " + $0 }.joined()]),
      Stage(
        "gate",
        [
          "threshold": "-42 dB", "attack": "2 ms", "hold": "80 ms", "release": "150 ms",
          "range": "-18 dB",
        ]),
      Stage(
        "compress",
        [
          "threshold": "-24 dB", "ratio": "3", "knee": "6 dB", "attack": "8 ms",
          "release": "120 ms",
        ]),
      level,
      Stage("measure", id: "after"),
    ]
  }
}

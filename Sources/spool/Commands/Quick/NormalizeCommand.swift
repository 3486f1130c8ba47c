import Audio
import PipelineModel
import Platform

extension Command {
  /// `spool normalize`: recordings to a loudness.
  static let normalize = Command(
    name: "normalize", group: "Quick",
    summary: "Bring recordings to a loudness, or to a peak.",
    discussion: """
      Measures the whole recording after EBU R 128 and applies one gain; true peaks that would \
      pass the ceiling are limited, and the gain is corrected for that. Prints the loudness before \
      and after. With --peak, the highest sample is brought to a level in place of a loudness. \
      Tags and cover art are carried over. With --album, all recordings get one gain, which brings \
      them to the loudness together, and they keep their loudness among each other.

      One recording goes to a file, several go to a folder, each in its own format or in that of \
      --format. Without --keep nothing stays but the files. --show prints the pipeline, to save and \
      to change.
      """,
    positionals: [QuickOptions.recordings],
    options: [
      QuickOptions.out, QuickOptions.loudness, QuickOptions.truePeak, Options.samplePeak,
      Options.album, Options.dualMono,
    ] + QuickOptions.single,
    examples: [
      Example("Podcast loudness, as MP3", "spool normalize in.wav -t -16 -o out.mp3"),
      Example(
        "Several files into a folder", "spool normalize *.wav -t -23 --format flac -o levelled/"),
      Example("An album, with one gain", "spool normalize *.flac --album -t -18 -o levelled/"),
      Example("To a peak", "spool normalize in.wav --peak -1 -o out.wav"),
    ],
    perform: CommandContext.normalizeQuickly)
}

extension Options {
  fileprivate static let samplePeak = Option<String?>.value(
    "peak", "DB", help: "The sample peak to reach, in place of a loudness.")
  fileprivate static let album = Option<Bool>.flag(
    "album", help: "Give all recordings one gain: they keep their loudness among each other.")
  fileprivate static let dualMono = Option<Bool>.flag(
    "dual-mono", help: "Measure mono as both speakers play it, 3 LU louder.")
}

extension CommandContext {
  fileprivate func normalizeQuickly() throws(SpoolError) -> ExitCode {
    let isAlbum = arguments[Options.album]
    let level: QuickPipeline.Stage
    if let peak = try value(of: Options.samplePeak, in: "normalize", ["peak"]) {
      guard arguments[QuickOptions.loudness] == nil, arguments[QuickOptions.truePeak] == nil,
        !arguments[Options.dualMono]
      else {
        throw .usage(
          "--peak is in place of a loudness",
          advice: "leave --peak out, or --loudness, --true-peak and --dual-mono")
      }
      guard !isAlbum else {
        throw .usage(
          "--album shares a gain by loudness", reason: "--peak asks for another one",
          advice: "leave out --album, or --peak")
      }
      level = QuickPipeline.Stage("normalize", ["peak": peak])
    } else {
      level = try quickLevel(isDualMono: arguments[Options.dualMono])
    }
    func work(
      _ level: QuickPipeline.Stage, album: ((Decibels) -> QuickWork)? = nil
    ) -> QuickWork {
      // As one speaker plays it, the file is not as loud as is asked for.
      QuickWork(reportsLevels: !arguments[Options.dualMono], album: album) {
        (recordings) throws(SpoolError) in
        try quickDecode(recordings) + [level]
      }
    }
    guard isAlbum else { return try runQuick(work(level)) }
    return try runQuick(
      work(level.adding("album", "true")) { gain in
        work(level.adding("album-gain", Unit.decibels.format(gain.value)))
      })
  }

  /// The stage of `--loudness` and `--true-peak`, or of podcast loudness without them.
  func quickLevel(isDualMono: Bool = false) throws(SpoolError) -> QuickPipeline.Stage {
    .normalize(
      loudness: try value(of: QuickOptions.loudness, in: "normalize", ["loudness"]) ?? "-16 LUFS",
      truePeak: try value(of: QuickOptions.truePeak, in: "normalize", ["true-peak"]) ?? "-1 dBTP",
      isDualMono: isDualMono)
  }

  /// The ceiling of `--true-peak`; nil without it, and for a command that has none.
  func askedCeiling() throws(SpoolError) -> String? {
    guard named(QuickOptions.truePeak) != nil else { return nil }
    return try value(of: QuickOptions.truePeak, in: "normalize", ["true-peak"])
  }

  /// The first stages: the recording, with `--keep-damaged`, at the rate of `--sample-rate`.
  func quickDecode(_ recordings: QuickRecordings) throws(SpoolError) -> [QuickPipeline.Stage] {
    let rate = try value(of: QuickOptions.sampleRate, in: "resample", ["rate"])
    let damaged = arguments[QuickOptions.keepDamaged] ? "keep" : nil
    return [
      QuickPipeline.Stage(
        "decode",
        ["from": "$recording", "channels": recordings.needStereo ? "2" : nil, "damaged": damaged])
    ]
      + (rate.map { [QuickPipeline.Stage("resample", ["rate": $0])] } ?? [])
  }
}

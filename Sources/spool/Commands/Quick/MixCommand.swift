import Audio
import Media
import PipelineModel
import Platform

extension Command {
  /// `spool mix`: several recordings become one.
  static let mix = Command(
    name: "mix", group: "Quick",
    summary: "Mix recordings into one.",
    discussion: """
      All recordings begin together, and the mix is as long as the longest. It has the rate of the \
      first, its tags and its cover art, and is mono if all of them are. --title, --artist, --tag and \
      --cover state others. A gain stands behind a name, or in --gain, once for \
      each recording in their order. A mix that would pass -1 dBTP is turned down as a whole; with \
      --loudness, it is brought to a loudness. With --duck, the others step back while the first is \
      heard, or each that --voice names. For volumes, pans, offsets and other ducking, save what --show prints, and \
      see spool stages mixdown.
      """,
    positionals: [Options.mixTracks],
    options: [
      QuickOptions.out, Options.mixGain, Options.duck, Options.voice, Options.mixLoudness,
      QuickOptions.truePeak,
    ]
      + QuickOptions.common,
    examples: [
      Example("Two recordings", "spool mix a.wav b.wav -o mix.wav"),
      Example(
        "An episode with its tags",
        "spool mix voice.wav music.mp3:-12dB --title 'Show 1' --cover a.jpg -o a.mp3"),
      Example("Music under a voice", "spool mix voice.wav music.mp3:-12dB -t -16 -o show.mp3"),
      Example(
        "Music that steps back while a voice is heard",
        "spool mix voice.wav music.mp3 --duck -o show.mp3"
      ),
    ],
    perform: CommandContext.mixQuickly)
}

extension Options {
  fileprivate static let mixTracks = Positional<[String]>.repeated(
    "RECORDING", minimum: 2,
    help: "The recordings, each with a gain if wanted: music.mp3:-12dB.", completion: .files())
  fileprivate static let mixLoudness = Option<String?>.value(
    "loudness", "LUFS", short: "t", help: "Bring the mix to this integrated loudness (EBU R 128).")
  fileprivate static let mixGain = Option<[String]>.values(
    "gain", "DB", help: "The gain of a recording: the first for the first one, and so on.")
  fileprivate static let duck = Option<Bool>.flag(
    "duck", help: "Turn the others down while the voice is heard.")
  fileprivate static let voice = Option<[String]>.values(
    "voice", "RECORDING",
    help: "With --duck, a recording that the others give way to; if left out, the first.",
    completion: .files())
}

/// A recording with its gain in a mix.
private struct MixInput {
  let path: String
  /// As typed, `-12dB`; nil for none.
  let gain: String?

  /// Splits `music.mp3:-12dB`, unless there is a file of that name.
  init(_ argument: String, isFile: (String) -> Bool) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count > 1, let last = parts.last, !isFile(argument),
      (try? Unit.decibels.parse(String(last))) != nil
    {
      path = parts.dropLast().joined(separator: ":")
      gain = String(last)
    } else {
      path = argument
      gain = nil
    }
  }
}

extension CommandContext {
  fileprivate func mixQuickly() throws(SpoolError) -> ExitCode {
    let inputs = arguments[Options.mixTracks].map {
      MixInput($0) { FilePath.exists(absolute($0)) }
    }
    let tracks = try tracks(inputs, gains: gains(of: inputs))
    let isLevelled = arguments[QuickOptions.loudness] != nil
    if !isLevelled, arguments[QuickOptions.truePeak] != nil {
      throw .usage("--true-peak goes with a loudness", advice: "add --loudness -16")
    }
    let level = isLevelled ? try quickLevel() : QuickPipeline.Stage("measure", id: "after")
    let rate = try value(of: QuickOptions.sampleRate, in: "resample", ["rate"])
    let isDucked = arguments[Options.duck]
    let work = QuickWork(reportsLevels: true, mixName: "mix") { recordings in
      let isMono = recordings.descriptions.allSatisfy { $0.format.channelCount == 1 }
      return [
        QuickPipeline.Stage(
          "mixdown",
          [
            "from": "[$first, $others]", "tracks": tracks,
            "duck": isDucked ? "[{ role: music, by-role: voice }]" : nil,
            "channels": isMono ? "1" : nil,
            // A mono recording is heard on both sides as it is.
            "pan-law": "0 dB", "sample-rate": rate, "headroom": "reduce",
          ]), level,
      ]
    }
    return try runQuick(work, on: inputs.map(\.path))
  }

  /// The settings of the tracks as `mixdown` takes them; nil without any.
  private func tracks(_ inputs: [MixInput], gains: [String]?) throws(SpoolError) -> String? {
    var voices: Set<Int> = []
    for named in arguments[Options.voice] {
      guard arguments[Options.duck] else {
        throw .usage("--voice says whose voice the others give way to", advice: "add --duck")
      }
      let same = inputs.indices.filter { absolute(inputs[$0].path) == absolute(named) }
      if same.isEmpty {
        throw .usage(
          "--voice \(named) is none of the recordings",
          reason: "they are \(inputs.map(\.path).joined(separator: ", "))",
          advice: ShellWords.line(["--voice", inputs.first?.path ?? ""]))
      }
      voices.formUnion(same)
    }
    if voices.isEmpty, arguments[Options.duck] { voices = [0] }
    if !arguments[Options.voice].isEmpty, voices.count == inputs.count {
      throw .usage(
        "every recording is a --voice", advice: "leave out --duck, or name the voices alone")
    }
    guard gains != nil || !voices.isEmpty else { return nil }
    let tracks = inputs.indices.map { index in
      let gain = gains.map { "gain: \($0[index])" }
      let role = voices.isEmpty ? nil : "role: \(voices.contains(index) ? "voice" : "music")"
      return "{ \([gain, role].compactMap(\.self).joined(separator: ", ")) }"
    }
    return "[\(tracks.joined(separator: ", "))]"
  }

  /// The gain of each input with its unit; nil if none has one.
  private func gains(of inputs: [MixInput]) throws(SpoolError) -> [String]? {
    let options = arguments[Options.mixGain]
    guard options.count <= inputs.count else {
      throw .usage(
        "--gain was given \(options.count) times for \(inputs.count) recordings",
        advice: "once for each recording at most")
    }
    guard !options.isEmpty || inputs.contains(where: { $0.gain != nil }) else { return nil }
    var gains: [String] = []
    for (index, input) in inputs.enumerated() {
      let option = options.indices.contains(index) ? options[index] : nil
      if let option, let own = input.gain {
        throw .usage(
          "\(input.path) has two gains", reason: "\(own) behind its name, and --gain \(option)",
          advice: "leave one of them out")
      }
      let typed = input.gain.map { "\(input.path):\($0)" } ?? "--gain \(option ?? "")"
      gains.append(
        try Self.value(
          input.gain ?? option ?? "0 dB", typed: typed, in: "mixdown", ["tracks", "gain"]))
    }
    return gains
  }
}

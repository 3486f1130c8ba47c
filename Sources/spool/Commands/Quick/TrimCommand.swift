import Audio
import Media
import PipelineModel
import Platform

extension Command {
  /// `spool trim`: one stretch of a recording.
  static let trim = Command(
    name: "trim", group: "Quick",
    summary: "Keep one stretch of a recording.",
    discussion: """
      Times are rounded to the nearest frame; what is kept stays as it is, bit for bit, in formats \
      without loss. A time is in seconds (90), minutes (1:30) or hours (1:02:03.5); a negative one \
      counts from the end. Of several recordings, the same stretch of each is kept.
      """,
    positionals: [QuickOptions.recordings],
    options: [QuickOptions.out, Options.trimFrom, Options.trimTo] + QuickOptions.single,
    examples: [
      Example("From 1:30 to 2:10", "spool trim in.wav --from 1:30 --to 2:10 -o part.wav"),
      Example("The last ten seconds", "spool trim in.wav --from -10 -o end.wav"),
      Example("All but the last two", "spool trim in.wav --to -2 -o out.wav"),
      Example("Of several, into a folder", "spool trim *.wav --from 0.5 -o trimmed/"),
    ],
    perform: CommandContext.trimQuickly)
}

extension Options {
  fileprivate static let trimFrom = Option<TrimTime?>.value(
    "from", "TIME", help: "Where it begins.", defaultText: "the beginning")
  fileprivate static let trimTo = Option<TrimTime?>.value(
    "to", "TIME", help: "Where it ends.", defaultText: "the end")
}

/// A time in a recording; negative from its end.
private struct TrimTime: ArgumentValue {
  let seconds: Double
  let argument: String

  static let expectation = "a time like 90, 1:30, 1:02:03.5, or -10 from the end"

  init?(argument: String) {
    guard let seconds = try? Unit.seconds.parse(argument), abs(seconds) <= 360_000 else {
      return nil
    }
    self.seconds = seconds
    self.argument = argument
  }

  var isFromEnd: Bool { seconds < 0 || argument.hasPrefix("-") }
}

extension CommandContext {
  fileprivate func trimQuickly() throws(SpoolError) -> ExitCode {
    let (from, to) = (arguments[Options.trimFrom], arguments[Options.trimTo])
    guard from != nil || to != nil else {
      throw .usage(
        "nothing is to be trimmed", advice: "--from TIME, --to TIME, or both")
    }
    let isFromEnd = [from, to].contains { $0?.isFromEnd == true }
    let work = QuickWork(keepsSamples: true) { (recordings) throws(SpoolError) in
      let input = recordings.inputs[0]
      let stretch = TrimStretch(
        from: from, to: to, length: try recordingLength(input, isExact: isFromEnd), name: input)
      return try quickDecode(recordings) + [try stretch.stage()]
    }
    return try runQuick(work)
  }

  /// The length that a recording declares, in seconds; nil if it declares none.
  /// - Parameter isExact: whether the length must be that of the decoded sound, which headers of lossy
  ///   formats declare with their padding or not at all: such a recording is decoded to its end.
  private func recordingLength(_ path: String, isExact: Bool) throws(SpoolError) -> Double? {
    let file = SourceFile(absolute(path))
    let options = DecoderOptions(keepsDamaged: arguments[QuickOptions.keepDamaged])
    let decoder = try SoundDecoder(file, options: options)
    let rate = decoder.format.sampleRate
    let codec = try MediaProbe.describe(file).codec
    let isDeclared = decoder.isLengthDeclared && (codec.hasPrefix("pcm_") || codec == "flac")
    // Of a damaged recording, less is left than is declared.
    guard isExact, !isDeclared || options.keepsDamaged else {
      return decoder.isLengthDeclared ? decoder.expectedFrames?.duration(at: rate).value : nil
    }
    var buffer = AudioBuffer(channelCount: decoder.format.channelCount, capacity: Frames(16_384))
    while try decoder.read(into: &buffer) {}
    return decoder.position.duration(at: rate).value
  }
}

/// A stretch of a recording as `trim` takes it. A pure value.
private struct TrimStretch {
  let from: TrimTime?
  let to: TrimTime?
  /// Nil if not known before all is decoded, where no time is from the end.
  let length: Double?
  /// The recording, for errors.
  let name: String

  /// The stage; refuses times outside the recording.
  func stage() throws(SpoolError) -> QuickPipeline.Stage {
    let start = try from.map { (time) throws(SpoolError) in try position(time, "--from") }
    if let length, let from, let start, start >= length {
      throw .usage("--from \(from.argument) is not before the end of \(name)", reason: isLong)
    }
    let end = try to.map { (time) throws(SpoolError) in try position(time, "--to") }
    // Players round lengths up to whole seconds.
    if let length, let to, let end, end >= length + 1 {
      throw .usage(
        "--to \(to.argument) is beyond the end of \(name)", reason: isLong,
        advice: "leave --to out to keep everything to the end")
    }
    if let to, let end, end <= start ?? 0 {
      throw .usage(
        "nothing is left of \(name)",
        reason: "--to \(to.argument) is not after "
          + (from.map { "--from \($0.argument)" } ?? "the beginning"),
        advice: "an end after the start")
    }
    return stage(start, end: end)
  }

  private func stage(_ start: Double?, end: Double?) -> QuickPipeline.Stage {
    QuickPipeline.Stage(
      "trim", ["start": start.map(Unit.seconds.format), "end": end.map(Unit.seconds.format)])
  }

  private var isLong: String? {
    length.map { "it is \(Format.exactPosition($0)) long" }
  }

  /// The time from the beginning.
  private func position(_ time: TrimTime, _ option: String) throws(SpoolError) -> Double {
    guard time.isFromEnd else { return time.seconds }
    guard let length, length + time.seconds >= 0 else {
      throw .usage("\(option) \(time.argument) is before the beginning of \(name)", reason: isLong)
    }
    return length + time.seconds
  }
}

import Media
import PipelineModel
import Platform
import SoundEngine
import Stages

/// Options of all quick commands.
enum QuickOptions {
  static let recordings = Positional<[String]>.repeated(
    "RECORDING", help: "The recordings, in any format that FFmpeg reads; of a video its sound.",
    completion: .files())
  static let out = Option<String?>.value(
    "out", "PATH", short: "o",
    help: "The file to write, whose ending says the format; for several recordings FOLDER/.",
    completion: .files())
  static let format = Option<[String]>.values(
    "format", "FORMAT", short: "f",
    help: "wav, m4a, alac, flac, mp3, opus or ogg, for files in a folder; several with commas.",
    completion: .choices(ExportFormat.allCases.map(\.rawValue)))
  static let bitRate = Option<String?>.value(
    "bit-rate", "RATE", short: "b", help: "Of m4a, mp3 and opus, as 192k.",
    defaultText: "128k; of opus 96k")
  static let bits = Option<BitDepth?>.value(
    "bits", "BITS", help: "Of wav, alac and flac; float of wav only.",
    defaultText: "24")
  static let sampleRate = Option<String?>.value(
    "sample-rate", "RATE", help: "Convert to this rate: 44100, or '44.1 kHz'.",
    defaultText: "the recording's, or the next that the format has")
  static let title = Option<String?>.value(
    "title", "TEXT", help: "The title in the files' tags.", defaultText: "the recording's")
  static let artist = Option<String?>.value(
    "artist", "TEXT", help: "The artist in the files' tags.", defaultText: "the recording's")
  static let tag = Option<[String]>.values(
    "tag", "NAME=TEXT", help: "Another tag, as album='On the Road'; an empty one is left out.",
    completion: NameKind.tags.hint())
  static let cover = Option<String?>.value(
    "cover", "FILE", help: "The picture of the files, JPEG or PNG; WAV has none.",
    defaultText: "the recording's", completion: .files(extensions: ["jpg", "jpeg", "png"]))
  static let loudness = Option<String?>.value(
    "loudness", "LUFS", short: "t", help: "The integrated loudness to reach (EBU R 128).",
    defaultText: "-16")
  static let truePeak = Option<String?>.value(
    "true-peak", "DBTP", help: "The ceiling of the true peaks, with a loudness.",
    defaultText: "-1")
  static let keepDamaged = Option<Bool>.flag(
    "keep-damaged", help: "Take what can be decoded of a damaged recording.")
  static let replace = Option<Bool>.flag("replace", help: "Replace files that are there.")
  static let dryRun = Option<Bool>.flag(
    "dry-run", short: "n", help: "Check everything, and say what would be written.")
  static let show = Option<Bool>.flag(
    "show", help: "Print the pipeline, which spool run takes; write nothing.")
  static let keep = Option<Bool>.flag(
    "keep", help: "Keep the work in the store, as spool run does: it can be resumed and reused.")

  /// The options of every quick command, to stand behind its own.
  static let common: [any DeclaredArgument<OptionDeclaration>] = [
    format, bitRate, bits, sampleRate, title, artist, tag, cover, replace, dryRun, show, keep,
    Options.store, Options.noSandbox, Options.json, Options.quiet,
  ]

  /// The options of the commands that take one recording at a time.
  static let single: [any DeclaredArgument<OptionDeclaration>] = [keepDamaged] + common
}

/// The values of `--bits`.
enum BitDepth: String, CaseIterable, ArgumentValue {
  case sixteen = "16"
  case twentyFour = "24"
  case float
}

/// How a quick command writes its files: its common options, checked.
struct QuickFormat {
  /// Those of `--format`; empty without it.
  let formats: [ExportFormat]
  private let bits: BitDepth?
  private let bitRate: String?
  /// As `resample` takes it.
  let sampleRate: String?
  private let typedBitRate: String
  /// As `metadata` of `export` takes them, and the picture's absolute path.
  private let tags: [(name: String, text: String)]
  private let cover: String?

  init(_ context: CommandContext) throws(SpoolError) {
    let arguments = context.arguments
    var formats: [ExportFormat] = []
    let words = arguments[QuickOptions.format].flatMap { $0.split { ",; ".contains($0) } }
    for word in words {
      guard let format = ExportFormat(rawValue: String(word)) else {
        let known = ExportFormat.allCases.map(\.rawValue)
        let near = Problem.nearest(to: String(word), in: known)
        throw .usage(
          "--format \(word) is none that Spool writes",
          reason: "it writes \(known.joined(separator: ", "))",
          advice: near.map { "--format \($0)" })
      }
      if !formats.contains(format) { formats.append(format) }
    }
    self.formats = formats
    bits = arguments[QuickOptions.bits]
    bitRate = arguments[QuickOptions.bitRate]
    typedBitRate = "--bit-rate \(bitRate ?? "")"
    sampleRate = try context.value(of: QuickOptions.sampleRate, in: "resample", ["rate"])
    tags = try context.statedTags()
    cover = arguments[QuickOptions.cover].map { context.absolute($0) }
    if let cover {
      do throws(SpoolError) { _ = try CoverArt(file: cover) } catch { throw error.asUsage }
    }
  }

  /// The stage that writes the files.
  /// - Parameters:
  ///   - formats: the formats to write.
  ///   - name: of the files; nil for the recording's.
  ///   - depth: of a recording whose samples stay as they are; nil if they are changed.
  func export(
    _ formats: [ExportFormat], name: String?, depth: BitDepth?
  ) throws(SpoolError) -> QuickPipeline.Stage {
    let list = formats.map(\.rawValue).joined(separator: ", ")
    if bits != nil, !formats.contains(where: \.isLossless) {
      throw .usage(
        "--bits is for wav, alac and flac, and the format is \(list)",
        advice: "leave --bits out, or choose its size with --bit-rate")
    }
    let hasOthers = formats.contains { $0.isLossless && $0 != .wav }
    if bits == .float, hasOthers || !formats.contains(.wav) {
      throw .usage(
        "--bits float is for wav, and the format is \(list)", advice: "--bits 24, or --format wav")
    }
    var depth = bits ?? (sampleRate == nil ? depth : nil)
    if depth == .float, hasOthers { depth = nil }
    return .export(
      formats, name: name, bits: depth?.rawValue, bitRate: try bitRate(of: formats, list),
      tags: tags, cover: cover)
  }

  /// What is asked for and formats do not have, in words.
  func compromises(of formats: [ExportFormat]) -> [String] {
    var found: [String] = []
    if formats.contains(.opus), let sampleRate, (try? Unit.hertz.parse(sampleRate)) != 48_000 {
      found.append(
        "an Opus file has 48 kHz whatever --sample-rate says: the sound has no more than that of "
          + "\(sampleRate)")
    }
    let rate = sampleRate.flatMap { try? Unit.hertz.parse($0) } ?? 0
    for (format, highest) in Self.highestRates where formats.contains(format) && rate > highest {
      found.append(
        "\(format.rawValue) files have no more than \(Int(highest / 1000)) kHz, whatever --sample-rate "
          + "says")
    }
    let kilobits = bitRate.flatMap { text in
      Double(text.prefix { $0.isNumber || $0 == "." })
    }
    if formats.contains(.mp3), let kilobits, !Self.mp3BitRates.contains(kilobits) {
      found.append(
        "MP3 has no \(typedBitRate): the nearest that it has is taken, of "
          + Self.mp3BitRates.map { Format.decimal($0, places: 0) }.joined(separator: ", "))
    }
    return found
  }

  /// The highest sample rates in hertz of MPEG-1 layer III (ISO/IEC 11172-3), of AAC (ISO/IEC 14496-3)
  /// and of libvorbis.
  private static let highestRates: [(ExportFormat, Double)] = [
    (.mp3, 48_000), (.m4a, 96_000), (.ogg, 192_000),
  ]

  /// The bit rates of layer III of MPEG-1 and MPEG-2 in kbit/s (ISO/IEC 11172-3 and 13818-3).
  private static let mp3BitRates: [Double] = [
    8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256, 320,
  ]

  private func bitRate(of formats: [ExportFormat], _ list: String) throws(SpoolError) -> String? {
    guard let bitRate else { return nil }
    var text: String?
    for format in formats
    where CommandContext.type(of: [format.rawValue, "bit-rate"], in: "export")
      != nil
    {
      text = try CommandContext.value(
        bitRate, typed: typedBitRate, in: "export", [format.rawValue, "bit-rate"])
    }
    if let text { return text }
    throw .usage(
      "\(typedBitRate) is for m4a, mp3 and opus, and the format is \(list)",
      reason: formats == [.ogg]
        ? "Ogg Vorbis has a quality, which export in a pipeline takes"
        : "it has no bit rate to choose", advice: "leave --bit-rate out")
  }
}

extension CommandContext {
  /// The tags of `--title`, `--artist` and `--tag`, checked.
  fileprivate func statedTags() throws(SpoolError) -> [(name: String, text: String)] {
    let shorthands = [("title", QuickOptions.title), ("artist", QuickOptions.artist)]
    var typed = shorthands.compactMap { name, option in
      arguments[option].map { (name: name, text: $0, typed: ShellWords.line(["--\(name)", $0])) }
    }
    for argument in arguments[QuickOptions.tag] {
      let line = ShellWords.line(["--tag", argument])
      guard let (name, text) = Self.assignment(argument), StatedTags.names.contains(name) else {
        let word = Self.assignment(argument)?.name ?? argument
        let near = Problem.nearest(to: word, in: StatedTags.names)
        throw .usage(
          "\(line) names no tag",
          reason: "NAME=TEXT, with one of these names: "
            + StatedTags.names.joined(separator: ", "),
          advice: near.map { "--tag \($0)=TEXT" })
      }
      typed.append((name, text, line))
    }
    var tags: [(name: String, text: String)] = []
    for tag in typed {
      guard !tags.contains(where: { $0.name == tag.name }) else {
        throw .usage("\(tag.typed) is the second \(tag.name)", advice: "state each tag once")
      }
      do throws(SpoolError) { _ = try StatedTags([tag.name: tag.text]) } catch {
        throw .usage("\(tag.typed): \(error.why)", advice: error.advice)
      }
      tags.append((tag.name, tag.text))
    }
    return tags
  }
}

extension BitDepth {
  /// The depth in which the samples of a recording fit as they are; nil if that is not known.
  init?(of recording: MediaDescription) {
    if ["pcm_f32le", "pcm_f32be", "pcm_f64le", "pcm_f64be"].contains(recording.codec) {
      self = .float
    } else if let bits = recording.bitDepth, bits <= 16 {
      self = .sixteen
    } else {
      return nil
    }
  }
}

extension ExportFormat {
  /// The format of a recording, if Spool writes it; else WAV.
  init(of recording: MediaDescription) {
    switch recording.codec {
    case "aac": self = .m4a
    case "vorbis": self = .ogg
    case let codec: self = ExportFormat(rawValue: codec) ?? .wav
    }
  }
}

/// Options whose values are parameters of stages: the stages' declarations say what is allowed.
extension CommandContext {
  /// The value of an option as the parameter takes it: `-16` becomes `-16 LUFS`. Nil without it.
  func value(
    of option: Option<String?>, in kind: String, _ path: [String]
  ) throws(SpoolError) -> String? {
    try arguments[option].map { (text) throws(SpoolError) in
      try Self.value(
        text, typed: "--\(option.declaration.name) \(text)", in: kind, path)
    }
  }

  /// A text as the parameter takes it, with its unit.
  /// - Parameters:
  ///   - typed: how the user wrote it, for errors.
  ///   - kind: the stage kind.
  ///   - path: the parameter's name, or the names that lead to it.
  static func value(
    _ text: String, typed: String, in kind: String, _ path: [String]
  ) throws(SpoolError) -> String {
    guard case .number(let unit, let range)? = type(of: path, in: kind) else { return text }
    let allowed = ParameterType.number(unit, range).allowed
    let value: Double
    // Rates are often written as 48k.
    let isShort = unit.dimension == .frequency && text.hasSuffix("k")
    do throws(Unit.ParseFailure) { value = try unit.parse(isShort ? text + "Hz" : text) } catch {
      switch error {
      case .notANumber:
        throw .usage("\(typed) is no number", reason: "allowed: \(allowed)")
      case .wrongUnit(let symbol):
        throw .usage(
          "\(typed) has the unit \"\(symbol)\"", reason: "allowed: \(allowed)",
          advice: "units: \(unit.alternatives.joined(separator: ", ")), or none")
      }
    }
    let limits = range.lowerBound * unit.factor...range.upperBound * unit.factor
    guard limits.contains(value) else {
      // A loudness is often given without its sign.
      let isSignMissing = limits.contains(-value) && !text.hasPrefix("-")
      throw .usage(
        "\(typed) is out of range", reason: "allowed: \(allowed)",
        advice: isSignMissing ? "did you mean \(typed.dropLast(text.count))-\(text)?" : nil)
    }
    return unit.format(value)
  }

  /// The type of a parameter; nil if the kind has none of that name.
  static func type(of path: [String], in kind: String) -> ParameterType? {
    var members = StageCatalog.builtIn[kind]?.descriptor.parameters ?? []
    var type: ParameterType?
    for name in path {
      type = members.first { $0.name == name }?.type
      switch type {
      case .group(let inner), .list(of: .group(let inner), _): members = inner
      default: members = []
      }
    }
    return type
  }
}

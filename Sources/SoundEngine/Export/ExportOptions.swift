package import Audio
import Media
package import PipelineModel
package import Platform

/// The parameters of a stage that writes sound files in formats of the user's choice.
package protocol ExportOptions {
  var formats: [String] { get }
  var wav: LinearOptions { get }
  var m4a: LossyOptions { get }
  var alac: LinearOptions { get }
  var flac: FLACOptions { get }
  var mp3: MP3Options { get }
  var opus: LossyOptions { get }
  var ogg: VorbisOptions { get }
  var dither: String { get }
  var verify: Bool { get }
}

/// How samples without loss are written.
package struct LinearOptions: Codable, Sendable { let bits: String }
/// How AAC and Opus are encoded.
package struct LossyOptions: Codable, Sendable { let bitRate: Double }
/// How FLAC is encoded.
package struct FLACOptions: Codable, Sendable {
  package let bits: String
  package let compression: Int
}
/// How MP3 is encoded.
package struct MP3Options: Codable, Sendable {
  let bitRate: Double
  let quality: Int?
}
/// How Vorbis is encoded.
package struct VorbisOptions: Codable, Sendable { let quality: Int }

extension ExportOptions {
  /// One target for each format.
  /// - Parameter kind: the stage's, for messages.
  package func targets(of kind: String) throws(SpoolError) -> [ExportTarget] {
    var targets: [ExportTarget] = []
    for word in formats {
      guard let format = ExportFormat(rawValue: word) else {
        throw SpoolError("\(kind) knows no format \(word)")
      }
      guard !targets.contains(where: { $0.format == format }) else {
        throw SpoolError("\(kind) names the format \(word) twice", advice: "each format once")
      }
      targets.append(
        ExportTarget(
          format: format, spec: spec(of: format), isDithered: dither == "tpdf", isVerified: verify))
    }
    return targets
  }

  private func spec(of format: ExportFormat) -> ExportSpec {
    func depth(_ bits: String) -> Quantizer.Depth { bits == "16" ? .bits16 : .bits24 }
    return switch format {
    case .wav: .wav(wav.bits == "float" ? .float32 : .integer(depth(wav.bits)))
    case .m4a: .aac(bitRate: Int(m4a.bitRate))
    case .alac: .alac(depth(alac.bits))
    case .flac: .flac(depth(flac.bits), level: flac.compression)
    case .mp3: .mp3(bitRate: Int(mp3.bitRate), quality: mp3.quality)
    case .opus: .opus(bitRate: Int(opus.bitRate))
    case .ogg: .vorbis(quality: ogg.quality)
    }
  }
}

extension [ParameterDescriptor] {
  /// The parameters that `ExportOptions` has.
  package static func exportOptions(formats presence: ParameterDescriptor.Presence) -> Self {
    [
      ParameterDescriptor(
        "formats", .list(of: .choice(ExportFormat.allCases.map(\.rawValue)), count: 1...7),
        presence, "the files to write"),
      ParameterDescriptor(
        "wav",
        .group([
          ParameterDescriptor(
            "bits", .choice(["16", "24", "float"]), .defaulted("24"), "the sample format")
        ]), .defaulted(""), "how WAV is written"),
      ParameterDescriptor(
        "m4a",
        .group([
          ParameterDescriptor(
            "bit-rate", .number(.kilobits, 16...512), .defaulted("128 kbit/s"),
            "the bit rate of all channels together")
        ]), .defaulted(""), "how AAC is encoded"),
      ParameterDescriptor(
        "alac",
        .group([
          ParameterDescriptor("bits", .choice(["16", "24"]), .defaulted("24"), "the sample format")
        ]), .defaulted(""), "how Apple Lossless is encoded"),
      ParameterDescriptor(
        "flac",
        .group([
          ParameterDescriptor(
            "bits", .choice(["16", "24"]), .defaulted("24"), "the sample format"),
          ParameterDescriptor(
            "compression", .integer(0...12), .defaulted("5"), "smaller files for more work"),
        ]), .defaulted(""), "how FLAC is encoded"),
      ParameterDescriptor(
        "mp3",
        .group([
          ParameterDescriptor(
            "bit-rate", .number(.kilobits, 8...320), .defaulted("128 kbit/s"),
            "the constant bit rate of all channels together; of those that MP3 has, the nearest"),
          ParameterDescriptor(
            "quality", .integer(0...9), .optional,
            "a variable bit rate in its place, from 0 (best) to 9 (smallest)"),
        ]), .defaulted(""), "how MP3 is encoded"),
      ParameterDescriptor(
        "opus",
        .group([
          ParameterDescriptor(
            "bit-rate", .number(.kilobits, 6...512), .defaulted("96 kbit/s"),
            "the mean bit rate of all channels together")
        ]), .defaulted(""), "how Opus is encoded"),
      ParameterDescriptor(
        "ogg",
        .group([
          ParameterDescriptor(
            "quality", .integer(0...10), .defaulted("5"), "from 0 (smallest) to 10 (best)")
        ]), .defaulted(""), "how Ogg Vorbis is encoded"),
      ParameterDescriptor(
        "dither", .choice(["tpdf", "none"]), .defaulted("tpdf"),
        "the noise that keeps reduced sound linear"),
      ParameterDescriptor(
        "verify", .flag, .defaulted("true"),
        "decode every file again, and compare it with the sound that was encoded"),
    ]
  }

  /// What files carry over from the recording, and what they say in its place.
  package static var carriedOptions: Self {
    [
      ParameterDescriptor(
        "tags", .flag, .defaulted("true"), "carry tags and cover art over", isInKey: false),
      ParameterDescriptor(
        "metadata", .group(StatedTags.parameters), .defaulted(""),
        "tags in the place of the recording's; an empty one takes it away", isInKey: false),
      ParameterDescriptor(
        "cover", .path, .optional, "a JPEG or PNG file in the place of the recording's cover art",
        isInKey: false),
      ParameterDescriptor(
        "bext", .flag, .defaulted("true"),
        "tell in WAV files how they came about, and carry over what the recording tells",
        isInKey: false),
    ]
  }
}

extension [ExportTarget] {
  /// Throws for sound with more channels than a format has, or whose channels it would take for
  /// others and cut.
  /// - Parameter kind: the stage's, for messages.
  package func check(_ format: AudioFormat, of kind: String) throws(SpoolError) {
    for target in self {
      guard let low = target.spec.channelsTakenForLow(of: format).first else { continue }
      let count = format.channelCount
      throw SpoolError(
        "\(kind) cannot write \(target.format) of these \(count) channels",
        reason: "they have \(format.positions), and as \(target.format) channel \(low + 1) of "
          + "\(count) would be one for low frequencies alone, which players leave out",
        advice: "choose wav, flac, m4a or opus, which keep all of them, or make fewer: "
          + "channels: [1, 2] picks two, stereo mixes all",
        cause: .input)
    }
    guard format.channelCount > 2, contains(where: { $0.format == .mp3 }) else { return }
    throw SpoolError(
      "\(kind) cannot write MP3 of \(format.channelCount) channels",
      reason: "MP3 has one or two",
      advice:
        "mix them to two, decode: { channels: 2 }, or choose m4a, opus or ogg for all of them",
      cause: .input)
  }

  /// What people are warned of where files say something else of the channels than is known of them.
  package func positionWarnings(of format: AudioFormat) -> [String] {
    compactMap { target in
      target.spec.strangePositions(of: format).map {
        "the \(target.format) file says that its channels are \($0), and the sound has "
          + "\(format.positions): wav and flac keep that"
      }
    }
  }

  /// What the files of a stream will cost.
  package func cost(of stream: SoundOutline) -> SinkCost {
    var cost = SinkCost()
    var (scratch, scratchAtEnd, publishedAtEnd) = (0, 0, 0)
    for target in self {
      let bytes = target.byteCount(of: stream)
      cost.byteCount += bytes + target.hashesByteCount(of: stream)
      cost.publishedByteCount += bytes
      let most = target.scratchByteCount(of: stream)
      scratch += most
      scratchAtEnd += target.scratchByteCount(of: stream, untilEnd: false)
      if most == 0 { publishedAtEnd += bytes }
      cost.coreSeconds += target.coreSeconds * Double(stream.format.channelCount) / 2
    }
    // Other files are published when the stream has ended, and by then less is laid aside.
    cost.scratchByteCount = Swift.max(scratchAtEnd, scratch - publishedAtEnd)
    return cost
  }
}

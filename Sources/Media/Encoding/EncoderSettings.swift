package import Audio
import CLibAV
import CLibAVLoader
import Platform

/// The libavcodec and libavformat settings of an export spec for sound of one format.
struct EncoderSettings: Sendable {
  /// libavcodec's name of the encoder.
  let codec: String
  /// libavformat's name of the container.
  let muxer: String
  /// The container's options.
  var muxerOptions: [String: String]
  /// What the encoder takes.
  let sampleFormat: AVSampleFormat
  /// Bits of an integer sample; nil for floats.
  let bits: Int?
  /// The format of the encoded sound: the rate and the positions may differ from the source's.
  let format: AudioFormat
  /// How an Opus stream says what its channels are (RFC 7845, section 5.1.1); nil for libopus's own
  /// choice.
  let mappingFamily: Int?
  /// Tags that belong to the sound.
  let formatTags: [String: String]
  /// In bits per second; nil for lossless sound, and where `quality` decides.
  let bitRate: Int?
  /// The codec's own scale for a variable bit rate; nil where `bitRate` decides.
  let quality: Int?
  /// FLAC's effort.
  let compressionLevel: Int?

  /// FLAC packets are numbered, and the file header covers the whole stream.
  var isFLAC: Bool { codec == "flac" }

  /// What samples are multiplied by before encoding. LAME lowers sound of a constant bit rate by up
  /// to 0.45 dB to prevent clipping (`scale` in its `presets.c`), which would miss a loudness that
  /// was asked for.
  var gain: Float {
    guard codec == "libmp3lame", let bitRate else { return 1 }
    return switch bitRate {
    case ..<176_000: 1 / 0.95
    case ..<208_000: 1 / 0.97
    case ..<240_000: 1 / 0.98
    default: 1
    }
  }

  /// Whether our own encoder is used; libavcodec handles Apple Lossless of more channels.
  var hasOwnEncoder: Bool { codec == "alac" && format.channelCount <= 2 }

  /// Whether a spec's container is of the MP4 family.
  static func isMovie(_ spec: ExportSpec) -> Bool {
    switch spec {
    case .aac, .alac: true
    case .wav, .flac, .mp3, .opus, .vorbis: false
    }
  }

  /// The rate is kept if the codec supports it; else it is the next one above, or the codec's
  /// highest.
  init(_ spec: ExportSpec, for source: AudioFormat) {
    var muxerOptions: [String: String] = [:]
    var rate = Int(source.sampleRate.value)
    var (bitRate, quality, compressionLevel): (Int?, Int?, Int?)
    var rates: [Int] = []
    switch spec {
    case .wav(let samples):
      muxer = "wav"
      muxerOptions["rf64"] = "auto"
      switch samples {
      case .integer(.bits16): (codec, sampleFormat, bits) = ("pcm_s16le", AV_SAMPLE_FMT_S16, 16)
      case .integer(.bits24): (codec, sampleFormat, bits) = ("pcm_s24le", AV_SAMPLE_FMT_S32, 24)
      case .float32: (codec, sampleFormat, bits) = ("pcm_f32le", AV_SAMPLE_FMT_FLT, nil)
      }
    case .aac(let wanted):
      (codec, muxer, sampleFormat, bits) = ("aac", "ipod", AV_SAMPLE_FMT_FLTP, nil)
      bitRate = wanted
      rates = Self.aacRates
    case .alac(let depth):
      (codec, muxer, bits) = ("alac", "ipod", depth.rawValue)
      sampleFormat = depth == .bits16 ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S32P
    case .flac(let depth, let level):
      (codec, muxer, bits) = ("flac", "flac", depth.rawValue)
      sampleFormat = depth == .bits16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32
      compressionLevel = level
      // Sound of one-bit converters has higher rates; whole divisors of them are easy to resample to.
      while rate >= Self.firstRateBeyondFLAC { rate /= 2 }
    case .mp3(let wanted, let variable):
      (codec, muxer, sampleFormat, bits) = ("libmp3lame", "mp3", AV_SAMPLE_FMT_FLTP, nil)
      let most = spec.bitRates(at: source.sampleRate, channelCount: source.channelCount)?.upperBound
      (bitRate, quality) = (variable == nil ? min(wanted, most ?? wanted) : nil, variable)
      // Tags are put in front of the finished file.
      muxerOptions["id3v2_version"] = "0"
      rates = Self.mp3Rates
    case .opus(let wanted):
      (codec, muxer, sampleFormat, bits) = ("libopus", "ogg", AV_SAMPLE_FMT_FLT, nil)
      let most = spec.bitRates(at: source.sampleRate, channelCount: source.channelCount)?.upperBound
      bitRate = min(wanted, most ?? wanted)
      // The rate of every Opus decoder (RFC 7845, section 5.1).
      rates = [48000]
    case .vorbis(let wanted):
      (codec, muxer, sampleFormat, bits) = ("libvorbis", "ogg", AV_SAMPLE_FMT_FLTP, nil)
      quality = wanted
      // libavformat's reader misses the end of a stream that fits in one page, by default of 1 s.
      muxerOptions["page_duration"] = "200000"
      rates = Self.mp3Rates + [88200, 96000, 176_400, 192_000]
    }
    rate = rates.first { $0 >= rate } ?? rates.last ?? rate
    if muxer == "ipod" { muxerOptions["movie_timescale"] = "\(rate)" }
    let positions = spec.positions(of: source)
    // Family 255 is for channels without positions.
    mappingFamily = muxer == "ogg" && codec == "libopus" && positions.isEmpty ? 255 : nil
    let isMaskStated = codec == "flac" && positions != Self.flacPositions(of: source.channelCount)
    formatTags =
      isMaskStated ? [Self.flacMask: "0x" + String(positions.rawValue, radix: 16)] : [:]
    self.muxerOptions = muxerOptions
    self.bitRate = bitRate
    self.quality = quality
    self.compressionLevel = compressionLevel
    format = AudioFormat(
      sampleRate: Hertz(Double(rate)), channelCount: source.channelCount, positions: positions)
  }

  /// The comment with a FLAC file's channel mask (RFC 9639, section 8.6.2).
  static let flacMask = "WAVEFORMATEXTENSIBLE_CHANNEL_MASK"

  /// What decoders take the channels of a FLAC file for if it does not say.
  private static func flacPositions(of channelCount: Int) -> ChannelPositions {
    ChannelPositions(of: channelCount, in: [0, 0x4, 0x3, 0x7, 0x33, 0x607, 0x60F, 0x70F, 0x63F])
      ?? .unknown
  }

  /// A FLAC frame holds a rate of 16 bits, in tens of hertz (RFC 9639, section 9.1.2).
  private static let firstRateBeyondFLAC = 655_350

  /// The sample rates of AAC (ISO/IEC 14496-3, table 1.18).
  private static let aacRates = [
    7350, 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000,
  ]

  /// The sample rates of MPEG-1, MPEG-2 and MPEG-2.5, layer III.
  private static let mp3Rates = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000]

  /// The digest of everything except the sound that determines the file's bytes: these settings,
  /// the `source` format, the chunking and the library versions.
  func digest(source: AudioFormat, plan: ChunkPlan?) -> Digest {
    var words = [codec, muxer, "\(sampleFormat.rawValue)"]
    words += [bits, bitRate, quality, compressionLevel].map { "\($0 ?? -1)" }
    words.append("\(mappingFamily ?? -1)")
    words += [source, format].map {
      "\($0.channelCount) at \($0.sampleRate.value), \($0.positions.rawValue)"
    }
    words += [muxerOptions, MediaLibraries.encoderVersions].flatMap { options in
      options.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }
    // An MD5's state depends on libavutil alone.
    words.append("libavutil=\(avutil_version())")
    if hasOwnEncoder { words.append("alac=\(ALACFrame.revision)") }
    if let plan {
      words += [
        plan.frameSize, plan.packetsPerChunk, plan.preRoll, plan.overlap, plan.delay, plan.boosted,
        plan.mirrored,
      ].map { "\($0)" }
    }
    return SHA256.digest(of: words.joined(separator: "\n"))
  }
}

/// What an exported file is to be.
package enum ExportSpec: Hashable, Sendable {
  case wav(WaveSamples)
  /// AAC-LC in an M4A file, in bits per second.
  case aac(bitRate: Int)
  /// Apple Lossless in an M4A file.
  case alac(Quantizer.Depth)
  /// FLAC; `level` is 0 (fast) to 12 (small).
  case flac(Quantizer.Depth, level: Int)
  /// MP3 with a constant bit rate in bits per second, or a `quality` from 0 (best) to 9 with a
  /// variable one.
  case mp3(bitRate: Int, quality: Int?)
  /// Opus in an Ogg file, in bits per second on average.
  case opus(bitRate: Int)
  /// Vorbis in an Ogg file, of a quality from 0 to 10 (best).
  case vorbis(quality: Int)

  /// The format of the file's sound, for sound of this format: the codec may not have its rate.
  package func format(of source: AudioFormat) -> AudioFormat {
    EncoderSettings(self, for: source).format
  }

  /// The bit rates of sound of this rate, in bits per second; nil where the format has no constant one.
  /// MP3 has those of layer III of MPEG-1 and MPEG-2 (ISO/IEC 11172-3 and 13818-3), of which LAME has
  /// fewer at the lowest rates; AAC has at most 6144 bits for 1024 samples of a channel (ISO/IEC
  /// 14496-3), and libopus 256 kbit/s for a channel.
  fileprivate func bitRates(at rate: Hertz, channelCount: Int) -> ClosedRange<Int>? {
    let isLow = rate.value < 32000
    return switch self {
    case .mp3(_, nil):
      (isLow ? 8000 : 32_000)...(rate.value < 16000 ? 64_000 : isLow ? 160_000 : 320_000)
    case .aac: 1...max(1, Int(6 * rate.value) * channelCount)
    case .opus: 1...256_000 * channelCount
    case .wav, .alac, .flac, .mp3, .vorbis: nil
    }
  }

  /// Why a file does not have the bit rate that is asked for, in words; nil where it has it, and where no
  /// more than the usual 128 kbit/s is asked for.
  /// - Parameter rate: of the file's sound.
  package func compromise(at rate: Hertz, channelCount: Int) -> String? {
    let (name, wanted): (String, Int)
    switch self {
    case .mp3(let bitRate, _): (name, wanted) = ("mp3", bitRate)
    case .aac(let bitRate): (name, wanted) = ("m4a", bitRate)
    case .opus(let bitRate): (name, wanted) = ("opus", bitRate)
    case .wav, .alac, .flac, .vorbis: return nil
    }
    guard let rates = bitRates(at: rate, channelCount: channelCount) else { return nil }
    let isTooHigh = wanted > max(rates.upperBound, 128_000)
    guard isTooHigh || wanted < rates.lowerBound else { return nil }
    let channels = channelCount == 1 ? "one channel" : "\(channelCount) channels"
    return "the \(name) file does not have \(wanted / 1000) kbit/s: for \(channels) at "
      + "\((rate.value / 10).rounded() / 100) kHz it has at "
      + (isTooHigh ? "most \(rates.upperBound / 1000)" : "least \(rates.lowerBound / 1000)")
  }

  /// Linear samples.
  package enum WaveSamples: Hashable, Sendable {
    case integer(Quantizer.Depth)
    case float32

    /// The frames of `range` as a lossless encoder stores them. Integers are rounded and clipped;
    /// floats keep every bit. O(samples).
    package func bytes(of block: borrowing AudioBuffer, _ range: Range<Int>) -> [UInt8] {
      switch self {
      case .integer(let depth): SampleWriter.packed(block, range, bits: depth.rawValue)
      case .float32: SampleWriter.packedFloats(block, range)
      }
    }
  }
}

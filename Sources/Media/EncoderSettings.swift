internal import AudioModel
internal import CLibAV

/// What an export spec means to libavcodec and libavformat for sound of one format.
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
  /// The sound as it is encoded: the rate may differ from the source's.
  let format: AudioFormat
  /// Which channels there are, as libavutil's mask; 0 for its default.
  let channelMask: UInt64
  /// Bits a second; nil for lossless sound.
  let bitRate: Int?
  /// FLAC's effort.
  let compressionLevel: Int?

  /// Whether packets bear their number, and the file says something of all the sound.
  var isFLAC: Bool { codec == "flac" }

  /// Whether packets are made without libavcodec, which knows Apple Lossless of more channels too.
  var hasOwnEncoder: Bool { codec == "alac" && format.channelCount <= 2 }

  /// Whether a spec's container is of the MP4 family.
  static func isMovie(_ spec: ExportSpec) -> Bool {
    switch spec {
    case .aac, .alac: true
    case .wav, .flac: false
    }
  }

  /// Reads a spec. The rate is kept where the codec takes it; else it is the nearest one above, or
  /// the codec's highest.
  init(_ spec: ExportSpec, for source: AudioFormat) {
    var muxerOptions: [String: String] = [:]
    var rate = Int(source.sampleRate.value)
    var bitRate: Int?
    var compressionLevel: Int?
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
      rate = Self.aacRates.first { $0 >= rate } ?? Self.aacRates[Self.aacRates.count - 1]
    case .alac(let depth):
      (codec, muxer, bits) = ("alac", "ipod", depth.rawValue)
      sampleFormat = depth == .bits16 ? AV_SAMPLE_FMT_S16P : AV_SAMPLE_FMT_S32P
    case .flac(let depth, let level):
      (codec, muxer, bits) = ("flac", "flac", depth.rawValue)
      sampleFormat = depth == .bits16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32
      compressionLevel = level
    }
    if muxer == "ipod" { muxerOptions["movie_timescale"] = "\(rate)" }
    channelMask = codec == "alac" ? spool_alac_layout(Int32(source.channelCount)) : 0
    self.muxerOptions = muxerOptions
    self.bitRate = bitRate
    self.compressionLevel = compressionLevel
    format = AudioFormat(
      sampleRate: Hertz(Double(rate)), channelCount: source.channelCount)
  }

  /// The rates that AAC has (ISO/IEC 14496-3, table 1.18).
  private static let aacRates = [
    7350, 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000,
  ]
}

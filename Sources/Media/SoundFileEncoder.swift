public import AudioModel
public import Threading

/// Writes sound to a file in one of the export formats.
///
/// The bytes depend on the sound, the spec and the libraries' versions alone: not on how the sound
/// is cut into blocks, and not on the number of processors. Memory stays flat. An encoder belongs
/// to one thread; one that is dropped without `finish` leaves half a file.
public final class SoundFileEncoder {
  private let encoding: any SoundFileEncoding
  private var converter: RateConverter?

  /// Creates the file at `path`, whatever its name, for sound of `format`.
  ///
  /// Samples for integer formats should lie on their grid already; others are rounded. AAC at a
  /// rate that it does not have is resampled to the next one above, or to 96 kHz. M4A chunks are
  /// encoded in `pool`, which other encoders may share; nothing waits in it.
  ///
  /// Throws `unsupported` when the codec does not take the format, `unknownCodec` when libavcodec
  /// was built without it, and `write` or `outOfSpace`.
  public convenience init(
    path: String, spec: ExportSpec, format: AudioFormat, pool: WorkerPool
  ) throws(MediaError) {
    try self.init(
      path: path, spec: spec, format: format, pool: pool, plan: Self.plan(spec, format))
  }

  init(
    path: String, spec: ExportSpec, format: AudioFormat, pool: WorkerPool, plan: ChunkPlan?
  ) throws(MediaError) {
    try LibAV.require(for: path)
    let settings = EncoderSettings(spec, for: format)
    if settings.format != format {
      converter = try RateConverter(from: format, to: settings.format, path: path)
    }
    if let plan {
      encoding = try ChunkedEncoding(settings: settings, plan: plan, path: path, pool: pool)
    } else {
      encoding = try SerialEncoding(settings: settings, path: path)
    }
  }

  /// Adds a block of sound; waits while the encoders are behind.
  public func write(_ block: SharedBuffer) throws(MediaError) {
    guard let converter else { return try encoding.write(block) }
    try encoding.write(SharedBuffer(converter.convert(block.buffer)))
  }

  /// Encodes what is left and completes the file. Its bytes are with the system, not yet flushed
  /// to the disk.
  public func finish() throws(MediaError) {
    if let converter { try encoding.write(SharedBuffer(converter.finish())) }
    try encoding.finish()
  }

  /// Where the sound is cut; nil to encode in one piece. Windows of more than two channels cannot
  /// be compared at a seam, so surround AAC is encoded in one piece.
  private static func plan(_ spec: ExportSpec, _ format: AudioFormat) -> ChunkPlan? {
    switch spec {
    case .aac: format.channelCount <= 2 ? .aac : nil
    case .alac: .alac
    case .wav, .flac: nil
    }
  }
}

public import AudioModel
public import Threading

/// Writes sound to a file in one of the export formats.
///
/// The bytes depend on the sound, the spec and the libraries' versions alone: not on how the sound
/// is cut into blocks, not on the number of processors, and not on how often the process died on
/// the way. Memory stays flat. An encoder belongs to one thread, but for ``progress()``,
/// ``flush()`` and ``cancel()``; one that is dropped without `finish` leaves half a file.
///
/// An encoder that is given work keeps what it has done where another process finds it. WAV goes on
/// behind the last frame that the system has taken over; ALAC and FLAC behind the last chunk (2.7 s and
/// 5.4 s of sound at 48 kHz), whose packets an index beside the file vouches for. AAC of at most two
/// channels keeps each encoded chunk (45 s) in a file of its own, and goes on at the first one that is
/// missing; where it is resampled, all the sound is needed for that,
/// though not encoded again. The MD5 of all samples, which a FLAC file holds, goes on from its state. AAC of
/// more channels starts over: what its encoder has in mind cannot be restored.
///
/// FLAC in chunks has the bytes that a single libavcodec encoder gives.
public final class SoundFileEncoder {
  private let encoding: any SoundFileEncoding
  private let survival: any EncodingSurvival
  private let converter: RateConverter?
  private let state: EncodingState?

  /// Creates the file at `path`, whatever its name, for sound of `format`.
  ///
  /// Samples for integer formats should lie on their grid already; others are rounded. AAC at a
  /// rate that it does not have is resampled to the next one above, or to 96 kHz. Chunks are
  /// encoded in `pool`, which other encoders may share; nothing waits in it.
  ///
  /// With `work` that is resumed, the file at `path` keeps its content as far as it counts. Work
  /// that belongs to other settings or other libraries, and a file or chunks that are not what they
  /// should be, are not used: ``progress()`` says from which frame the sound is needed.
  ///
  /// Throws `unsupported` when the codec does not take the format, `unknownCodec` when libavcodec
  /// was built without it, and `write` or `outOfSpace`.
  public convenience init(
    path: String, spec: ExportSpec, format: AudioFormat, pool: WorkerPool,
    work: EncodingWork? = nil
  ) throws(MediaError) {
    try self.init(
      path: path, settings: EncoderSettings(spec, for: format), format: format, pool: pool,
      plan: Self.plan(spec, format, path: path), work: work)
  }

  init(
    path: String, settings: EncoderSettings, format: AudioFormat, pool: WorkerPool,
    plan: ChunkPlan?, work: EncodingWork?
  ) throws(MediaError) {
    try LibAV.require(for: path)
    converter =
      settings.format == format
      ? nil : try RateConverter(from: format, to: settings.format, path: path)
    let work = work.map {
      ResumableWork($0, settings: settings.digest(source: format, plan: plan))
    }
    encoding =
      if let plan {
        try ChunkedEncoding(settings: settings, plan: plan, path: path, pool: pool, work: work)
      } else {
        try SerialEncoding(settings: settings, path: path, work: work)
      }
    survival = encoding.survival
    state = work?.state
  }

  /// How far the encoding is. Any thread may ask, at any moment; before the first block, this is
  /// what an earlier process left, and tells where the sound has to begin.
  public func progress() -> EncodingProgress {
    let extent = survival.extent
    var state = state
    state?.extent = extent
    return EncodingProgress(
      needsFrom: converter == nil ? Frames(extent.frames) : .zero, byteCount: extent.byteCount,
      state: state?.json ?? "")
  }

  /// Waits until all that an earlier ``progress()`` counted is on the disk. Any thread may call it,
  /// also while another one writes.
  ///
  /// Throws `write` or `outOfSpace`; after that the work is not to be gone on with, as nobody knows
  /// what is on the disk.
  public func flush() throws(MediaError) { try survival.flush() }

  /// Says that the first block will begin at `frame` of the stream; without it, at 0. What is done
  /// already of the blocks that come is skipped. To be called before the first block; `frame` is at
  /// most what ``progress()`` asked for.
  public func begin(at frame: Frames) {
    let needed = converter == nil ? encoding.firstFrameNeeded : 0
    precondition(frame.count >= 0 && frame.count <= needed, "the sound begins too late")
    encoding.begin(at: frame.count)
  }

  /// Adds a block of sound; waits while the encoders are behind.
  public func write(_ block: SharedBuffer) throws(MediaError) {
    guard let converter else { return try encoding.write(block) }
    try encoding.write(SharedBuffer(converter.convert(block.buffer)))
  }

  /// Nobody wants the file now: encoders stop at their next frame, and ``finish()`` throws. What was
  /// done stays for whoever goes on. Any thread may call it, at any moment.
  public func cancel() { encoding.cancel() }

  /// Encodes what is left and completes the file. Its bytes are with the system, not yet flushed
  /// to the disk. Until they are, the work can still be gone on with, should they get lost.
  public func finish() throws(MediaError) {
    if let converter { try encoding.write(SharedBuffer(converter.finish())) }
    try encoding.finish()
  }

  /// Deletes the encoder's own files in the work's folder: for when the finished file is safe.
  public func discardWork() { survival.discard() }

  /// Where the sound is cut; nil to encode in one piece. Windows of more than two channels cannot
  /// be compared at a seam, so surround AAC is encoded in one piece.
  static func plan(
    _ spec: ExportSpec, _ format: AudioFormat, path: String
  ) throws(MediaError) -> ChunkPlan? {
    switch spec {
    case .wav: return nil
    case .aac: return format.channelCount <= 2 ? .aac : nil
    case .alac: return .alac
    case .flac:
      try LibAV.require(for: path)
      let encoder = try EncoderContext(EncoderSettings(spec, for: format), path: path)
      return .flac(frameSize: encoder.frameSize)
    }
  }
}

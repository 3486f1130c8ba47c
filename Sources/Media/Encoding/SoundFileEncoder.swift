package import Audio
import CLibAV
import CLibAVLoader
package import Platform

/// Writes sound to a file in one of the export formats.
///
/// The bytes depend on the sound, the spec and the library versions alone: not on block boundaries,
/// the number of processors or interruptions. Memory stays bounded. An encoder belongs to one
/// thread, except ``progress()``, ``flush()`` and ``cancel()``; one that is released without
/// `finish` leaves an incomplete file.
///
/// With `work`, an encoder stores its progress for a later process. WAV resumes after the last
/// frame that the system has taken over; ALAC and FLAC after the last chunk (2.7 s and 5.4 s of
/// sound at 48 kHz), which an index beside the file verifies. AAC of at most two channels stores
/// each encoded chunk (45 s) in a file, and resumes at the first missing one; with resampling all
/// the sound is needed again, but not encoded again. The MD5 of all samples in a FLAC file resumes
/// from its state. MP3, Opus, Vorbis and AAC of more channels start over: their encoders' states
/// cannot be restored.
///
/// FLAC in chunks has the same bytes as from a single libavcodec encoder.
package final class SoundFileEncoder {
  /// The path of an M4A file; nil for others.
  private let movie: String?
  private let encoding: any SoundFileEncoding
  private let survival: (any EncodingSurvival)?
  private let resampler: Resampler?
  private let state: EncodingState?

  /// Creates the file at `path`, with any name, for sound of `format`.
  ///
  /// Samples for integer formats should be on their grid; others are rounded. Sound at a rate that
  /// the codec does not support is resampled to the next one above, or to the codec's highest. Chunks are encoded in `pool`, which
  /// other encoders may share; its jobs never wait.
  ///
  /// With resumed `work`, the file at `path` keeps its valid content. Work of other settings or
  /// library versions, and damaged files or chunks, are discarded: ``progress()`` gives the frame
  /// from which sound is needed.
  ///
  /// Throws if the codec rejects the format, libavcodec was built without it, or the file cannot be
  /// written.
  package convenience init(
    path: String, spec: ExportSpec, format: AudioFormat, pool: WorkerPool,
    work: EncodingWork? = nil
  ) throws(SpoolError) {
    try self.init(
      path: path, settings: EncoderSettings(spec, for: format), format: format, pool: pool,
      plan: Self.plan(spec, format, path: path), work: work)
  }

  init(
    path: String, settings: EncoderSettings, format: AudioFormat, pool: WorkerPool,
    plan: ChunkPlan?, work: EncodingWork?
  ) throws(SpoolError) {
    try LibAV.require(for: path)
    let isResampled = settings.format.sampleRate != format.sampleRate
    resampler = isResampled ? Resampler(from: format, to: settings.format) : nil
    guard !isResampled || resampler != nil else {
      throw SpoolError(
        "write", path, reason: "no way from \(format) to \(settings.format)",
        advice: "choose another rate", cause: .input)
    }
    let work = work.map {
      ResumableWork($0, settings: settings.digest(source: format, plan: plan))
    }
    movie = settings.muxer == "ipod" ? path : nil
    encoding =
      if let plan {
        try ChunkedEncoding(settings: settings, plan: plan, path: path, pool: pool, work: work)
      } else {
        try SerialEncoding(settings: settings, path: path, work: work)
      }
    survival = encoding.survival
    state = work?.state
  }

  /// The progress; thread-safe. Before the first block it is that of an earlier process, and gives
  /// the frame at which the sound has to begin.
  package func progress() -> EncodingProgress {
    let extent = survival?.extent ?? EncodingExtent()
    var state = state
    state?.extent = extent
    return EncodingProgress(
      needsFrom: resampler == nil ? Frames(extent.frames) : .zero, byteCount: extent.byteCount,
      state: state?.json ?? "")
  }

  /// Makes the progress of an earlier ``progress()`` durable. Thread-safe, also during a write.
  ///
  /// After an error the work must not be resumed, as the content of the disk is unknown.
  package func flush() throws(SpoolError) { try survival?.flush() }

  /// Sets the number of the first block's first frame, at most what ``progress()`` asked for; the
  /// default is 0. Frames already encoded are skipped. Call it before the first block.
  package func begin(at frame: Frames) {
    let needed = resampler == nil ? encoding.firstFrameNeeded : 0
    precondition(frame.count >= 0 && frame.count <= needed, "the sound begins too late")
    encoding.begin(at: frame.count)
  }

  /// Adds a block of sound; waits while the encoders are behind.
  package func write(_ block: SharedBuffer) throws(SpoolError) {
    guard let resampler else { return try encoding.write(block) }
    try encoding.write(SharedBuffer(resampler.convert(block.buffer)))
  }

  /// Cancels the encoding: encoders stop at their next frame, and ``finish()`` throws. Work done
  /// can be resumed. Thread-safe.
  package func cancel() { encoding.cancel() }

  /// Encodes the rest and completes the file. Its bytes are with the system, not yet durable; until
  /// they are, the work can be resumed.
  package func finish() throws(SpoolError) {
    if let resampler { try encoding.write(SharedBuffer(resampler.finish())) }
    try encoding.finish()
    if let movie { try TaggedMovie.noteGaps(in: movie) }
  }

  /// The division into chunks; nil for a single encoder. Surround AAC has a single encoder, because
  /// windows of more than two channels cannot be compared at a seam.
  static func plan(
    _ spec: ExportSpec, _ format: AudioFormat, path: String
  ) throws(SpoolError) -> ChunkPlan? {
    switch spec {
    case .wav, .mp3, .opus, .vorbis: return nil
    case .aac: return format.channelCount <= 2 ? .aac : nil
    case .alac: return .alac
    case .flac:
      try LibAV.require(for: path)
      let encoder = try EncoderContext(EncoderSettings(spec, for: format), path: path)
      return .flac(frameSize: encoder.frameSize)
    }
  }
}

/// Resumable progress of an encoding.
///
/// It counts what the system has taken over, which survives SIGKILL, but not a power failure before
/// ``SoundFileEncoder/flush()``.
package struct EncodingProgress: Hashable, Sendable {
  /// The first frame of the stream that is needed again.
  package let needsFrom: Frames
  /// The number of valid bytes at the start of the encoder's file, which must not be cut shorter. 0
  /// if the file is always rewritten.
  package let byteCount: Int
  /// The value for ``EncodingWork/resuming``: JSON in the encoder's own format. Empty without work.
  package let state: String
}

/// Encodes a stream with one encoder, on the caller's thread.
final class SerialEncoding: SoundFileEncoding {
  private let path: String
  private var encoder: EncoderContext
  private let output: OutputFile
  private let stream: Int
  private let timeBase: AVRational
  /// Sound that does not fill a packet yet.
  private var block: AudioBuffer
  private let gain: Float
  private let growing: GrowingFile?
  /// Frames in the file, including those of an earlier process.
  private var written: Int
  /// Of the sound in a resumable file.
  private var checksum = Checksum()
  /// Frames of the stream so far.
  private var end = 0
  /// What ended the encoding; every later call throws it again.
  private var failure: SpoolError?
  private let stop = StopSign()

  let firstFrameNeeded: Int
  var survival: (any EncodingSurvival)? { growing }

  /// Opens the file at `path`, and empties it unless it is a WAV file that `work` resumes.
  init(
    settings: EncoderSettings, path: String, work: ResumableWork?
  ) throws(SpoolError) {
    self.path = path
    gain = settings.gain
    let work = settings.muxer == "wav" ? work : nil
    growing = work == nil ? nil : try GrowingFile(path: path)
    let opened = try EncoderContext(settings, path: path)
    output = try OutputFile(path: path, muxer: settings.muxer, keepsContent: work != nil)
    stream = try output.addStream(for: opened)
    try output.begin(options: settings.muxerOptions, tags: settings.formatTags)
    timeBase = spool_rational(1, Int32(settings.format.sampleRate.value))
    block = AudioBuffer(
      channelCount: settings.format.channelCount, capacity: Frames(opened.frameSize))
    if let work, let growing {
      firstFrameNeeded = try Self.resume(
        output, stream, growing, work, opened.bytesPerFrame, &checksum)
    } else {
      firstFrameNeeded = 0
    }
    written = firstFrameNeeded
    encoder =
      firstFrameNeeded == 0
      ? opened : try EncoderContext(settings, path: path, startingAt: firstFrameNeeded)
  }

  func cancel() { stop.raise() }

  func begin(at frame: Int) { end = frame }

  func write(_ block: SharedBuffer) throws(SpoolError) {
    let skipped = Frames(max(0, firstFrameNeeded - end))
    end += block.buffer.frameCount.count
    guard skipped < block.buffer.frameCount else { return }
    if let failure { throw failure }
    guard !stop.isRaised else { return }
    do throws(SpoolError) { try encode(block.buffer, from: skipped) } catch {
      failure = error
      throw error
    }
  }

  func finish() throws(SpoolError) {
    guard end >= firstFrameNeeded else { throw SpoolError(shortened: path) }
    if let failure { throw failure }
    guard !stop.isRaised else { throw SpoolError(stopped: path) }
    try encode()
    let (output, stream, timeBase) = (output, stream, timeBase)
    try encoder.finish { (packet) throws(SpoolError) in
      try output.write(packet, stream: stream, timeBase: timeBase)
    }
    try output.finish()
    if stop.isRaised { throw SpoolError(stopped: path) }
  }

  private func encode(
    _ sound: borrowing AudioBuffer, from first: Frames
  ) throws(SpoolError) {
    var taken = first
    while taken < sound.frameCount {
      let count = min(block.capacity - block.frameCount, sound.frameCount - taken)
      block.append(contentsOf: sound, start: taken, count: count)
      taken += count
      if block.frameCount == block.capacity {
        try encode()
        block.frameCount = .zero
      }
    }
    guard let growing else { return }
    try output.handOver()
    growing.reach(
      EncodingExtent(frames: written, byteCount: output.position, checksum: checksum.value))
  }

  private func encode() throws(SpoolError) {
    let (output, stream, timeBase, isGrowing) = (output, stream, timeBase, growing != nil)
    for channel in 0..<(gain == 1 ? 0 : block.channelCount) {
      let samples = unsafe UnsafeMutableBufferPointer(
        start: block.baseAddress(ofChannel: channel), count: block.frameCount.count)
      for index in samples.indices { unsafe samples[index] *= gain }
    }
    try encoder.encode(block) { (packet) throws(SpoolError) in
      if isGrowing { unsafe checksum.update(packet.content) }
      try output.write(packet, stream: stream, timeBase: timeBase)
    }
    written += block.frameCount.count
  }

  /// Resumes after the rewritten header and the sound that `work` covers, which is read once to
  /// verify its checksum; if that fails, after the header alone. Returns the number of frames in
  /// the file, and sets the checksum of their bytes.
  private static func resume(
    _ output: OutputFile, _ stream: Int, _ growing: GrowingFile, _ work: ResumableWork,
    _ bytesPerFrame: Int, _ checksum: inout Checksum
  ) throws(SpoolError) -> Int {
    try output.handOver()
    let header = output.position
    var extent = work.state.extent
    let (soundByteCount, isTooMuch) = extent.frames.multipliedReportingOverflow(by: bytesPerFrame)
    let isThere =
      work.isResumed && !isTooMuch && extent.byteCount - header == soundByteCount
      && extent.byteCount <= growing.byteCountAtStart
    if isThere { checksum = try growing.file.checksum(header..<extent.byteCount) }
    if !isThere || checksum.value != extent.checksum {
      checksum = Checksum()
      extent = EncodingExtent(frames: 0, byteCount: header, checksum: checksum.value)
    }
    try growing.file.truncate(to: extent.byteCount)
    if extent.frames > 0 { try output.resume(at: extent.byteCount, stream: stream) }
    growing.reach(extent)
    return extent.frames
  }
}

protocol SoundFileEncoding {
  /// The resumable part, constant; nil if the file is always rewritten.
  var survival: (any EncodingSurvival)? { get }
  /// The first frame not encoded by an earlier process.
  var firstFrameNeeded: Int { get }
  /// Sets the number of the first block's first frame, at most `firstFrameNeeded`.
  func begin(at frame: Int)
  /// Takes the next block, in the encoder's format.
  func write(_ block: SharedBuffer) throws(SpoolError)
  /// Completes the file. Throws after `cancel`.
  func finish() throws(SpoolError)
  /// Cancels the encoding: waiting callers return soon. Thread-safe.
  func cancel()
}

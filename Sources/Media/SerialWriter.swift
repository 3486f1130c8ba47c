internal import AudioModel
internal import CLibAV
internal import Hashing

/// One encoder, its file, and the sound that does not fill a packet yet.
final class SerialWriter: @unchecked Sendable {
  // Made by the thread that starts the encoding thread, and touched by that one alone afterwards.
  private var encoder: EncoderContext
  private let output: OutputFile
  private let stream: Int
  private let timeBase: AVRational
  private var block: AudioBuffer
  // Nil where the next process starts over.
  private let growing: GrowingFile?
  // Frames in the file, with those that an earlier process wrote.
  private var written: Int
  // Of the sound in the file; only kept where the next process may go on with it.
  private var checksum = Checksum()

  /// The frame that the first block begins with.
  let start: Int

  /// What outlives the process.
  var survival: any EncodingSurvival { growing ?? NothingSurvives() }

  /// Opens the file at `path`, and begins it anew unless it is a WAV file that `work` goes on with.
  init(
    settings: EncoderSettings, path: String, work: ResumableWork?
  ) throws(MediaError) {
    let work = settings.muxer == "wav" ? work : nil
    growing = work == nil ? nil : try GrowingFile(path: path)
    let opened = try EncoderContext(settings, path: path)
    output = try OutputFile(path: path, muxer: settings.muxer, keepsContent: work != nil)
    stream = try output.addStream(for: opened)
    try output.begin(options: settings.muxerOptions)
    timeBase = spool_rational(1, Int32(settings.format.sampleRate.value))
    block = AudioBuffer(
      channelCount: settings.format.channelCount, capacity: Frames(opened.frameSize))
    if let work, let growing {
      start = try Self.resume(
        output, stream, growing, work, opened.bytesPerFrame, &checksum)
    } else {
      start = 0
    }
    written = start
    encoder = start == 0 ? opened : try EncoderContext(settings, path: path, startingAt: start)
  }

  /// Encodes a block but for its first frames.
  func write(_ sound: borrowing AudioBuffer, from first: Frames) throws(MediaError) {
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

  /// Encodes what is left and completes the file.
  func finish() throws(MediaError) {
    try encode()
    let (output, stream, timeBase) = (output, stream, timeBase)
    try encoder.finish { (packet) throws(MediaError) in
      try output.write(packet, stream: stream, timeBase: timeBase)
    }
    try output.finish()
  }

  private func encode() throws(MediaError) {
    let (output, stream, timeBase, isGrowing) = (output, stream, timeBase, growing != nil)
    try encoder.encode(block) { (packet) throws(MediaError) in
      if isGrowing { unsafe checksum.update(packet.content) }
      try output.write(packet, stream: stream, timeBase: timeBase)
    }
    written += block.frameCount.count
  }

  /// Goes on behind the header that was just written again and the sound that `work` vouches for,
  /// which is read once to see that it is still the same; or where that cannot be, behind the header
  /// alone. Gives the frames that are in the file, and the checksum of their bytes.
  private static func resume(
    _ output: OutputFile, _ stream: Int, _ growing: GrowingFile, _ work: ResumableWork,
    _ bytesPerFrame: Int, _ checksum: inout Checksum
  ) throws(MediaError) -> Int {
    try output.handOver()
    let header = output.position
    var extent = work.state.extent
    let (soundByteCount, isTooMuch) = extent.frames.multipliedReportingOverflow(by: bytesPerFrame)
    let isThere =
      work.isResumed && !isTooMuch && extent.byteCount - header == soundByteCount
      && extent.byteCount <= growing.byteCountAtStart
    if isThere { checksum = try growing.checksum(header..<extent.byteCount) }
    if !isThere || checksum.value != extent.checksum {
      checksum = Checksum()
      extent = EncodingExtent(frames: 0, byteCount: header, checksum: checksum.value)
    }
    try growing.truncate(to: extent.byteCount)
    if extent.frames > 0 { try output.resume(at: extent.byteCount, stream: stream) }
    growing.reach(extent)
    return extent.frames
  }
}

internal import AudioModel
internal import CPosix

/// A stretch of a stream in a nameless file: written by one thread, read by many.
///
/// Long chunks that are encoded side by side need minutes of sound at once. In a file they cost no
/// memory of the program's own, and as what is done with is given back at once, the file seldom
/// reaches the disk. It goes away with this value, or with the program.
final class SoundStash: ChunkSound {
  /// Bytes of the file that each channel has for itself; most of them are never used.
  private static let channelByteCount = 1 << 37

  private let file: RawFile

  /// Opens a file in the folder of `path`, which names it in errors.
  init(beside path: String) throws(MediaError) {
    file = try RawFile(namelessBeside: path)
  }

  /// Writes a block whose first frame has the number `start`.
  func write(_ block: borrowing AudioBuffer, at start: Int) throws(MediaError) {
    for channel in 0..<block.channelCount {
      let samples = unsafe UnsafeRawBufferPointer(
        start: block.baseAddress(ofChannel: channel), count: block.frameCount.count * 4)
      try unsafe file.write(samples, at: offset(start, channel))
    }
  }

  /// Replaces the content of `buffer` with the frames of `range`, all of which were written.
  func read(_ range: Range<Int>, into buffer: inout AudioBuffer) throws(MediaError) {
    buffer.frameCount = Frames(range.count)
    for channel in 0..<buffer.channelCount {
      let samples = unsafe UnsafeMutableRawBufferPointer(
        start: buffer.baseAddress(ofChannel: channel), count: range.count * 4)
      try unsafe file.read(into: samples, at: offset(range.lowerBound, channel))
    }
  }

  /// Gives back the room of the frames before `frame`. Only room depends on it.
  func drop(before frame: Int, channelCount: Int) {
    for channel in 0..<channelCount {
      posix_punch_hole(file.descriptor, off_t(offset(0, channel)), off_t(frame * 4))
    }
  }

  private func offset(_ frame: Int, _ channel: Int) -> Int {
    channel * Self.channelByteCount + frame * 4
  }
}

/// The samples of a WAV file, wherever they lie in it, byte for byte.
public struct WaveSound: ~Copyable {
  /// Bytes of a frame.
  public let frameByteCount: Int
  /// How many whole frames there are.
  public let frameCount: Int

  private let wave: WaveChunks
  private let start: Int

  /// Finds the samples of the file at `path`; nil where it is no WAV file. Throws where the file cannot
  /// be read.
  public static func open(_ path: String) throws(MediaError) -> WaveSound? {
    guard let wave = try WaveChunks.open(path), let data = wave.first("data"),
      let format = try WaveFormat(of: wave)
    else { return nil }
    return WaveSound(
      frameByteCount: format.blockByteCount,
      frameCount: data.content.count / format.blockByteCount, wave: wave,
      start: data.content.lowerBound)
  }

  private init(
    frameByteCount: Int, frameCount: Int, wave: consuming WaveChunks, start: Int
  ) {
    self.frameByteCount = frameByteCount
    self.frameCount = frameCount
    self.wave = wave
    self.start = start
  }

  /// Some of the frames, which are there. O(bytes).
  public func bytes(_ frames: Range<Int>) throws(MediaError) -> [UInt8] {
    precondition(frames.lowerBound >= 0 && frames.upperBound <= frameCount)
    let first = start + frames.lowerBound * frameByteCount
    return try wave.bytes(first..<first + frames.count * frameByteCount)
  }
}

/// The format and length of the sound under a sample tree.
package struct SampleExtent: Hashable, Sendable {
  package let format: SampleFormat
  /// Frames per second, and per block.
  package let rate: Int
  /// Samples per frame.
  package let channels: Int
  /// Length in frames.
  package let frames: Int

  /// Nil for an empty sound or one too long for any file: the numbers are untrusted.
  package init?(format: SampleFormat, rate: Int, channels: Int, frames: Int) {
    guard 1...Self.mostFramesPerSecond ~= rate, 1...Self.mostChannels ~= channels,
      1...Self.mostFrames ~= frames
    else { return nil }
    self.format = format
    self.rate = rate
    self.channels = channels
    self.frames = frames
  }

  /// Number of blocks: one per second; the last may be shorter.
  package var blockCount: Int { (frames + rate - 1) / rate }
  /// Bytes per frame.
  package var frameByteCount: Int { channels * format.bits / 8 }

  ///
  /// - Parameter blocks: all within the sound.
  package func frames(of blocks: Range<Int>) -> Range<Int> {
    blocks.lowerBound * rate..<min(blocks.upperBound * rate, frames)
  }

  /// Bytes of a block.
  package func byteCount(ofBlock block: Int) -> Int {
    frames(of: block..<block + 1).count * frameByteCount
  }

  /// The blocks that contain some frames.
  /// - Parameter frames: not empty, within the sound.
  package func blocks(of frames: Range<Int>) -> Range<Int> {
    frames.lowerBound / rate..<(frames.upperBound + rate - 1) / rate
  }

  /// The start of a frame in seconds.
  package func time(of frame: Int) -> Double { Double(frame) / Double(rate) }

  /// The time of some frames in seconds.
  package func time(of frames: Range<Int>) -> Range<Double> {
    time(of: frames.lowerBound)..<time(of: frames.upperBound)
  }

  // Products with this limit do not overflow.
  private static let mostFramesPerSecond = 1 << 24
  private static let mostChannels = 1 << 16
  private static let mostFrames = 1 << 40
}

/// The samples of a lossless file, as in a WAV file's `data` chunk.
package enum SampleFormat: String, Hashable, Sendable, CaseIterable {
  /// Signed 16-bit integers, little-endian.
  case s16le
  /// Signed 24-bit integers, little-endian.
  case s24le
  /// IEEE 754 binary32, little-endian.
  case f32le

  /// Bits per sample.
  package var bits: Int {
    switch self {
    case .s16le: 16
    case .s24le: 24
    case .f32le: 32
    }
  }

  /// The format of this sample size; nil if there is none.
  package init?(bits: Int) {
    guard let format = Self.allCases.first(where: { $0.bits == bits }) else { return nil }
    self = format
  }
}

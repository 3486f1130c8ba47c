/// What sound a tree is made over: as much as is needed to say where each block lies.
public struct SampleExtent: Hashable, Sendable {
  /// What the samples are.
  public let format: SampleFormat
  /// Frames a second, and in a block.
  public let rate: Int
  /// Samples in a frame.
  public let channels: Int
  /// How long the sound is.
  public let frames: Int

  /// Describes sound; nil where there is none, or where no file could hold it: so much comes from
  /// strangers that is to be reckoned with.
  public init?(format: SampleFormat, rate: Int, channels: Int, frames: Int) {
    guard 1...Self.mostFramesPerSecond ~= rate, 1...Self.mostChannels ~= channels,
      1...Self.mostFrames ~= frames
    else { return nil }
    self.format = format
    self.rate = rate
    self.channels = channels
    self.frames = frames
  }

  /// How many blocks it has: each is a second, but for the last one.
  public var blockCount: Int { (frames + rate - 1) / rate }
  /// Bytes of a frame.
  public var frameByteCount: Int { channels * format.bits / 8 }

  /// The frames of some blocks.
  /// - Parameter blocks: which; each is there.
  public func frames(of blocks: Range<Int>) -> Range<Int> {
    blocks.lowerBound * rate..<min(blocks.upperBound * rate, frames)
  }

  /// Bytes of a block.
  public func byteCount(ofBlock block: Int) -> Int {
    frames(of: block..<block + 1).count * frameByteCount
  }

  /// The blocks that some frames lie in.
  /// - Parameter frames: which; none of them beyond the end, and at least one.
  public func blocks(of frames: Range<Int>) -> Range<Int> {
    frames.lowerBound / rate..<(frames.upperBound + rate - 1) / rate
  }

  /// The seconds before a frame.
  public func time(of frame: Int) -> Double { Double(frame) / Double(rate) }

  /// The seconds of some frames.
  public func time(of frames: Range<Int>) -> Range<Double> {
    time(of: frames.lowerBound)..<time(of: frames.upperBound)
  }

  // No reckoning with these overflows.
  private static let mostFramesPerSecond = 1 << 24
  private static let mostChannels = 1 << 16
  private static let mostFrames = 1 << 40
}

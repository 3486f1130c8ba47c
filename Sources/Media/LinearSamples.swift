public import AudioModel

/// Samples as a WAV file's `data` chunk holds them: the channels of a frame side by side, the lowest
/// byte first.
public struct LinearSamples: Hashable, Sendable {
  /// What a sample is.
  public let samples: ExportSpec.WaveSamples

  /// Packs samples of this kind.
  public init(_ samples: ExportSpec.WaveSamples) { self.samples = samples }

  /// Bytes of a sample.
  public var byteCount: Int {
    switch samples {
    case .integer(let depth): depth.rawValue / 8
    case .float32: 4
    }
  }

  /// The frames of `range` of a block: the bytes that an encoder without loss keeps of them. Integers
  /// are rounded and cut off as encoders are given them; floats keep every bit. O(samples).
  public func bytes(of block: borrowing AudioBuffer, _ range: Range<Int>) -> [UInt8] {
    switch samples {
    case .integer(let depth): SampleWriter.packed(block, range, bits: depth.rawValue)
    case .float32: SampleWriter.packedFloats(block, range)
    }
  }
}

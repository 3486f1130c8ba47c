package import Audio

/// What an exported file is to be.
package enum ExportSpec: Hashable, Sendable {
  case wav(WaveSamples)
  /// AAC-LC in an M4A file, in bits per second.
  case aac(bitRate: Int)
  /// Apple Lossless in an M4A file.
  case alac(IntegerDepth)
  /// FLAC; `level` is 0 (fast) to 12 (small).
  case flac(IntegerDepth, level: Int)

  /// Bits in an integer sample.
  package enum IntegerDepth: Int, Hashable, Sendable {
    case bits16 = 16
    case bits24 = 24
  }

  package enum WaveSamples: Hashable, Sendable {
    case integer(IntegerDepth)
    case float32
  }
}

package struct LinearSamples: Hashable, Sendable {
  package let samples: ExportSpec.WaveSamples

  package init(_ samples: ExportSpec.WaveSamples) { self.samples = samples }

  package var byteCount: Int {
    switch samples {
    case .integer(let depth): depth.rawValue / 8
    case .float32: 4
    }
  }

  /// The frames of `range` as a lossless encoder stores them. Integers are rounded and clipped;
  /// floats keep every bit. O(samples).
  package func bytes(of block: borrowing AudioBuffer, _ range: Range<Int>) -> [UInt8] {
    switch samples {
    case .integer(let depth): SampleWriter.packed(block, range, bits: depth.rawValue)
    case .float32: SampleWriter.packedFloats(block, range)
    }
  }
}

/// What an exported file is to be.
public enum ExportSpec: Hashable, Sendable {
  /// Linear samples in a WAV file, which becomes RF64 beyond 4 GB.
  case wav(WaveSamples)
  /// AAC-LC in an M4A file, at a number of bits a second.
  case aac(bitRate: Int)
  /// Apple Lossless in an M4A file.
  case alac(IntegerDepth)
  /// FLAC; `level` is 0 (fast) to 12 (small).
  case flac(IntegerDepth, level: Int)

  /// Bits in an integer sample.
  public enum IntegerDepth: Int, Hashable, Sendable {
    /// 16 bits.
    case bits16 = 16
    /// 24 bits.
    case bits24 = 24
  }

  /// What a WAV file's samples are.
  public enum WaveSamples: Hashable, Sendable {
    /// Signed integers.
    case integer(IntegerDepth)
    /// 32-bit floats.
    case float32
  }
}

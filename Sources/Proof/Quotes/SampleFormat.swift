/// What the samples of a file without loss are: as a WAV file's `data` chunk holds them.
public enum SampleFormat: String, Hashable, Sendable, CaseIterable {
  /// Signed integers of 16 bits, the lowest byte first.
  case s16le
  /// Signed integers of 24 bits, the lowest byte first.
  case s24le
  /// IEEE 754 binary32, the lowest byte first.
  case f32le

  /// Bits of a sample.
  public var bits: Int {
    switch self {
    case .s16le: 16
    case .s24le: 24
    case .f32le: 32
    }
  }

  /// The format whose samples have so many bits; nil where there is none.
  public init?(bits: Int) {
    guard let format = Self.allCases.first(where: { $0.bits == bits }) else { return nil }
    self = format
  }
}

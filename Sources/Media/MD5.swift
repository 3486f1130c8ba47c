internal import CLibAV
internal import CLibAVLoader

/// A running MD5 over libavutil's, as a value: a copy goes on from where it was copied, also in
/// another process with the same libavutil.
struct MD5: Hashable, Sendable {
  // An `AVMD5`, in words so that it is aligned as it wants to be.
  private var state: [UInt64]

  /// Starts an empty digest.
  init() {
    state = [UInt64](repeating: 0, count: Self.wordCount)
    unsafe withContext { unsafe av_md5_init($0) }
  }

  /// Adds bytes.
  mutating func update(_ bytes: [UInt8]) {
    unsafe withContext { unsafe av_md5_update($0, bytes, bytes.count) }
  }

  /// The digest of all bytes so far: 16 bytes.
  var digest: [UInt8] {
    var copy = self
    var digest = [UInt8](repeating: 0, count: 16)
    unsafe copy.withContext { unsafe av_md5_final($0, &digest) }
    return digest
  }

  private static var wordCount: Int { (spool_md5_size() + 7) / 8 }

  private mutating func withContext(_ work: (OpaquePointer) -> Void) {
    unsafe state.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe work(OpaquePointer(start))
    }
  }
}

extension MD5: Codable {
  /// Reads the state; throws where it has another size.
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    state = try container.decode([UInt64].self)
    guard state.count == Self.wordCount else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "the state of an MD5 has \(Self.wordCount) words")
    }
  }

  /// Writes the state.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(state)
  }
}

internal import CXXHash

/// A running checksum of bytes that this program wrote itself and will read again: it tells damage,
/// not malice, and costs a twentieth of what SHA-256 does (XXH3, 64 bits, over 10 GB/s on one core).
@safe public struct Checksum: ~Copyable, @unchecked Sendable {
  // The state has one owner and no thread affinity, so it may move between threads.
  private let state: OpaquePointer

  /// Starts with no bytes.
  public init() {
    guard let state = unsafe XXH3_createState(), unsafe XXH3_64bits_reset(state) == XXH_OK else {
      preconditionFailure("out of memory")
    }
    unsafe self.state = state
  }

  deinit { unsafe _ = XXH3_freeState(state) }

  /// The checksum of the bytes so far; more may follow. O(1).
  public var value: UInt64 { unsafe XXH3_64bits_digest(state) }

  /// Adds bytes.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    unsafe _ = XXH3_64bits_update(state, base, bytes.count)
  }

  /// Adds bytes.
  public mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  /// The checksum of `bytes`.
  public static func of(_ bytes: RawSpan) -> UInt64 {
    var checksum = Checksum()
    checksum.update(bytes)
    return checksum.value
  }
}

/// Bits in bytes, the highest first.
struct BitWriter {
  private var bytes: [UInt8] = []
  private var pending: UInt64 = 0
  private var pendingCount = 0

  /// Adds the `count` lowest bits of `value`, at most 32.
  mutating func append(_ value: UInt32, count: Int) {
    pending = pending << UInt64(count) | UInt64(value) & (1 << UInt64(count) - 1)
    pendingCount += count
    while pendingCount >= 8 {
      pendingCount -= 8
      bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
    }
  }

  /// All bits, and zeros up to the end of the last byte.
  var wholeBytes: [UInt8] {
    guard pendingCount > 0 else { return bytes }
    return bytes + [UInt8(truncatingIfNeeded: pending << UInt64(8 - pendingCount))]
  }
}

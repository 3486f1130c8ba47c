/// Bits of packets, the highest first, in room that is used again.
struct PacketWriter {
  private var bytes: [UInt8]
  private var end = 0
  // The lowest `pendingCount` bits, fewer than 32 between two calls, are still to be stored.
  private var pending: UInt64 = 0
  private var pendingCount = 0

  /// Room for so many bytes, less the last four.
  init(byteCount: Int) { bytes = [UInt8](repeating: 0, count: byteCount) }

  /// Bits since the last `clear`.
  var bitCount: Int { end * 8 + pendingCount }

  /// Begins another packet.
  mutating func clear() { (end, pending, pendingCount) = (0, 0, 0) }

  /// Adds `value`, which is less than 2 to the power of `count`, in `count` bits, at most 32.
  @inline(__always)
  mutating func append(_ value: UInt32, count: Int) {
    pending = pending &<< UInt64(truncatingIfNeeded: count) | UInt64(value)
    pendingCount &+= count
    guard pendingCount >= 32 else { return }
    pendingCount &-= 32
    let word = UInt32(truncatingIfNeeded: pending &>> UInt64(truncatingIfNeeded: pendingCount))
    let place = end
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: word.bigEndian, toByteOffset: place, as: UInt32.self)
    }
    end &+= 4
  }

  /// All bits, and zeros up to the end of the last byte.
  var wholeBytes: [UInt8] {
    var result = Array(bytes[..<end])
    let left = pending << UInt64(64 - pendingCount)
    for index in 0..<(pendingCount + 7) / 8 {
      result.append(UInt8(truncatingIfNeeded: left >> UInt64(56 - 8 * index)))
    }
    return result
  }
}

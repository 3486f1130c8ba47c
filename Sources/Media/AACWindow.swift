/// Which window an AAC packet's transform used, as its bits say (ISO/IEC 14496-3, 4.4.2).
struct AACWindow: Hashable, Sendable {
  /// Long, start, short or stop.
  let sequence: UInt8
  /// Sine or Kaiser-Bessel.
  let shape: UInt8

  /// Reads the window of a packet's first element. Nil for a pair of channels with a window each,
  /// since the second one lies too deep in the packet, and for anything but a single channel or a
  /// pair.
  init?(ofPacket bytes: [UInt8]) {
    guard bytes.count >= 4 else { return nil }
    let head = bytes[0..<4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    var offset = 0
    func read(_ count: Int) -> UInt8 {
      defer { offset += count }
      return UInt8(truncatingIfNeeded: (head << UInt32(offset)) >> UInt32(32 - count))
    }
    let element = read(3)
    _ = read(4)  // The element's tag.
    switch element {
    case 0: _ = read(8)  // A single channel's global gain.
    case 1: guard read(1) == 1 else { return nil }
    default: return nil
    }
    guard read(1) == 0 else { return nil }  // Reserved.
    sequence = read(2)
    shape = read(1)
  }
}

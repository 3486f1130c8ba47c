/// The boxes of an MP4 file (ISO/IEC 14496-12, section 4.2), as far as tags concern them.
enum MovieBoxes {
  /// A box: where it lies among the bytes that were looked at, and what it is called.
  struct Box: Hashable {
    let name: String
    /// The box with its header.
    let range: Range<Int>
    let headerByteCount: Int

    var content: Range<Int> { range.lowerBound + headerByteCount..<range.upperBound }
  }

  /// The boxes that lie one after the other in a file; nil where they do not fill it.
  static func boxes(of file: borrowing RawFile) throws(MediaError) -> [Box]? {
    let end = try file.byteCount
    var boxes: [Box] = []
    var start = 0
    while start < end {
      let head = try file.read(min(16, end - start), at: start)
      guard let box = box(head, at: start, end: end) else { return nil }
      boxes.append(box)
      start = box.range.upperBound
    }
    return boxes
  }

  /// The boxes that lie one after the other in some bytes; nil where they do not fill them.
  static func boxes(in bytes: [UInt8], _ range: Range<Int>) -> [Box]? {
    var boxes: [Box] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let head = Array(bytes[start..<min(start + 16, range.upperBound)])
      guard let box = box(head, at: start, end: range.upperBound) else { return nil }
      boxes.append(box)
      start = box.range.upperBound
    }
    return boxes
  }

  /// An unsigned big-endian integer.
  static func integer(_ bytes: some Collection<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// An integer as big-endian bytes.
  static func bytes(_ value: UInt64, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
  }

  private static func box(_ head: [UInt8], at start: Int, end: Int) -> Box? {
    guard head.count >= 8 else { return nil }
    let name = String(decoding: head[4..<8], as: UTF8.self)
    let short = integer(head[0..<4])
    // 1 says that the length follows in 64 bits.
    guard short != 1 || head.count >= 16 else { return nil }
    let length = short == 1 ? integer(head[8..<16]) : short
    let headerByteCount = short == 1 ? 16 : 8
    guard length >= headerByteCount, length <= UInt64(end - start) else { return nil }
    return Box(
      name: name, range: start..<start + Int(length), headerByteCount: headerByteCount)
  }
}

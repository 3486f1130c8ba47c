/// Matroska and WebM: elements in one another, each with its length (RFC 8794, RFC 9559). A writer
/// that cannot go back leaves the outermost length unknown; then the elements inside are all there
/// is to go by.
struct MatroskaExtent {
  let file: ContainerBytes

  private struct Element {
    let id: UInt32
    /// Where its content begins.
    let start: Int
    /// How long that is; nil where the writer did not know.
    let length: Int?
  }

  private static let head: UInt32 = 0x1a45_dfa3
  private static let segment: UInt32 = 0x1853_8067
  private static let cluster: UInt32 = 0x1f43_b675

  static func isMatroska(_ file: ContainerBytes) -> Bool {
    file.big(at: 0, count: 4) == Int(head)
  }

  var extent: ContainerExtent {
    guard let head = element(at: 0), let length = head.length,
      let segment = element(
        at: head.start + length), segment.id == Self.segment
    else { return .incomplete("its head is cut off") }
    if let length = segment.length, length < 1 << 60 {
      let end = segment.start + length
      return end > file.byteCount ? .short(of: end, at: file.byteCount) : .whole
    }
    return lastElement(from: segment.start)
  }

  /// Goes through elements whose parents have no length, and sees whether the last is all there.
  private func lastElement(from start: Int) -> ContainerExtent {
    var offset = start
    while offset < file.byteCount {
      // What is no element is somebody else's.
      if file.big(at: offset, count: 1) == 0 { return .whole }
      guard let next = element(at: offset) else {
        return .incomplete("its last element is cut off")
      }
      guard let length = next.length else {
        guard next.id == Self.cluster || next.id == Self.segment else { return .whole }
        offset = next.start
        continue
      }
      offset = next.start + length
      if offset > file.byteCount {
        return .incomplete(
          "its last element declares \(offset - file.byteCount) bytes that are missing")
      }
    }
    return .whole
  }

  /// The element that begins here; nil where the file ends inside its head.
  private func element(at offset: Int) -> Element? {
    let bytes = file.bytes(at: offset, count: 12)
    let idCount = bytes[0].leadingZeroBitCount + 1
    guard idCount <= 4, offset + idCount < file.byteCount else { return nil }
    let id = bytes[..<idCount].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let lengthCount = bytes[idCount].leadingZeroBitCount + 1
    guard lengthCount <= 8, offset + idCount + lengthCount <= file.byteCount else { return nil }
    let first = UInt64(bytes[idCount] & UInt8(truncatingIfNeeded: 0xff >> lengthCount))
    let length = bytes[(idCount + 1)..<(idCount + lengthCount)].reduce(first) {
      $0 << 8 | UInt64($1)
    }
    // All ones mean that nobody knows.
    let isKnown = length != (UInt64(1) << UInt64(7 * lengthCount)) - 1
    return Element(
      id: id, start: offset + idCount + lengthCount,
      length: isKnown ? Int(min(length, 1 << 60)) : nil)
  }
}

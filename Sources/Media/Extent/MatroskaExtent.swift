internal import Platform

/// Matroska and WebM: nested elements with lengths (RFC 8794, RFC 9559). A writer that cannot seek
/// leaves the outermost length unknown; then only the inner elements count.
extension ContainerBytes {
  private struct Element {
    let id: UInt32
    /// The start of its content.
    let start: Int
    /// The content's length; nil if unknown.
    let length: Int?
  }

  private static let matroskaHead: UInt32 = 0x1a45_dfa3
  private static let segment: UInt32 = 0x1853_8067
  private static let cluster: UInt32 = 0x1f43_b675
  /// Clusters and what they hold, and what a live stream may hold besides.
  private static let live: Set<UInt32> = behindSound.union([
    matroskaHead, segment, cluster, 0xe7, 0xa7, 0xab, 0xa3, 0xa0, 0xaf, 0x5854, 0x114d_9b74,
    0x1549_a966,
    0x1654_ae6b, 0xbf,
  ])
  /// Cues, tags, chapters, attachments, and room for them.
  private static let behindSound: Set<UInt32> = [
    0x1c53_bb6b, 0x1254_c367, 0x1043_a770, 0x1941_a469, 0xec,
  ]

  var isMatroska: Bool { big(at: 0, count: 4) == Int(Self.matroskaHead) }

  var matroskaExtent: ContainerExtent {
    guard let head = element(at: 0), let length = head.length,
      let segment = element(
        at: head.start + length), segment.id == Self.segment
    else { return .incomplete("its head is cut off") }
    guard let length = segment.length, length < 1 << 60 else {
      return lastElement(from: segment.start)
    }
    let end = segment.start + length
    return extent(
      ofSegment: segment.start..<min(end, byteCount),
      declared: end > byteCount ? .short(of: end, at: byteCount) : .whole)
  }

  /// Walks through the elements of a segment: each one begins where another ends, and only a
  /// cluster holds sound.
  private func extent(ofSegment range: Range<Int>, declared: ContainerExtent) -> ContainerExtent {
    var offset = range.lowerBound
    var hasSound = false
    while offset < range.upperBound {
      guard let next = element(at: offset) else {
        return declared != .whole && byteCount - offset < 12
          ? declared : .incomplete("no element begins at byte \(offset), where one should")
      }
      guard let length = next.length else { return lastElement(from: next.start) }
      offset = next.start + length
      if next.id == Self.cluster { hasSound = true }
      guard offset > range.upperBound else { continue }
      guard case .incomplete(let what) = declared else {
        return .incomplete("an element goes on to byte \(offset), behind the end of all others")
      }
      return hasSound && Self.behindSound.contains(next.id) ? .cutBehindSound(what) : declared
    }
    return declared
  }

  /// Walks through elements whose parents have no length, and checks that the last is complete.
  private func lastElement(from start: Int) -> ContainerExtent {
    var offset = start
    while offset < byteCount {
      let found = element(at: offset)
      if !(found.map { Self.live.contains($0.id) } ?? false) {
        switch rest(from: offset) {
        case .padding: return .whole
        case .zeros(let count): return .unended("\(count) zeros follow its last element")
        case .foreign: break
        }
      }
      guard let next = found else { return .incomplete("its last element is cut off") }
      guard let length = next.length else {
        guard next.id == Self.cluster || next.id == Self.segment else { return .whole }
        offset = next.start
        continue
      }
      offset = next.start + length
      if offset > byteCount {
        return .incomplete(
          "its last element declares \(offset - byteCount) bytes that are missing")
      }
    }
    return .whole
  }

  /// What may follow the sound in a group of blocks.
  private static let blockDetails: Set<UInt32> = [0x9b, 0xfb, 0x75a1, 0x75a2]

  /// Whether another recording begins between `start`, where a packet ends, and `end`, and only whole
  /// elements lie before it.
  func beginsRecording(from start: Int, before end: Int) -> Bool {
    var offset = start
    while offset < end, let next = element(at: offset), let length = next.length {
      if next.id == Self.matroskaHead {
        return element(at: next.start + length)?.id == Self.segment
      }
      guard Self.behindSound.union(Self.blockDetails).contains(next.id) else { return false }
      offset = next.start + length
    }
    return false
  }

  /// The element that begins here; nil if the file ends inside its header.
  private func element(at offset: Int) -> Element? {
    let bytes = self.bytes(at: offset, count: 12)
    let idCount = bytes[0].leadingZeroBitCount + 1
    guard idCount <= 4, offset + idCount < byteCount else { return nil }
    let id = UInt32(bigEndianBytes: bytes[..<idCount])
    let lengthCount = bytes[idCount].leadingZeroBitCount + 1
    guard lengthCount <= 8, offset + idCount + lengthCount <= byteCount else { return nil }
    let first = UInt64(bytes[idCount] & UInt8(truncatingIfNeeded: 0xff >> lengthCount))
    let length = bytes[(idCount + 1)..<(idCount + lengthCount)].reduce(first) {
      $0 << 8 | UInt64($1)
    }
    // All ones mean an unknown length.
    let isKnown = length != (UInt64(1) << UInt64(7 * lengthCount)) - 1
    return Element(
      id: id, start: offset + idCount + lengthCount,
      length: isKnown ? Int(min(length, 1 << 60)) : nil)
  }
}

/// The order of the pages of an Ogg file, by the numbers in their headers (RFC 3533, section 6).
struct OggPages: ~Copyable {
  // The first page that was not looked at.
  private var offset = 0
  private var current: (position: Int, isRepeated: Bool)?
  private var last: Header?
  /// The last page of the headers before any sound.
  private var lastOfHeaders: Header?
  /// Whether pages are missing between the headers and the first sound.
  private(set) var lacksBeginning = false
  /// The number of the page before which others are missing, until damage tells of it.
  private var gapBefore: Int?
  /// Whether pages are missing, and no damage tells of it yet.
  var isGapOpen: Bool { gapBefore != nil }

  private struct Header {
    let stream: Int
    let number: Int
    /// The position of its end in the sound; -1 if it ends within a packet.
    let granule: Int64
    let beginsStream: Bool
    let continuesPacket: Bool
    /// The bytes of its segments.
    let bodyByteCount: Int
    let end: Int
  }

  /// Whether the page of a file at `position`, which is valid, was among those that were asked for before.
  mutating func isRepeated(pageAt position: Int, in bytes: borrowing ContainerBytes) -> Bool {
    // A packet that continues on a later page may be counted on an earlier one.
    if let current, position <= current.position {
      return position == current.position && current.isRepeated
    }
    while offset < position {
      guard let header = Self.header(at: offset, in: bytes) else {
        // Behind other bytes the numbers may begin anew.
        last = nil
        offset = position
        break
      }
      if header.beginsStream { last = nil }
      if header.granule == 0 { lastOfHeaders = header }
      offset = header.end
    }
    let isRepeated = take(Self.header(at: position, in: bytes))
    current = (position, isRepeated)
    return isRepeated
  }

  /// - Returns: whether the page was there before.
  private mutating func take(_ page: Header?) -> Bool {
    guard let page else { return false }
    guard let before = last, !page.beginsStream else {
      if let head = lastOfHeaders, current == nil, head.stream == page.stream,
        page.number > head.number + 1
      {
        lacksBeginning = true
      }
      last = page
      return false
    }
    // Some writers do not count their pages: then only the position grows.
    if page.number <= before.number, page.granule <= before.granule { return true }
    last = page
    if page.number > before.number + 1 { gapBefore = page.number }
    return false
  }

  /// Notes that damage tells of the gap.
  mutating func closeGap() { gapBefore = nil }

  /// Whether sound at the end was not read: a page follows that begins with packets of its own, or the
  /// last one stands behind a gap that nothing told of, as times are corrected at the end of the next
  /// page. O(pages that follow).
  func lacksEnd(in bytes: borrowing ContainerBytes) -> Bool {
    guard let last else { return false }
    if gapBefore == last.number { return true }
    var offset = last.end
    while let page = Self.header(at: offset, in: bytes) {
      if page.stream == last.stream, page.granule > last.granule, !page.continuesPacket,
        !page.beginsStream, page.bodyByteCount > 0
      {
        return true
      }
      offset = page.end
    }
    return false
  }

  private static func header(at offset: Int, in bytes: borrowing ContainerBytes) -> Header? {
    let head = bytes.bytes(at: offset, count: 27)
    guard head.starts(with: "OggS".utf8), head[4] == 0 else { return nil }
    let lengths = bytes.bytes(at: offset + 27, count: Int(head[26]))
    let bodyByteCount = lengths.reduce(0) { $0 + Int($1) }
    return Header(
      stream: bytes.little(at: offset + 14, count: 4),
      number: bytes.little(at: offset + 18, count: 4),
      granule: Int64(bigEndianBytes: head[6..<14].reversed()),
      beginsStream: head[5] & 2 != 0, continuesPacket: head[5] & 1 != 0,
      bodyByteCount: bodyByteCount, end: offset + 27 + lengths.count + bodyByteCount)
  }
}

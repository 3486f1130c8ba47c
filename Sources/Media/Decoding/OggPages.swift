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
  /// What recordings lack at their ends, if others follow them in the file.
  private var lostAtEnd: Int64?
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
    var before = offset
    while offset < position {
      guard let header = Self.header(at: offset, in: bytes) else {
        offset = Self.nextPage(behind: before, before: position, in: bytes) ?? position
        before = offset
        // Behind other bytes the numbers may begin anew.
        if Self.header(at: offset, in: bytes)?.beginsStream != true { last = nil }
        continue
      }
      if header.beginsStream { endRecording(before: offset, in: bytes) }
      if header.granule == 0 { lastOfHeaders = header }
      before = offset
      offset = header.end
    }
    let page = Self.header(at: position, in: bytes)
    if page?.beginsStream == true { endRecording(before: position, in: bytes) }
    let isRepeated = take(page)
    current = (position, isRepeated)
    return isRepeated
  }

  /// - Returns: whether the page was there before.
  private mutating func take(_ page: Header?) -> Bool {
    guard let page else { return false }
    guard let before = last else {
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

  /// Another recording begins at `offset`: notes what the one before it lacks at its end.
  private mutating func endRecording(before offset: Int, in bytes: borrowing ContainerBytes) {
    guard let ended = last else { return }
    if let unread = unreadEnd(in: bytes, before: offset) {
      lostAtEnd = (lostAtEnd ?? 0) + max(0, unread - ended.granule)
    }
    gapBefore = nil
    last = nil
  }

  /// Takes what recordings that other ones follow lack at their ends, in the units of their
  /// positions; nil if nothing.
  mutating func takeLostEnd() -> Int64? {
    defer { lostAtEnd = nil }
    return lostAtEnd
  }

  /// Notes that damage tells of the gap.
  mutating func closeGap() { gapBefore = nil }

  /// Whether sound at the end was not read: a page follows that begins with packets of its own or that
  /// is damaged, or the last one stands behind a gap that nothing told of, as times are corrected at
  /// the end of the next page. O(pages that follow).
  func lacksEnd(in bytes: borrowing ContainerBytes) -> Bool {
    unreadEnd(in: bytes, before: bytes.byteCount) != nil
  }

  /// The position at the end of the sound that was not read before an offset; nil if none is missing.
  private func unreadEnd(in bytes: borrowing ContainerBytes, before end: Int) -> Int64? {
    guard let last else { return nil }
    var found = gapBefore == last.number ? last.granule : nil
    var offset = last.end
    while offset < end, let page = Self.header(at: offset, in: bytes) {
      if page.stream == last.stream, !page.beginsStream, page.bodyByteCount > 0,
        page.granule > last.granule && !page.continuesPacket
          || !bytes.hasChecksum(page: offset..<page.end)
      {
        found = max(page.granule, last.granule)
      }
      offset = page.end
    }
    return found
  }

  /// Where the next page begins. O(bytes before it).
  private static func nextPage(
    behind start: Int, before end: Int, in bytes: borrowing ContainerBytes
  ) -> Int? {
    var place = start + 4
    while place < end {
      let window = bytes.bytes(at: place, count: min(end - place, 1024))
      if let found = window.firstRange(of: "OggS".utf8) { return place + found.lowerBound }
      // The mark may lie across the end.
      place += max(window.count - 3, 1)
    }
    return nil
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

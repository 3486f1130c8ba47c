/// The order of the pages of an Ogg file, by the numbers in their headers (RFC 3533, section 6).
struct OggPages: ~Copyable {
  /// How a page follows the last one.
  enum Order {
    case next
    /// It was there before.
    case repeated
    /// Others are missing before it.
    case behindGap
  }

  // The first page that was not looked at.
  private var offset = 0
  private var current: (position: Int, order: Order)?
  private var last: Header?

  private struct Header {
    let number: Int
    /// The position of its end in the sound; -1 if it ends within a packet.
    let granule: Int64
    let beginsStream: Bool
    let end: Int
  }

  /// How the page of a file at `position`, which is valid, follows those that were asked for before.
  mutating func order(ofPageAt position: Int, in bytes: borrowing ContainerBytes) -> Order {
    // A packet that continues on a later page may be counted on an earlier one.
    if let current, position <= current.position {
      return position == current.position ? current.order : .next
    }
    while offset < position {
      guard let header = Self.header(at: offset, in: bytes) else {
        // Behind other bytes the numbers may begin anew.
        last = nil
        offset = position
        break
      }
      if header.beginsStream { last = nil }
      offset = header.end
    }
    let order = take(Self.header(at: position, in: bytes))
    current = (position, order)
    return order
  }

  private mutating func take(_ page: Header?) -> Order {
    guard let page else { return .next }
    guard let before = last, !page.beginsStream else {
      last = page
      return .next
    }
    // Some writers do not count their pages: then only the position grows.
    if page.number <= before.number, page.granule <= before.granule { return .repeated }
    last = page
    return page.number > before.number + 1 ? .behindGap : .next
  }

  private static func header(at offset: Int, in bytes: borrowing ContainerBytes) -> Header? {
    let head = bytes.bytes(at: offset, count: 27)
    guard head.starts(with: "OggS".utf8), head[4] == 0 else { return nil }
    let lengths = bytes.bytes(at: offset + 27, count: Int(head[26]))
    return Header(
      number: bytes.little(at: offset + 18, count: 4),
      granule: Int64(bigEndianBytes: head[6..<14].reversed()),
      beginsStream: head[5] & 2 != 0,
      end: offset + 27 + lengths.count + lengths.reduce(0) { $0 + Int($1) })
  }
}

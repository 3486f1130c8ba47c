/// The ID3v2.4 tag of an MP3 file, as libavformat writes it, and what is put right in it.
///
/// libavformat writes the lengths of chapters and of their table (CHAP, CTOC) as plain numbers, while
/// all lengths of ID3v2.4 have seven bits in a byte (ID3v2.4.0 structure, section 6.2): readers lose
/// chapters from 128 bytes on. It writes a comment as a text of the user's own, where players look for
/// a comment (COMM), and every time of encoding (TDEN) with a zone.
struct ID3Tag {
  private struct Frame {
    let name: String
    let flags: [UInt8]
    let content: [UInt8]
  }

  private static let headByteCount = 10

  private let head: [UInt8]
  private let frames: [Frame]
  /// The padding, and what follows the tag in the file.
  private let rest: (padding: [UInt8], file: [UInt8])

  /// Whether its time is that of a recorder's own clock, whose zone is unknown.
  private var isTimeWithoutZone = false

  /// The beginning of an MP3 file with the tag put right; as it is where it begins with no tag that
  /// can be read. O(n).
  static func corrected(_ bytes: [UInt8], isTimeWithoutZone: Bool) -> [UInt8] {
    guard var tag = ID3Tag(bytes) else { return bytes }
    tag.isTimeWithoutZone = isTimeWithoutZone
    return tag.bytes
  }

  /// Reads the tag at the beginning of a file.
  private init?(_ bytes: [UInt8]) {
    // Version 2.4, without extensions.
    guard bytes.count >= Self.headByteCount, bytes.starts(with: Array("ID3".utf8) + [4, 0, 0]),
      let length = Self.number(bytes[6..<10], bits: 7),
      Self.headByteCount + length <= bytes.count
    else { return nil }
    let end = Self.headByteCount + length
    var start = Self.headByteCount
    var frames: [Frame] = []
    while start + Self.headByteCount <= end, bytes[start] != 0 {
      guard Self.isName(bytes[start..<start + 4]) else { return nil }
      let name = String(decoding: bytes[start..<start + 4], as: UTF8.self)
      let content = start + Self.headByteCount
      let next = ["CHAP", "CTOC"].contains(name) ? [8, 7] : [7]
      guard
        let after = next.lazy.compactMap({ bits in
          Self.number(bytes[start + 4..<start + 8], bits: bits).map { content + $0 }
        }).first(where: { Self.isBoundary($0, in: bytes, end: end) })
      else { return nil }
      frames.append(
        Frame(
          name: name, flags: Array(bytes[start + 8..<content]),
          content: Array(bytes[content..<after])))
      start = after
    }
    head = Array(bytes[0..<6])
    self.frames = frames
    rest = (Array(bytes[start..<end]), Array(bytes[end...]))
  }

  /// A big-endian number with so many bits in a byte; nil where a byte has more.
  private static func number(_ bytes: ArraySlice<UInt8>, bits: Int) -> Int? {
    guard bytes.allSatisfy({ Int($0) < 1 << bits }) else { return nil }
    return bytes.reduce(0) { $0 << bits | Int($1) }
  }

  /// Whether a frame, the padding or the end of the tag is at `place`.
  private static func isBoundary(_ place: Int, in bytes: [UInt8], end: Int) -> Bool {
    guard place < end else { return place == end }
    return bytes[place] == 0 || isName(bytes[place..<min(place + 4, end)])
  }

  /// Whether bytes are capital letters and digits, as the names of frames are.
  private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
  }

  private var bytes: [UInt8] {
    var body: [UInt8] = []
    for frame in frames {
      let (name, content) = Self.comment(frame) ?? (frame.name, time(frame) ?? frame.content)
      body += Array(name.utf8) + Self.length(content.count) + frame.flags + content
    }
    body += rest.padding
    return head + Self.length(body.count) + body + rest.file
  }

  private static func length(_ count: Int) -> [UInt8] {
    [21, 14, 7, 0].map { UInt8(count >> $0 & 0x7F) }
  }

  /// The content of a frame with a time, without the zone that was made up; nil for other frames.
  private func time(_ frame: Frame) -> [UInt8]? {
    guard isTimeWithoutZone, frame.name == "TDEN" else { return nil }
    let text = String(decoding: frame.content.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    guard let match = text.wholeMatch(of: /([0-9:T-]+)(\.0+)?Z/) else { return nil }
    return frame.content.prefix(1) + match.1.utf8 + [0]
  }

  /// A frame with the text called `comment` as a comment, in no language and without a name; nil for
  /// other frames.
  private static func comment(_ frame: Frame) -> (name: String, content: [UInt8])? {
    let name = Array("comment".utf8) + [0]
    // Latin-1 and UTF-8 end texts with one zero.
    guard frame.name == "TXXX", let encoding = frame.content.first, [0, 3].contains(encoding),
      frame.content.dropFirst().starts(with: name)
    else { return nil }
    var text = frame.content.dropFirst(1 + name.count)
    while text.last == 0 { text.removeLast() }
    var content = [encoding]
    content += "XXX".utf8
    content.append(UInt8(0))
    content += text
    return ("COMM", content)
  }
}

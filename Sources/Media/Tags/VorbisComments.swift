import CLibAV
import CLibAVLoader
import Glibc
internal import Platform

/// The packet of Vorbis comments of a FLAC or Ogg file (RFC 9639, section 8.6; RFC 7845, section 5.2).
///
/// libavformat takes `COMMENT` and `DESCRIPTION` for one tag when it reads, and writes both as
/// `DESCRIPTION`; it joins several comments of one name with semicolons, and writes one of each name.
/// What a file has is read here, and the names of comments that it was given under others are written
/// here.
struct VorbisComments: ~Copyable {
  private let file: ContainerBytes
  /// Where the packet lies in the file, and the page that a part belongs to; nil in FLAC.
  private var parts: [(range: Range<Int>, page: Range<Int>?)] = []
  private var entries: [(name: String, value: [UInt8], offset: Int)] = []

  /// The name under which libavformat writes a comment. No tag has it, as names have no `~`.
  private static let placeholder = "C~MMENT"

  /// Reads the comments of a file, in Ogg of the first stream with sound; nil if there are none.
  /// O(their bytes).
  init?(_ file: consuming ContainerBytes) {
    let parts = Self.flacParts(of: file) ?? Self.oggParts(of: file)
    let packet = parts.flatMap { file.bytes(at: $0.range.lowerBound, count: $0.range.count) }
    guard let head = Self.headByteCount(of: packet) else { return nil }
    var reader = ByteReader(packet.dropFirst(head))
    guard let vendor = reader.integer(byteCount: 4), reader.bytes(vendor) != nil,
      let count = reader.integer(byteCount: 4)
    else { return nil }
    for _ in 0..<count {
      guard let length = reader.integer(byteCount: 4) else { break }
      let offset = packet.count - reader.rest.count
      guard let entry = reader.bytes(length) else { break }
      guard let end = entry.firstIndex(of: 0x3D) else { continue }
      entries.append(
        (String(decoding: entry[..<end], as: UTF8.self), Array(entry[(end + 1)...]), offset))
    }
    self.file = file
    self.parts = parts
  }

  /// The comment and the description, each nil if there is none; several of a name are joined as
  /// libavformat joins them. O(comments).
  var commentAndDescription: (comment: String?, description: String?) {
    func text(_ name: String) -> String? {
      let values = entries.filter { $0.name.uppercased() == name }
      let text = Self.joined(values.map { String(ofFile: $0.value) })
      return text.isEmpty ? nil : text
    }
    return (text("COMMENT"), text("DESCRIPTION"))
  }

  /// The values of tags that several comments hold, in their order, by libavformat's names in lower
  /// case. O(comments).
  var severalValues: [String: [String]] {
    Dictionary(
      entries.map { entry in
        let name = entry.name.lowercased()
        return (Self.commonNames[name] ?? name, [String(ofFile: entry.value)])
      }, uniquingKeysWith: +
    ).filter { $0.value.count > 1 }
  }

  /// libavformat's names of the tags that Vorbis comments call otherwise.
  private static let commonNames = [
    "albumartist": "album_artist", "tracknumber": "track", "discnumber": "disc",
  ]

  /// Tags as libavformat is to write them into comments, and the names of what it would misname or
  /// leave out, by the placeholders in the tags.
  /// - Parameter severalValues: of tags; of those alone whose text joins them.
  static func draft(
    of tags: [String: String], severalValues: [String: [String]]
  ) -> (tags: [String: String], names: [String: String]) {
    var (tags, names) = (tags, [String: String]())
    for (name, values) in severalValues.sorted(by: { $0.key < $1.key })
    where tags[name] == VorbisComments.joined(values) {
      let written = commonNames.first { $0.value == name }?.key.uppercased() ?? name
      let drafts = values.dropFirst().indices.map { index in
        // As long as the name, which takes its place.
        let number = String(names.count + index)
        let zeros = written.utf8.count - 1 - number.utf8.count
        return zeros < 0 ? nil : "~" + String(repeating: "0", count: zeros) + number
      }
      guard !drafts.contains(nil) else { continue }
      tags[name] = values[0]
      for (draft, value) in zip(drafts.compactMap(\.self), values.dropFirst()) {
        (tags[draft], names[draft]) = (value, written)
      }
    }
    if let comment = tags.removeValue(forKey: "comment") {
      (tags[placeholder], names[placeholder]) = (comment, "COMMENT")
    }
    return (tags, names)
  }

  /// Several values of one name as libavformat joins them.
  static func joined(_ values: [String]) -> String { values.joined(separator: separator) }

  static let separator = ";"

  /// Gives comments their names.
  /// - Parameter names: of the same length, by the placeholders that were written.
  static func name(_ names: [String: String], inFileAt path: String) throws(SpoolError) {
    guard !names.isEmpty, let file = try? ContainerBytes(path: path),
      let comments = VorbisComments(file)
    else { return }
    let target = try OpenFile(path: path, O_RDWR)
    var pages: Set<Range<Int>> = []
    for entry in comments.entries {
      guard let name = names[entry.name] else { continue }
      for (index, byte) in name.utf8.enumerated() {
        guard let (place, page) = comments.place(of: entry.offset + index) else { continue }
        try target.write([byte], at: place)
        if let page { pages.insert(page) }
      }
    }
    for page in pages {
      var bytes = try target.read(page.count, at: page.lowerBound)
      bytes.replaceSubrange(22..<26, with: [0, 0, 0, 0])
      let checksum = unsafe av_crc(av_crc_get_table(AV_CRC_32_IEEE), 0, bytes, bytes.count)
      try target.write(checksum.bigEndianBytes(4), at: page.lowerBound + 22)
    }
  }

  /// Where a byte of the packet lies in the file, and its page; nil behind the packet's end.
  private func place(of offset: Int) -> (place: Int, page: Range<Int>?)? {
    var rest = offset
    for part in parts {
      if rest < part.range.count { return (part.range.lowerBound + rest, part.page) }
      rest -= part.range.count
    }
    return nil
  }

  private static func flacParts(
    of file: borrowing ContainerBytes
  ) -> [(range: Range<Int>, page: Range<Int>?)]? {
    let start = file.tagEnd(at: 0) ?? 0
    guard file.word(at: start) == "fLaC" else { return nil }
    var found: [(range: Range<Int>, page: Range<Int>?)] = []
    _ = file.endOfFLACBlocks(from: start) { kind, content in
      // With the head of the block, which its kind is read from.
      if kind == 4 { found = [(content.lowerBound - 4..<content.upperBound, nil)] }
      return found.isEmpty
    }
    return found
  }

  /// A picture of 16 MB as text, in pages of 64 kB.
  private static let mostPages = 4096

  /// The second packet of the first stream with sound.
  private static func oggParts(
    of file: borrowing ContainerBytes
  ) -> [(range: Range<Int>, page: Range<Int>?)] {
    var parts: [(range: Range<Int>, page: Range<Int>?)] = []
    var stream: [UInt8]?
    var offset = 0
    for _ in 0..<mostPages {
      let head = file.bytes(at: offset, count: 27)
      guard head.starts(with: "OggS".utf8) else { break }
      let lengths = file.bytes(at: offset + 27, count: Int(head[26]))
      let body = offset + 27 + lengths.count
      let page = offset..<body + lengths.reduce(0) { $0 + Int($1) }
      guard page.upperBound <= file.byteCount else { break }
      offset = page.upperBound
      let number = Array(head[14..<18])
      if head[5] & 2 != 0 {
        let start = file.bytes(at: body, count: 8)
        let isSound = soundHeads.contains { start.starts(with: $0.utf8) }
        if stream == nil, isSound { stream = number }
      } else if number == stream {
        let whole = lengths.firstIndex { $0 < 255 }
        let count = lengths.prefix((whole ?? lengths.count - 1) + 1).reduce(0) { $0 + Int($1) }
        parts.append((body..<body + count, page))
        if whole != nil { return parts }
      }
    }
    return []
  }

  private static let soundHeads = ["\u{1}vorbis", "OpusHead", "\u{7F}FLAC"]

  /// What the packet has before the comments; nil if it holds none.
  private static func headByteCount(of packet: [UInt8]) -> Int? {
    if packet.starts(with: "OpusTags".utf8) { return 8 }
    if packet.starts(with: "\u{3}vorbis".utf8) { return 7 }
    return packet.first.map { $0 & 0x7F } == 4 ? 4 : nil
  }
}

internal import Platform

/// Whether a file holds all that its container declares, by the container's lengths alone, without
/// decoding or libraries.
///
/// Nothing counts as missing unless the container declares it: unknown formats are whole, and fail
/// later if at all.
package enum ContainerExtent: Hashable, Sendable {
  case whole
  /// Something is missing; the text says what, and how much if declared.
  case incomplete(String)
  /// Nothing is known to be missing, except the end mark, so more may follow. The text names the
  /// mark.
  case unended(String)
  /// The file could not be read; the text gives the reason.
  case unreadable(String)

  /// Examines the file at `path`. O(parts of the container) small reads; for Ogg and FLAC, up to 4
  /// MiB at the end.
  package init(ofFileAt path: String) {
    do { self = Self.of(try ContainerBytes(path: path)) } catch {
      self = .unreadable(error.words)
    }
  }

  private static func of(_ file: borrowing ContainerBytes) -> ContainerExtent {
    guard file.byteCount > 0 else { return .incomplete("it is empty") }
    guard file.bytes(at: 0, count: 32).contains(where: { $0 != 0 }) else {
      return .incomplete("it begins with zeros, as a file does whose room is only reserved")
    }
    switch (file.word(at: 0), file.word(at: 4), file.word(at: 8)) {
    case ("RIFF", _, "WAVE"), ("RF64", _, "WAVE"), ("BW64", _, "WAVE"), ("FORM", _, "AIFF"),
      ("FORM", _, "AIFC"), (".snd", _, _), ("DSD ", _, _):
      return file.headedExtent
    case ("riff", _, _) where file.isWave64: return file.headedExtent
    case ("caff", _, _): return file.cafExtent
    case ("fLaC", _, _): return file.flacExtent(from: 0)
    case ("OggS", _, _): return file.oggExtent
    case (_, let type, _) where ContainerBytes.firstBoxes.contains(type):
      return file.boxExtent
    default: break
    }
    if file.isMatroska { return file.matroskaExtent }
    if file.isASF { return file.asfExtent }
    return file.mpegAudioExtent
  }

  /// A file shorter than its declared length.
  static func short(of declared: Int, at byteCount: Int) -> ContainerExtent {
    .incomplete("it declares \(declared) bytes, and \(declared - byteCount) of them are missing")
  }
}

/// Ogg (RFC 3533): a chain of pages, the last of which is marked.
extension ContainerBytes {
  /// The longest page: a header, 255 lengths, and 255 segments of 255 bytes.
  private static let longestPage = 27 + 255 + 255 * 255

  var oggExtent: ContainerExtent {
    let start = max(0, byteCount - 2 * Self.longestPage)
    let window = bytes(at: start, count: byteCount - start)
    var place = window.count - 4
    while place >= 0 {
      if let extent = extent(ofPageAt: place, in: window) { return extent }
      place -= 1
    }
    return .unended("its last pages do not read")
  }

  /// What the page implies for the end of the file; nil if no page begins here.
  private func extent(ofPageAt place: Int, in window: [UInt8]) -> ContainerExtent? {
    guard window[place...].starts(with: "OggS".utf8) else { return nil }
    guard window.count - place >= 27 else { return .incomplete("its last page is cut off") }
    let (version, flags) = (window[place + 4], window[place + 5])
    guard version == 0, flags < 8 else { return nil }
    let body = place + 27 + Int(window[place + 26])
    guard body <= window.count else { return .incomplete("its last page is cut off") }
    let end = window[(place + 27)..<body].reduce(body) { $0 + Int($1) }
    guard end <= window.count else {
      return .incomplete("its last page declares \(end - window.count) bytes that are missing")
    }
    return flags & 4 != 0 ? .whole : .unended("no page says that it is the last")
  }
}

/// Windows Media: a header of objects, one of which declares the file length (ASF 1.20, section
/// 3.2).
extension ContainerBytes {
  private static let asfHead: [UInt8] = [
    0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11, 0xa6, 0xd9, 0, 0xaa, 0, 0x62, 0xce, 0x6c,
  ]
  private static let asfProperties: [UInt8] = [
    0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11, 0x8e, 0xe4, 0, 0xc0, 0x0c, 0x20, 0x53, 0x65,
  ]

  var isASF: Bool { bytes(at: 0, count: 16) == Self.asfHead }

  var asfExtent: ContainerExtent {
    let headEnd = little(at: 16, count: 8)
    guard headEnd >= 30, headEnd < 1 << 60 else { return .whole }
    guard headEnd <= byteCount else { return .incomplete("its head is cut off") }
    var offset = 30
    while headEnd - offset >= 24 {
      let size = little(at: offset + 16, count: 8)
      guard size >= 24, size <= headEnd - offset else { break }
      if bytes(at: offset, count: 16) == Self.asfProperties, size >= 104 {
        // Live streams have no length.
        let isLive = little(at: offset + 88, count: 4) & 1 != 0
        let declared = little(at: offset + 40, count: 8)
        if isLive || declared <= byteCount || declared >= 1 << 60 { return .whole }
        return .short(of: declared, at: byteCount)
      }
      offset += size
    }
    return .whole
  }
}

/// MP4 and QuickTime: a chain of boxes (ISO/IEC 14496-12), among them the index and the sound.
extension ContainerBytes {
  /// The first box types, including old QuickTime's.
  static let firstBoxes: Set<String> = [
    "ftyp", "styp", "moov", "mdat", "wide", "free", "skip", "pnot",
  ]

  var boxExtent: ContainerExtent {
    var offset = 0
    var hasIndex = false
    var hasSound = false
    while byteCount - offset >= 8 {
      let type = word(at: offset + 4)
      var size = big(at: offset, count: 4)
      if size == 1 { size = big(at: offset + 8, count: 8) }
      if size == 0 { size = byteCount - offset }
      // Trailing bytes do not belong to the container.
      guard size >= 8 else { break }
      guard size <= byteCount - offset else {
        return .incomplete(
          "its part \"\(type)\" declares \(size - (byteCount - offset)) bytes that are missing"
        )
      }
      if type == "moov" { hasIndex = true }
      if type == "mdat" { hasSound = true }
      offset += size
    }
    guard hasIndex else { return .incomplete("its index, which is written last, is missing") }
    return hasSound ? .whole : .incomplete("the part with its sound is missing")
  }
}

/// Apple's Core Audio Format: a chain of parts with lengths. The sound's length may be unknown if
/// it comes last, as during recording.
extension ContainerBytes {
  var cafExtent: ContainerExtent {
    var offset = 8
    var hasSound = false
    while byteCount - offset >= 12 {
      let type = word(at: offset)
      let size = Int64(bitPattern: UInt64(bigEndianBytes: bytes(at: offset + 4, count: 8)))
      if type == "data", size == -1 { return .whole }
      // Trailing bytes do not belong to the container.
      guard size >= 0, size < 1 << 60 else { break }
      let end = offset + 12 + Int(size)
      guard end <= byteCount else {
        return .incomplete(
          "its part \"\(type)\" declares \(end - byteCount) bytes that are missing")
      }
      if type == "data" { hasSound = true }
      offset = end
    }
    // A chain that ends at a part's end may still be truncated there.
    return hasSound ? .whole : .incomplete("the part with its sound is missing")
  }
}

/// Containers whose header declares the file length: WAV with its 64-bit variants RF64, BW64 and
/// Wave64, AIFF, AU and DSF.
extension ContainerBytes {
  var headedExtent: ContainerExtent {
    switch word(at: 0) {
    case "RIFF": following(little(at: 4, count: 4))
    // EBU Tech 3306: the length is in a chunk of its own.
    case "RF64", "BW64":
      following(word(at: 12) == "ds64" ? little(at: 20, count: 8) : 0)
    case "FORM": following(big(at: 4, count: 4))
    case "riff": total(little(at: 16, count: 8))
    case "DSD ": total(little(at: 12, count: 8))
    // An AU header declares its own length and that of the sound.
    default: sound(big(at: 8, count: 4), from: big(at: 4, count: 4))
    }
  }

  /// Wave64 begins with the same letters in lower case.
  var isWave64: Bool {
    let mark: [UInt8] = [
      0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28, 0xdb, 0x04, 0xc1, 0, 0,
    ]
    return bytes(at: 0, count: 16) == mark
  }

  /// A length of what follows eight bytes. A final padding byte is often missing.
  private func following(_ length: Int) -> ContainerExtent {
    guard length > 0, length != Self.unknown, length < Self.longest else { return .whole }
    return length + 8 > byteCount + 1
      ? .short(of: length + 8, at: byteCount) : .whole
  }

  private func sound(_ length: Int, from start: Int) -> ContainerExtent {
    length == Self.unknown ? .whole : total(start + length)
  }

  private func total(_ length: Int) -> ContainerExtent {
    guard length > 0, length < Self.longest, length > byteCount else { return .whole }
    return .short(of: length, at: byteCount)
  }

  /// The placeholder of a length that was never filled in, as in streams to a pipe.
  private static let unknown = 0xffff_ffff
  private static let longest = 1 << 60
}

/// MP3 (and FLAC behind a tag): the Xing or VBRI header in the first frame declares the number of
/// bytes. Without it nothing is declared.
extension ContainerBytes {
  var mpegAudioExtent: ContainerExtent {
    var start = 0
    if bytes(at: 0, count: 3) == Array("ID3".utf8) {
      guard let end = tagEnd else { return .whole }
      // A file that is only a tag was just begun.
      guard end < byteCount else {
        return .incomplete(
          end == byteCount
            ? "there is a tag only"
            : "its tag declares \(end - byteCount) bytes that are missing")
      }
      start = end
      if word(at: start) == "fLaC" { return flacExtent(from: start) }
    }
    let frame = bytes(at: start, count: Self.noteEnd)
    let isLayer3 = frame[0] == 0xff && frame[1] & 0xe0 == 0xe0 && frame[1] >> 1 & 3 == 1
    if isLayer3 || start > 0, byteCount - start < Self.noteEnd {
      return .incomplete("its first frame is cut off")
    }
    guard isLayer3 else { return .whole }
    guard let declared = declaredByteCount(at: start, of: frame) else { return .whole }
    return start + declared <= byteCount
      ? .whole : .short(of: start + declared, at: byteCount)
  }

  /// The end of an ID3v2 tag; nil if its length is invalid.
  private var tagEnd: Int? {
    let head = bytes(at: 0, count: 10)
    guard head[6..<10].allSatisfy({ $0 < 0x80 }) else { return nil }
    let length = head[6..<10].reduce(0) { $0 << 7 | Int($1) }
    let hasFooter = head[3] >= 4 && head[5] & 0x10 != 0
    return 10 + length + (hasFooter ? 10 : 0)
  }

  /// The greatest offset of the end of the byte count in such a header.
  private static let noteEnd = 64

  /// The declared byte count, from the first frame's beginning; nil if there is none.
  private func declaredByteCount(at start: Int, of frame: [UInt8]) -> Int? {
    let isMPEG1 = frame[1] >> 3 & 3 == 3
    let isMono = frame[3] >> 6 == 3
    let place = 4 + (isMPEG1 ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
    let mark = String(decoding: frame[place..<place + 4], as: UTF8.self)
    if mark == "Xing" || mark == "Info" {
      let flags = big(at: start + place + 4, count: 4)
      guard flags & 2 != 0 else { return nil }
      return big(at: start + place + 8 + (flags & 1 != 0 ? 4 : 0), count: 4)
    }
    return word(at: start + 36) == "VBRI" ? big(at: start + 46, count: 4) : nil
  }
}

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

  var isMatroska: Bool { big(at: 0, count: 4) == Int(Self.matroskaHead) }

  var matroskaExtent: ContainerExtent {
    guard let head = element(at: 0), let length = head.length,
      let segment = element(
        at: head.start + length), segment.id == Self.segment
    else { return .incomplete("its head is cut off") }
    if let length = segment.length, length < 1 << 60 {
      let end = segment.start + length
      return end > byteCount ? .short(of: end, at: byteCount) : .whole
    }
    return lastElement(from: segment.start)
  }

  /// Walks through elements whose parents have no length, and checks that the last is complete.
  private func lastElement(from start: Int) -> ContainerExtent {
    var offset = start
    while offset < byteCount {
      // Trailing bytes do not belong to the container.
      if big(at: offset, count: 1) == 0 { return .whole }
      guard let next = element(at: offset) else {
        return .incomplete("its last element is cut off")
      }
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

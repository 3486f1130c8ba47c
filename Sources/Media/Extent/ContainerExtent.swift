internal import Platform

/// Whether a file holds all that its container declares, by the container's lengths and the checksum of
/// its last part, without decoding or libraries.
///
/// Nothing counts as missing unless the container declares it: unknown formats are whole, and fail
/// later if at all.
package enum ContainerExtent: Hashable, Sendable {
  case whole
  /// Sound is missing, or may be; the text says what, and how much if declared.
  case incomplete(String)
  /// All the sound is there, but not what the container declares behind it, such as an index or
  /// tags. The text says what is missing.
  case cutBehindSound(String)
  /// Nothing is known to be missing, except the end mark, so more may follow. The text names the
  /// mark.
  case unended(String)
  /// The file could not be read; the text gives the reason.
  case unreadable(String)

  /// Examines the file at `path`. O(parts of the container) small reads; for Ogg and FLAC, up to 4
  /// MiB at the end.
  package init(ofFileAt path: String) {
    do { self.init(of: try ContainerBytes(path: path)) } catch {
      self = .unreadable(error.words)
    }
  }

  /// Whether a file is of a form that tells where it ends, by a length or a mark: streams of frames and
  /// of packets do not. True for one that cannot be read.
  package static func tellsEnd(ofFileAt path: String) -> Bool {
    guard let file = try? ContainerBytes(path: path) else { return true }
    return !file.isPacketStream && !file.isFrameStream
  }

  /// Examines an open file.
  init(of file: borrowing ContainerBytes) {
    self = Self.extent(of: file)
    guard file.unwrittenByteCount > 0 else { return }
    if case .incomplete = self { return }
    self = .incomplete("its last \(file.unwrittenByteCount) bytes were never written")
  }

  private static func extent(of file: borrowing ContainerBytes) -> ContainerExtent {
    guard file.byteCount + file.unwrittenByteCount > 0 else { return .incomplete("it is empty") }
    guard file.bytes(at: 0, count: 32).contains(where: { $0 != 0 }) else {
      return .incomplete("it begins with zeros, as a file does whose room is only reserved")
    }
    switch (file.word(at: 0), file.word(at: 4), file.word(at: 8)) {
    case ("RIFF", _, "WAVE"), ("RF64", _, "WAVE"), ("BW64", _, "WAVE"), ("FORM", _, "AIFF"),
      ("FORM", _, "AIFC"), ("RIFF", _, "AVI "), (".snd", _, _), ("DSD ", _, _):
      return file.headedExtent
    case ("Crea", "tive", " Voi"): return file.voiceExtent
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
    return file.packetStreamExtent ?? file.mpegAudioExtent
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
    // A page may end in zeros.
    let end = min(byteCount, startOfZeros + Self.longestPage)
    let start = max(0, end - 2 * Self.longestPage)
    let window = bytes(at: start, count: end - start)
    var place = window.count - 4
    while place >= 0 {
      if let extent = extent(ofPageAt: place, in: window) {
        return extent == .whole && end < byteCount
          ? .unended("zeros follow its last page") : extent
      }
      place -= 1
    }
    return .incomplete("its last \(window.count) bytes hold no page")
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
    guard Self.hasChecksum(window[place..<end]) else {
      return .incomplete("its last page is damaged, and nothing of that page is read")
    }
    // Tags and padding may follow the last page, and nothing may follow another.
    if flags & 4 != 0 { return .whole }
    return end < window.count
      ? .incomplete("the \(window.count - end) bytes behind its last page are no page")
      : .unended("no page says that it is the last")
  }
}

/// The checksum of Ogg pages.
extension ContainerBytes {
  /// Whether the page in a range has the bytes of its checksum.
  func hasChecksum(page: Range<Int>) -> Bool {
    Self.hasChecksum(bytes(at: page.lowerBound, count: page.count)[...])
  }

  /// Whether a page has the bytes of its checksum: a CRC with the polynomial 0x04C11DB7, from zero, of
  /// the page with a checksum of zero (RFC 3533, section 6). O(bytes).
  private static func hasChecksum(_ page: ArraySlice<UInt8>) -> Bool {
    var (stated, sum) = (UInt32(0), UInt32(0))
    for (offset, byte) in page.enumerated() {
      let isChecksum = (22..<26).contains(offset)
      if isChecksum { stated |= UInt32(byte) << UInt32(8 * (offset - 22)) }
      sum = sum << 8 ^ checksums[Int(sum >> 24) ^ Int(isChecksum ? 0 : byte)]
    }
    return sum == stated
  }

  /// The checksums of single bytes.
  private static let checksums: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte) << 24) { sum, _ in
      sum << 1 ^ (sum >> 31 == 1 ? 0x04C1_1DB7 : 0)
    }
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
        guard !isLive, declared < 1 << 60 else { return Self.unfinished }
        if declared <= byteCount {
          return bytes(at: declared, count: 16) == Self.asfHead
            ? .unended("another recording begins at byte \(declared), and is not read") : .whole
        }
        return .short(of: declared, at: byteCount)
      }
      offset += size
    }
    return .whole
  }
}

/// MP3 (and FLAC behind a tag): the Xing or VBRI header in the first frame declares the number of
/// bytes. Without it only a last frame that is cut off tells.
extension ContainerBytes {
  var mpegAudioExtent: ContainerExtent {
    var start = 0
    if bytes(at: 0, count: 3) == Array("ID3".utf8) {
      guard let end = tagEnd(at: 0) else { return .whole }
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
    guard endBeforeTags(start) > start else { return .incomplete("there is a tag only") }
    if isLayer3(at: start) || start > 0, byteCount - start < Self.noteEnd {
      return .incomplete("its first frame is cut off")
    }
    guard let end = declaredMPEGEnd(from: start) else { return frameExtent(from: start) }
    return end <= byteCount ? .whole : .short(of: end, at: byteCount)
  }

  /// Where an MP3 stream ends that begins at `start`, by the header in its first frame; nil without
  /// one.
  func declaredMPEGEnd(from start: Int) -> Int? {
    guard isLayer3(at: start), byteCount - start >= Self.noteEnd else { return nil }
    return declaredByteCount(at: start, of: bytes(at: start, count: Self.noteEnd))
      .map { start + $0 }
  }

  private func isLayer3(at start: Int) -> Bool {
    let frame = bytes(at: start, count: 2)
    return frame[0] == 0xff && frame[1] & 0xe0 == 0xe0 && frame[1] >> 1 & 3 == 1
  }

  /// The end of the ID3v2 tag that begins here; nil if none does, or its length is invalid.
  func tagEnd(at start: Int) -> Int? {
    let head = bytes(at: start, count: 10)
    guard head.starts(with: "ID3".utf8), head[6..<10].allSatisfy({ $0 < 0x80 }) else { return nil }
    let length = head[6..<10].reduce(0) { $0 << 7 | Int($1) }
    let hasFooter = head[3] >= 4 && head[5] & 0x10 != 0
    return start + 10 + length + (hasFooter ? 10 : 0)
  }

  /// The greatest offset of the end of the byte count in such a header.
  private static let noteEnd = 64

  /// The samples of each channel that the encoder added before and behind the sound, by a header in
  /// the first frame that counts frames, too; nil without one.
  func encoderPadding(at start: Int) -> Int? {
    guard isLayer3(at: start) else { return nil }
    let place = start + Self.xingPlace(in: bytes(at: start, count: 4))
    guard ["Xing", "Info"].contains(word(at: place)) else { return nil }
    let flags = big(at: place + 4, count: 4)
    guard flags & 1 != 0 else { return nil }
    // Each of these fields is there if its flag is set.
    let fields = [1: 4, 2: 4, 4: 100, 8: 4].reduce(0) { $0 + (flags & $1.key != 0 ? $1.value : 0) }
    let note = place + 8 + fields
    guard ["LAME", "Lavf", "Lavc"].contains(word(at: note)) else { return nil }
    let counts = big(at: note + 21, count: 3)
    return counts >> 12 + counts & 0xfff
  }

  /// Where a Xing header stands in a frame that begins with these bytes.
  private static func xingPlace(in frame: [UInt8]) -> Int {
    let isMPEG1 = frame[1] >> 3 & 3 == 3
    let isMono = frame[3] >> 6 == 3
    return 4 + (isMPEG1 ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
  }

  /// The declared byte count, from the first frame's beginning; nil if there is none.
  private func declaredByteCount(at start: Int, of frame: [UInt8]) -> Int? {
    let place = Self.xingPlace(in: frame)
    let mark = String(decoding: frame[place..<place + 4], as: UTF8.self)
    if mark == "Xing" || mark == "Info" {
      let flags = big(at: start + place + 4, count: 4)
      guard flags & 2 != 0 else { return nil }
      return big(at: start + place + 8 + (flags & 1 != 0 ? 4 : 0), count: 4)
    }
    return word(at: start + 36) == "VBRI" ? big(at: start + 46, count: 4) : nil
  }
}

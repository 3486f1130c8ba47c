internal import Platform

/// Where a recording's own bytes lie in its file: tags of other formats stand before and behind.
extension ContainerBytes {
  /// The bytes of the stream. Some demuxers take tags of other formats for sound, and offsets in an
  /// MP4 index do not count a tag before it.
  var streamRange: Range<Int> {
    let first = word(at: 0)
    switch first {
    case "riff" where isWave64:
      // Sizes are padded to eight bytes, the file need not be.
      return 0..<bounded(little(at: 16, count: 8))
    case ".snd":
      let length = big(at: 8, count: 4)
      return 0..<(length == 0xffff_ffff ? byteCount : bounded(big(at: 4, count: 4) + length))
    case "fLaC", "wvpk", "TTA1": return 0..<endBeforeTags(0)
    case "RIFF", "RF64", "BW64", "FORM", "caff", "OggS": return 0..<byteCount
    default: break
    }
    guard !isMatroska, !isASF, !Self.firstBoxes.contains(word(at: 4)) else { return 0..<byteCount }
    let start = tagEnd(at: 0) ?? 0
    if start > 0, start < byteCount, Self.firstBoxes.contains(word(at: start + 4)) {
      return start..<byteCount
    }
    let end = endBeforeTags(0)
    if let declared = declaredMPEGEnd(from: start), end - declared > Self.mostStrayBytes {
      // With zeros behind it, libavformat takes a stream for several, and keeps its padding.
      if case .foreign = rest(from: declared) { return 0..<end }
      return 0..<declared
    }
    return 0..<(big(at: 0, count: 2) == 0x0b77 ? endBeforeZeros(end) : end)
  }

  /// The end of AC-3 without zeros behind it, which libavformat's parser adds to the last frame.
  /// Two of them may belong to the checksum that ends the frame (ATSC A/52, 5.4.5).
  private func endBeforeZeros(_ end: Int) -> Int {
    let count = min(end, 1 << 16)
    let zeros = bytes(at: end - count, count: count).reversed().prefix { $0 == 0 }.count
    return end - max(0, zeros - 2)
  }

  private func bounded(_ end: Int) -> Int { end > 0 && end < byteCount ? end : byteCount }

  /// The end of the bytes from `start` on, without the tags behind them: ID3v1, APEv2 and Lyrics3,
  /// in any order.
  func endBeforeTags(_ start: Int) -> Int {
    var end = byteCount
    while let tag = byteCount(ofTagBefore: end), end - tag >= start { end -= tag }
    return end
  }

  /// The length of the tag that ends at `end`; nil if there is none.
  private func byteCount(ofTagBefore end: Int) -> Int? {
    func ends(with mark: String, at distance: Int) -> Bool {
      end >= distance && bytes(at: end - distance, count: mark.utf8.count) == Array(mark.utf8)
    }
    if ends(with: "TAG", at: 128) { return 128 }
    if ends(with: "APETAGEX", at: 32) {
      let hasHead = little(at: end - 12, count: 4) & 0x8000_0000 != 0
      // The length counts the footer and not the head.
      let length = little(at: end - 20, count: 4)
      return length >= 32 ? length + (hasHead ? 32 : 0) : nil
    }
    if ends(with: "LYRICS200", at: 9), end >= 15 {
      let digits = String(decoding: bytes(at: end - 15, count: 6), as: UTF8.self)
      return Int(digits).map { $0 + 15 }
    }
    return nil
  }

  /// What the bytes from `offset` to the end are, which belong to no part of the container.
  enum Rest {
    /// Tags, a few bytes, or the rest of a disk's block.
    case padding
    /// More zeros: room that was reserved, and perhaps not filled.
    case zeros(Int)
    case foreign(Int)
  }

  /// Looks at what follows the stream. O(rest of the file).
  func rest(from offset: Int) -> Rest {
    let end = endBeforeTags(offset)
    let offset = tagEnd(at: offset) ?? offset
    guard end - offset > Self.mostStrayBytes else { return .padding }
    let piece = 1 << 16
    for start in stride(from: offset, to: end, by: piece) {
      guard bytes(at: start, count: min(piece, end - start)).allSatisfy({ $0 == 0 }) else {
        return .foreign(end - offset)
      }
    }
    return end - offset <= Self.blockSize ? .padding : .zeros(end - offset)
  }

  /// Where the zeros begin that end the file. Looks at the last 64 MiB.
  var startOfZeros: Int {
    var end = byteCount
    while end > max(0, byteCount - (64 << 20)) {
      let start = max(0, end - (1 << 16))
      end -= bytes(at: start, count: end - start).reversed().prefix { $0 == 0 }.count
      guard end == start else { break }
    }
    return end
  }

  /// Fewer bytes than any format needs for a part of its own.
  static let mostStrayBytes = 16
  /// The longest rest of a disk's block.
  static let blockSize = 4096
}

internal import Platform

/// Apple's Core Audio Format: a chain of parts with lengths. The sound's length may be unknown if
/// it comes last, as during recording.
extension ContainerBytes {
  /// The chunks that may follow the sound.
  private static let laterChunks: Set<String> = [
    "chan", "edct", "free", "info", "inst", "kuki", "mark", "midi", "ovvw", "pakt", "peak", "regn",
    "strg", "umid", "uuid",
  ]

  var cafExtent: ContainerExtent {
    var offset = 8
    var hasSound = false
    while byteCount - offset >= 12 {
      let type = word(at: offset)
      let size = Int64(bitPattern: UInt64(bigEndianBytes: bytes(at: offset + 4, count: 8)))
      if type == "data", size == -1 { return Self.unfinished }
      guard size >= 0, size < 1 << 60 else { break }
      let end = offset + 12 + Int(size)
      guard end <= byteCount else {
        // Trailing bytes do not belong to the container.
        guard !hasSound || Self.laterChunks.contains(type) else { break }
        return .incomplete(
          "its part \"\(type)\" declares \(end - byteCount) bytes that are missing")
      }
      guard !hasSound || Self.isChunkType(type) else { break }
      if type == "data" { hasSound = true }
      offset = end
    }
    // A chain that ends at a part's end may still be truncated there.
    return hasSound ? extent(behind: offset) : .incomplete("the part with its sound is missing")
  }

  /// Where the sound of a CAF file ends by its length; nil if that is unknown.
  var cafSoundEnd: Int? {
    var offset = 8
    while byteCount - offset >= 12 {
      let size = big(at: offset + 4, count: 8)
      guard size < 1 << 60 else { return nil }
      if word(at: offset) == "data" { return offset + 12 + size }
      offset += 12 + size
    }
    return nil
  }
}

/// Containers whose header declares the file length: WAV with its 64-bit variants RF64, BW64 and
/// Wave64, AIFF, AVI, AU and DSF.
extension ContainerBytes {
  var headedExtent: ContainerExtent {
    switch word(at: 0) {
    case "RIFF" where word(at: 8) == "WAVE":
      extent(ofChunksWith: "data", little(at: 4, count: 4)) { little(at: $0, count: 4) }
    case "RIFF": extensibleRIFF
    // EBU Tech 3306: the lengths are in a chunk of their own.
    case "RF64", "BW64":
      word(at: 12) == "ds64"
        ? extent(ofChunksWith: "data", little(at: 20, count: 8)) { place in
          let length = little(at: place, count: 4)
          return length == Self.unknown ? little(at: 28, count: 8) : length
        } : .whole
    case "FORM":
      extent(ofChunksWith: "SSND", big(at: 4, count: 4)) { big(at: $0, count: 4) }
    case "riff": wave64Extent
    case "DSD ": dsfExtent
    // An AU header declares its own length and that of the sound.
    default: sound(big(at: 8, count: 4), from: big(at: 4, count: 4))
    }
  }

  /// Walks through the chunks. In a file that is shorter than declared, only a missing end of the
  /// chunk with the sound loses sound; what follows the last chunk may be sound that the header does
  /// not count. `length` reads a chunk's length.
  private func extent(
    ofChunksWith sound: String, _ total: Int, length: (Int) -> Int
  ) -> ContainerExtent {
    let declared = following(total)
    let isLengthKnown = !Self.isUnfinished(total)
    var offset = 12
    var hasSound = false
    while byteCount - offset >= 8, Self.isChunkType(word(at: offset)) {
      let count = min(length(offset + 4), Self.longest)
      let end = offset + 8 + count
      let isSound = word(at: offset) == sound
      if isSound, count == 0 || end > byteCount && Self.isUnfinished(count) {
        // A length that was never filled in; the file's own may have been.
        return isLengthKnown && total + 9 >= byteCount ? declared : Self.unfinished
      }
      guard end <= byteCount else {
        guard isSound, declared == .whole else { return declared }
        // Some writers count the header, too. Elsewhere the file's own length says nothing: it may have
        // been set to what is left.
        let excess = end - byteCount
        let isHeader = [8, offset, offset + 8].contains(excess) && abs(total + 8 - byteCount) <= 1
        return isHeader
          ? .unended("its header counts \(excess) bytes of its own as sound")
          : .short(of: end, at: byteCount)
      }
      if word(at: offset) == sound { hasSound = true }
      // Some writers forget the byte that fills up an odd length.
      offset = end + (count & 1 == 1 && !Self.isChunkType(word(at: end)) ? 1 : 0)
    }
    guard hasSound else { return declared }
    guard case .incomplete(let what) = declared else { return extent(behind: offset) }
    return .cutBehindSound(what)
  }

  /// Whether four characters may name a chunk, and not begin another recording.
  private static func isChunkType(_ word: String) -> Bool {
    !word.contains("?") && !["RIFF", "RIFX", "RF64", "BW64", "FORM"].contains(word)
  }

  /// Looks behind the declared end for sound that the header does not count, as it was written before
  /// the last sound.
  private func extent(behind end: Int) -> ContainerExtent {
    switch rest(from: end) {
    case .padding: .whole
    case .zeros(let count), .foreign(let count):
      .unended("\(count) bytes follow the end that its header declares, and are not read")
    }
  }

  /// AVI, of which further RIFF chunks are parts.
  private var extensibleRIFF: ContainerExtent {
    let length = little(at: 4, count: 4)
    guard !Self.isUnfinished(length) else { return Self.unfinished }
    let declared = following(length)
    guard declared == .whole else { return declared }
    var offset = 12
    while byteCount - offset >= 12, Self.isChunkType(word(at: offset)) {
      let end = offset + 8 + little(at: offset + 4, count: 4)
      if word(at: offset) == "LIST", word(at: offset + 8) == "movi", end > byteCount {
        return .short(of: end, at: byteCount)
      }
      offset = end + end & 1
    }
    // The index, which comes last, is not zero: room that was reserved, and perhaps not filled.
    guard byteCount - startOfZeros <= 2 * Self.blockSize else {
      return .unended("its end is zeros")
    }
    var end = 8 + length + length & 1
    while word(at: end) == "RIFF", word(at: end + 8) == "AVIX" {
      let length = little(at: end + 4, count: 4)
      end += 8 + length + length & 1
    }
    // Another film in the file is read, too.
    return word(at: end) == "RIFF" ? .whole : extent(behind: end)
  }

  /// Wave64 begins with the same letters in lower case.
  var isWave64: Bool {
    let mark: [UInt8] = [
      0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28, 0xdb, 0x04, 0xc1, 0, 0,
    ]
    return bytes(at: 0, count: 16) == mark
  }

  /// Each chunk has a name of sixteen bytes, a length that includes its head, and bytes that fill it
  /// up to a multiple of eight.
  private var wave64Extent: ContainerExtent {
    let declared = total(little(at: 16, count: 8))
    var offset = 40
    var hasSound = false
    while byteCount - offset >= 24, word(at: offset) != "riff" {
      let count = little(at: offset + 16, count: 8)
      let isSound = word(at: offset) == "data"
      guard count >= 24, count <= byteCount - offset else {
        guard isSound else { break }
        return count < 24 || count >= Self.longest
          ? Self.unfinished : .short(of: offset + count, at: byteCount)
      }
      if isSound { hasSound = true }
      offset += (count + 7) & ~7
    }
    return hasSound && declared == .whole ? extent(behind: offset) : declared
  }

  /// DSF: the length of the file, and of the chunk with the sound.
  private var dsfExtent: ContainerExtent {
    let start = 28 + min(little(at: 32, count: 8), byteCount)
    let end = start + min(little(at: start + 4, count: 8), Self.longest)
    return word(at: start) == "data" && end > byteCount
      ? .short(of: end, at: byteCount) : total(little(at: 12, count: 8))
  }

  /// A length of what follows eight bytes. A final padding byte is often missing.
  private func following(_ length: Int) -> ContainerExtent {
    guard !Self.isUnfinished(length) else { return .whole }
    return length + 8 > byteCount + 1
      ? .short(of: length + 8, at: byteCount) : .whole
  }

  private func sound(_ length: Int, from start: Int) -> ContainerExtent {
    Self.isUnfinished(length) ? Self.unfinished : total(start + length)
  }

  private func total(_ length: Int) -> ContainerExtent {
    guard !Self.isUnfinished(length) else { return Self.unfinished }
    return length > byteCount ? .short(of: length, at: byteCount) : extent(behind: length)
  }

  /// Whether a length was never filled in, as by a recorder that lost power, or of a stream to a
  /// pipe: zero, all bits, or about what SoX (0x7ffff000, of AIFF 0x7f000000) and arecord (0x7fffff00,
  /// 0x80000000) write, to which some add the head.
  private static func isUnfinished(_ length: Int) -> Bool {
    length == 0 || (0x7eff_f000...0x7f00_1000).contains(length)
      || (0x7fff_f000...0x8000_1000).contains(length)
      || (0xffff_f000...unknown).contains(length) || length >= longest
  }

  /// The sound goes to the file's end, wherever that is.
  static let unfinished = ContainerExtent.unended("its header declares no length")
  private static let unknown = 0xffff_ffff
  private static let longest = 1 << 60
}

/// Creative's VOC: a chain of blocks with lengths, which a mark ends.
extension ContainerBytes {
  var voiceExtent: ContainerExtent {
    var offset = little(at: 20, count: 2)
    var lastType = 0
    while offset < byteCount {
      let type = big(at: offset, count: 1)
      if type == 0 {
        return switch rest(from: offset + 1) {
        case .padding: .whole
        case .zeros(let count), .foreign(let count): .unended("\(count) bytes follow its end mark")
        }
      }
      // SoX counts eight bytes less in a block of 16 bits.
      if lastType == 9, offset + 9 == byteCount, big(at: offset + 8, count: 1) == 0 {
        return .unended("its last block counts 8 bytes less than there are")
      }
      guard type < 10, byteCount - offset >= 4 else {
        return .incomplete("no block begins at byte \(offset), where one should")
      }
      let end = offset + 4 + little(at: offset + 1, count: 3)
      guard end <= byteCount else {
        return .incomplete("its last block declares \(end - byteCount) bytes that are missing")
      }
      (offset, lastType) = (end, type)
    }
    return .unended("no mark says that it ends")
  }
}

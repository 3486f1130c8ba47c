internal import Platform

/// MP4 and QuickTime: a chain of boxes (ISO/IEC 14496-12), among them the index and the sound.
extension ContainerBytes {
  /// The first box types, including old QuickTime's.
  static let firstBoxes: Set<String> = [
    "ftyp", "styp", "moov", "mdat", "wide", "free", "skip", "pnot",
  ]

  private static let laterBoxes: Set<String> = [
    "moof", "mfra", "udta", "uuid", "meta", "sidx", "ssix", "pdin", "emsg", "prft",
  ]

  var boxExtent: ContainerExtent {
    var offset = 0
    var hasIndex = false
    var hasSound = false
    var isFragmented = false
    while byteCount - offset >= 8 {
      let type = word(at: offset + 4)
      // Trailing bytes do not belong to the container, but between fragments there are none.
      let isKnown = Self.firstBoxes.contains(type) || Self.laterBoxes.contains(type)
      guard isKnown || !hasIndex || !hasSound else {
        guard isFragmented else { break }
        switch rest(from: offset) {
        case .padding: return .whole
        case .zeros(let count): return .unended("\(count) zeros follow its last part")
        case .foreign: return .incomplete("no part begins at byte \(offset), where one should")
        }
      }
      var size = big(at: offset, count: 4)
      if size == 1 { size = big(at: offset + 8, count: 8) }
      if size == 0 { size = byteCount - offset }
      guard size >= 8 else { break }
      guard size <= byteCount - offset else {
        let what =
          "its part \"\(type)\" declares \(size - (byteCount - offset)) bytes that are missing"
        let isSound = ["mdat", "moof", "moov"].contains(type)
        return hasIndex && hasSound && !isSound ? .cutBehindSound(what) : .incomplete(what)
      }
      if type == "moov" { hasIndex = true }
      if type == "mdat" { hasSound = true }
      if type == "moof" { isFragmented = true }
      offset += size
    }
    guard hasIndex else { return .incomplete("its index, which is written last, is missing") }
    return hasSound ? .whole : .incomplete("the part with its sound is missing")
  }
}

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
      if type == "data", size == -1 { return .whole }
      // Trailing bytes do not belong to the container.
      guard size >= 0, size < 1 << 60, !hasSound || Self.laterChunks.contains(type) else { break }
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
    case "RIFF" where word(at: 8) == "WAVE":
      withSound("data", following(little(at: 4, count: 4))) { little(at: $0, count: 4) }
    case "RIFF": following(little(at: 4, count: 4))
    // EBU Tech 3306: the lengths are in a chunk of their own.
    case "RF64", "BW64":
      word(at: 12) == "ds64"
        ? withSound("data", following(little(at: 20, count: 8))) { place in
          let length = little(at: place, count: 4)
          return length == Self.unknown ? little(at: 28, count: 8) : length
        } : .whole
    case "FORM":
      withSound("SSND", following(big(at: 4, count: 4))) { big(at: $0, count: 4) }
    case "riff": total(little(at: 16, count: 8))
    case "DSD ": total(little(at: 12, count: 8))
    // An AU header declares its own length and that of the sound.
    default: sound(big(at: 8, count: 4), from: big(at: 4, count: 4))
    }
  }

  /// Looks for the chunk with the sound in a file that is shorter than declared: only a missing
  /// end of that one loses sound. `length` reads a chunk's length.
  private func withSound(
    _ type: String, _ declared: ContainerExtent, length: (Int) -> Int
  ) -> ContainerExtent {
    guard case .incomplete(let what) = declared else { return declared }
    var offset = 12
    while byteCount - offset >= 8 {
      let count = min(length(offset + 4), Self.longest)
      let end = offset + 8 + count
      if word(at: offset) == type, count > 0, end <= byteCount { return .cutBehindSound(what) }
      guard word(at: offset) != type else { break }
      offset = end + count & 1
    }
    return declared
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

/// Creative's VOC: a chain of blocks with lengths, which a mark ends.
extension ContainerBytes {
  var voiceExtent: ContainerExtent {
    var offset = little(at: 20, count: 2)
    while offset < byteCount {
      let type = big(at: offset, count: 1)
      if type == 0 {
        return switch rest(from: offset + 1) {
        case .padding: .whole
        case .zeros(let count), .foreign(let count): .unended("\(count) bytes follow its end mark")
        }
      }
      guard type < 10, byteCount - offset >= 4 else {
        return .incomplete("no block begins at byte \(offset), where one should")
      }
      let end = offset + 4 + little(at: offset + 1, count: 3)
      guard end <= byteCount else {
        return .incomplete("its last block declares \(end - byteCount) bytes that are missing")
      }
      offset = end
    }
    return .unended("no mark says that it ends")
  }
}

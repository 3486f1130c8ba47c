extension Unicode.Scalar {
  /// Whether it separates words.
  var isSpace: Bool {
    switch value {
    case 0x09...0x0d, 0x20: true
    case ..<0x80: false
    default: properties.isWhitespace
    }
  }

  /// Whether it ends a line for any reader.
  var endsLine: Bool {
    switch value {
    case 0x0a...0x0d, 0x1c...0x1e, 0x85, 0x2028, 0x2029: true
    default: false
    }
  }

  /// Whether its script has no spaces between words, so that lines and words may end at any letter:
  /// Thai, Lao, Burmese, Khmer, Chinese and Japanese.
  var isWrittenWithoutSpaces: Bool {
    switch value {
    case ..<0x0e00: false
    case 0x0e00...0x0eff, 0x1000...0x109f, 0x1780...0x17ff, 0x2e80...0x30ff, 0x31f0...0x4dbf,
      0x4e00...0x9fff, 0xf900...0xfaff, 0xff00...0xffef, 0x20000...0x3ffff:
      true
    default: false
    }
  }

  /// Whether it is two columns wide (East Asian Width: W and F).
  var isWide: Bool {
    switch value {
    case ..<0x1100: false
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff,
      0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1faff, 0x20000...0x3fffd:
      true
    default: false
    }
  }
}

internal import Sidecars
internal import Glibc

/// Whether something that has arrived wants to be a recording: its name says so, or its first bytes
/// do. Everything else in an inbox is somebody's business, and not Spool's.
enum SoundSign {
  /// Whether a name ends as those of recordings do.
  static func isCarried(by name: FileName) -> Bool {
    let ending = name.bytes.dropFirst(name.stem.count + 1).map(\.asciiLowercase)
    return endings.contains(String(decoding: ending, as: UTF8.self))
  }

  /// Whether a file that begins with these bytes is one of sound.
  static func isCarried(by head: [UInt8]) -> Bool {
    func has(_ text: String, at offset: Int = 0) -> Bool {
      head.dropFirst(offset).starts(with: text.utf8)
    }
    if has("RIFF") || has("RF64") || has("BW64") { return has("WAVE", at: 8) }
    if has("FORM") { return has("AIFF", at: 8) || has("AIFC", at: 8) }
    return has("fLaC") || has("OggS") || has("ID3") || has("caff") || has("#!AMR") || has("wvpk")
      || has("MAC ") || has("TTA1") || has("DSD ") || has("ftyp", at: 4)
      || head.starts(with: [0x1a, 0x45, 0xdf, 0xa3])
  }

  /// The endings of files that hold sound, alone or with pictures.
  private static let endings: Set<String> = [
    "3g2", "3gp", "3gpp", "aac", "ac3", "aif", "aifc", "aiff", "alac", "amr", "ape", "au", "avi",
    "awb", "bw64", "bwf", "caf", "dff", "dsf", "dts", "eac3", "flac", "gsm", "m4a", "m4b", "m4p",
    "m4r", "m4v", "mka", "mkv", "mov", "mp1", "mp2", "mp3", "mp4", "mpc", "mpeg", "mpg", "mpga",
    "oga", "ogg", "ogv", "ogx", "opus", "qcp", "qta", "ra", "rf64", "snd", "spx", "tak", "tta",
    "vob", "voc", "w64", "wav", "wave", "weba", "webm", "wma", "wmv", "wv",
  ]
}

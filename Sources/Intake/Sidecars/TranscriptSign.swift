/// Tells JSON with timed words from a device's sidecar.
struct TranscriptSign {
  private let bytes: [UInt8]
  private var place = 0

  /// How many bytes are read: recognisers may put the whole text before its words.
  static let byteLimit = 1 << 20

  /// Whether a file's beginning is that of a transcript: an object with a list of words or
  /// segments, as Whisper, WhisperX, whisper.cpp and Spool write it, and without a sidecar's own
  /// fields.
  ///
  /// Complexity: O(*n*) in the number of bytes up to that list.
  static func isTranscript(_ beginning: [UInt8]) -> Bool {
    var sign = TranscriptSign(bytes: beginning)
    return sign.look()
  }

  private static let lists: Set<String> = ["words", "segments", "transcription", "word_segments"]
  private static let sidecarFields: Set<String> = ["noteId", "uuid", "createdAt", "spool"]

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func look() -> Bool {
    if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { place = 3 }
    guard next() == UInt8(ascii: "{") else { return false }
    repeat {
      guard let name = string(), next() == UInt8(ascii: ":") else { return false }
      if Self.sidecarFields.contains(name) { return false }
      if Self.lists.contains(name), isListOfObjects() { return true }
      guard skipValue() else { return false }
    } while next() == UInt8(ascii: ",")
    return false
  }

  /// Takes the next byte that is no white space; nil at the end.
  private mutating func next() -> UInt8? {
    while place < bytes.count {
      defer { place += 1 }
      if ![0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { return bytes[place] }
    }
    return nil
  }

  /// A string, with its escapes as they are written.
  private mutating func string() -> String? {
    guard next() == UInt8(ascii: "\"") else { return nil }
    var text: [UInt8] = []
    while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
      let length = bytes[place] == UInt8(ascii: "\\") ? 2 : 1
      for index in place..<min(bytes.count, place + length) { text.append(bytes[index]) }
      place += length
    }
    guard place < bytes.count else { return nil }
    place += 1
    return String(validating: text, as: UTF8.self)
  }

  private func isListOfObjects() -> Bool {
    var ahead = self
    guard ahead.next() == UInt8(ascii: "["), let first = ahead.next() else { return false }
    return first == UInt8(ascii: "{") || first == UInt8(ascii: "]")
  }

  /// Skips a value; false if it does not end.
  private mutating func skipValue() -> Bool {
    var depth = 0
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\""):
        guard string() != nil else { return false }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return true }
        depth -= 1
      case UInt8(ascii: ","): if depth == 0 { return true }
      default: break
      }
      place += 1
    }
    return false
  }
}

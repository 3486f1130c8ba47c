internal import Platform

/// A line of the change log, with a checksum that reveals torn lines.
///
/// `<checksum> <number> <kind> <payload>`: the checksum is a prefix of the SHA-256 of the rest; the
/// number grows from transaction to transaction.
struct ChangeLogLine: Hashable, Sendable {
  enum Kind: String, Hashable, Sendable {
    /// A checkpoint's record was written; the payload is its key.
    case checkpoint
    /// A run's record was written; the payload is its name.
    case run
    /// A recording: the payload is its key and its rows, as JSON.
    case recording = "note"
    /// Changed rows of a recording with a long history: the payload is its key and the rows.
    case notePart = "note-part"
    /// A command: the payload is a digest of its name, and its row.
    case command
    /// The start of a log file, followed by all recordings. The payload is empty.
    case head
  }

  let number: Int64
  let kind: Kind
  let payload: String

  /// The first word of the payload.
  var subject: Substring { payload.prefix { $0 != " " } }
  /// The rest of the payload.
  var rows: Substring { payload.dropFirst(subject.count + 1) }

  private static let checksumCount = 16

  var text: String {
    let body = "\(number) \(kind.rawValue) \(payload)"
    return "\(Self.checksum(of: body)) \(body)\n"
  }

  init(_ kind: Kind, _ payload: String = "", number: Int64) {
    self.number = number
    self.kind = kind
    self.payload = payload
  }

  /// Reads a line without its line feed; nil unless it is canonical.
  init?(_ text: Substring) {
    let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, let number = Int64(parts[1]), let kind = Kind(rawValue: "\(parts[2])"),
      Self.checksum(of: "\(number) \(kind.rawValue) \(parts[3])") == parts[0]
    else { return nil }
    self.init(kind, "\(parts[3])", number: number)
  }

  private static func checksum(of body: String) -> Substring {
    SHA256.digest(of: body).hex.prefix(checksumCount)
  }
}

extension ChangeLogLine {
  /// The lines of a log file up to the first invalid one, and their length in bytes: a power cut may
  /// tear a line, and nothing after it counts.
  static func all(in bytes: ArraySlice<UInt8>) -> (lines: [ChangeLogLine], byteCount: Int64) {
    var lines: [ChangeLogLine] = []
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")),
      let text = String(validating: rest[..<end], as: UTF8.self),
      let line = ChangeLogLine(text[...])
    {
      lines.append(line)
      rest = rest[(end + 1)...]
    }
    return (lines, Int64(bytes.count - rest.count))
  }
}

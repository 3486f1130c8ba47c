internal import Hashing

/// One line of the ledger: what changed, and a checksum that tells a whole line from a torn one.
///
/// `<checksum> <number> <kind> <payload>`: the checksum is the beginning of the SHA-256 of the rest,
/// and the number grows from transaction to transaction.
struct LedgerLine: Hashable, Sendable {
  /// What a line tells of.
  enum Kind: String, Hashable, Sendable {
    /// A checkpoint's record was written; the payload is its key.
    case checkpoint
    /// A run's record was written; the payload is the run's name.
    case run
    /// How a note is now: the payload is its key and its rows, as JSON.
    case note
    /// What changed of a note that has a long history: the payload is its key and those of its rows.
    case notePart = "note-part"
    /// How a device's command is now: the payload is a digest of its name, and its row.
    case command
    /// Where a ledger begins, with all notes in it. The payload is empty.
    case head
  }

  let number: Int64
  let kind: Kind
  let payload: String

  /// The first word of the payload: what the line is about.
  var subject: Substring { payload.prefix { $0 != " " } }
  /// What follows it.
  var rows: Substring { payload.dropFirst(subject.count + 1) }

  private static let checksumCount = 16

  /// The line with its line feed.
  var text: String {
    let body = "\(number) \(kind.rawValue) \(payload)"
    return "\(Self.checksum(of: body)) \(body)\n"
  }

  init(_ kind: Kind, _ payload: String = "", number: Int64) {
    self.number = number
    self.kind = kind
    self.payload = payload
  }

  /// Reads a line without its line feed; nil for anything that `text` did not give.
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

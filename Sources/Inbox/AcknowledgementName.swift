internal import Sidecars
internal import Hashing

/// The names of files in the outbox.
enum AcknowledgementName {
  /// The acknowledgement of a note.
  static func acknowledgement(_ name: String) -> InboxPath { path(name, ".ack.json") }

  /// The answer to a command.
  static func answer(to id: String) -> InboxPath { path(id, ".result.json") }

  /// The snapshot of all current notes.
  static let snapshot = path("state", ".json")

  /// A name that nobody else could have chosen to lead elsewhere: what is not made of letters,
  /// digits, hyphens, underscores and points alone is replaced by its digest.
  private static func path(_ name: String, _ ending: String) -> InboxPath {
    let stem =
      isPlain(name) ? name : NoteID(name)?.text ?? "x-" + SHA256.digest(of: name).short
    guard let path = InboxPath(stem + ending) else { preconditionFailure("a plain name") }
    return path
  }

  /// Whether a text may be part of a file's name as it is.
  static func isPlain(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
      && text.utf8.first != UInt8(ascii: "-")
      && text.utf8.allSatisfy { byte in
        DigitScanner.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
          || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains(byte)
      }
  }
}

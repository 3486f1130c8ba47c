internal import Hashing
internal import PipelineModel

/// A note or a device's command that the ledger does not have yet as it is.
struct OwedSubject {
  /// A note's own row changed as often as this may have as many rows of history and files, which are
  /// written out with it.
  private static let shortHistory: Int64 = 20

  private enum Kind {
    case note
    case command
  }

  private let kind: Kind
  private let name: String
  /// Whether the note is written out with all its rows.
  private var isWhole = false
  /// The rows of its history that changed, by their numbers.
  private var events: [Int64] = []
  /// The rows of its files that changed, by their numbers.
  private var files: [Int64] = []

  private init(_ kind: Kind, _ name: String) {
    self.kind = kind
    self.name = name
  }

  /// A note with all its rows.
  init(wholeNote key: String) {
    self.init(.note, key)
    isWhole = true
  }

  /// A command, by its pipeline and its id with a line feed between them.
  init(command name: String) { self.init(.command, name) }

  /// What rows of the table `ledger_owed` come to: one subject for each note and each command.
  static func all(in owed: [SQLRow]) -> [OwedSubject] {
    var notes: [String: OwedSubject] = [:]
    var commands: [OwedSubject] = []
    for row in owed {
      guard let name = row[1].text else { continue }
      switch row[0].text {
      case "note": notes[name, default: OwedSubject(.note, name)].isWhole = false
      case "event", "file":
        let parts = name.split(separator: "\n")
        guard parts.count == 2, let number = Int64(parts[1]) else { continue }
        let key = String(parts[0])
        var note = notes[key] ?? OwedSubject(.note, key)
        if row[0].text == "event" { note.events.append(number) } else { note.files.append(number) }
        notes[key] = note
      default: commands.append(OwedSubject(command: name))
      }
    }
    return notes.sorted { $0.key < $1.key }.map(\.value) + commands
  }

  /// Its line; nil for what cannot have one.
  func line(number: Int64, in database: inout Database) throws(StoreError) -> LedgerLine? {
    switch kind {
    case .note:
      let isPart = try isWhole ? false : isLong(in: &database)
      if isPart {
        let rows = try NoteRows.part(of: name, events: events, files: files, in: &database)
        return LedgerLine(.notePart, "\(name) \(rows)", number: number)
      }
      let rows = try NoteRows.note(name, in: &database)
      return LedgerLine(.note, "\(name) \(rows)", number: number)
    case .command:
      let parts = name.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return nil }
      let row = try NoteRows.command(
        pipeline: "\(parts[0])", id: "\(parts[1])", in: &database)
      return LedgerLine(.command, "\(SHA256.digest(of: name).short) \(row)", number: number)
    }
  }

  /// Whether the note has so long a history that only what changed is written. One that was forgotten
  /// has none.
  private func isLong(in database: inout Database) throws(StoreError) -> Bool {
    let revision = try database.run(
      "SELECT revision FROM notes WHERE key = ?", [.text(name)], to: NoteTable.reading
    ).first?[0].integer
    return (revision ?? 0) > Self.shortHistory
  }
}

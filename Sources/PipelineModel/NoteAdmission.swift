/// What becomes of a recording that claims the identity of another one with other bytes.
public enum ConflictPolicy: String, Hashable, Sendable, Codable {
  /// It becomes a quarantined note of its own.
  case quarantine
  /// It becomes a note of its own that is processed like any other.
  case process
}

/// What an arrival turned out to be.
public enum NoteAdmission: Hashable, Sendable {
  /// A note that was not there before.
  case new(Note)
  /// The very file was taken in before, perhaps by another process.
  case known(Note)
  /// A recording that is there already, under this or another name.
  case duplicate(of: Note)
  /// A note that claims the identity of another one with other bytes: a new one, or one that was
  /// there already and has come again under that identity.
  case conflict(Note, with: NoteKey)

  /// The note that the file belongs to now.
  public var note: Note {
    switch self {
    case .new(let note), .known(let note), .duplicate(let note), .conflict(let note, _): note
    }
  }
}

/// What a note that was decoded to its end turned out to be.
public enum NoteAcceptance: Hashable, Sendable {
  /// It is accepted: go on with it.
  case accepted(Note)
  /// Its sound is that of another note. It is acknowledged with that one, and not to be processed
  /// any further.
  case duplicate(Note, of: NoteKey)
  /// It claims another note's identity with other bytes and another sound, and is quarantined.
  case conflict(Note, with: NoteKey)
  /// It is not being processed.
  case refused(NoteRefusal)
}

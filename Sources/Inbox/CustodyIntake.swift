public import PipelineModel

/// What came of taking in a file that settled.
public enum CustodyIntake: Hashable, Sendable {
  /// A new note: received, and to be processed.
  case received(Note)
  /// A new note that waits in quarantine for somebody to decide: it could not be accepted.
  case quarantined(Note)
  /// A recording that is there already. It is acknowledged again and its file released like the
  /// first one's.
  case duplicate(of: Note)
  /// A note that claims the identity of another one with other bytes: a new one, or one that was
  /// there already and has come again under that identity.
  case conflict(Note, with: NoteKey)
  /// This very file was taken in before.
  case known(Note)
  /// The file has changed since it settled, or is gone: it wants another look.
  case changed

  init(_ admission: NoteAdmission) {
    self =
      switch admission {
      case .new(let note): note.state == .quarantined ? .quarantined(note) : .received(note)
      case .known(let note): .known(note)
      case .duplicate(let note): .duplicate(of: note)
      case .conflict(let note, let other): .conflict(note, with: other)
      }
  }
}

/// What came of a transcript that arrived by itself.
public enum CustodyTranscript: Hashable, Sendable {
  /// It belongs to this note, which has not been processed yet.
  case attached(Note)
  /// Its recording is not there yet, or was there too long ago: whoever settles later brings it.
  case waiting
  /// Its recording was processed without it, or is just now.
  case late(Note)
  /// It has changed since it settled, or is gone.
  case changed
}

/// What came of a sidecar that arrived by itself.
public enum CustodySidecar: Hashable, Sendable {
  /// It belongs to this note, which knows more now.
  case attached(Note)
  /// It is the one that this note has already.
  case known(Note)
  /// The recording is not there yet, or was there too long ago: whoever settles later brings it.
  case waiting
  /// The note has its sidecar already.
  case refused(NoteRefusal)
  /// It is no sidecar but somebody's transcript, and is left where it is.
  case transcript
  /// It has changed since it settled, or is gone.
  case changed
}

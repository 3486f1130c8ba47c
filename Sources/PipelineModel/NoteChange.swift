public import Hashing

/// Something that may be done to a note. What it comes to is decided by ``Note/applying(_:at:)``
/// alone, without a clock and without a store.
public enum NoteChange: Hashable, Sendable {
  /// Somebody begins to process it.
  case begin
  /// It has been decoded to its end, with this identity of its sound where that is known.
  case accept(sound: Digest?)
  /// Its results set off.
  case upload
  /// All that was required is done.
  case finish(reason: String?)
  /// It could not be processed. It is tried again at `nextAttempt`, in seconds since 1970, or, where
  /// that is nil, when somebody asks. A failure that is not the note's does not count as an attempt.
  case fail(reason: String, nextAttempt: Double?, isCounted: Bool)
  /// It cannot be accepted.
  case quarantine(reason: String)
  /// Whoever processed it has stopped before its end; it was no attempt.
  case putBack(reason: String)
  /// It sounds like another note, and waits until that one is done.
  case waitFor(NoteKey)
  /// It does not wait for another note any longer.
  case stopWaiting
  /// Somebody wants it tried again.
  case retry(reason: String?)
  /// Somebody lets it in though it was quarantined.
  case release(reason: String?)
  /// Somebody wants it left alone.
  case cancel(reason: String?)
  /// It gets another title.
  case rename(String)
  /// It gets these tags in place of those that it has.
  case tag([String])
  /// It gets its sidecar late, with what that says.
  case attach(LateSidecar)
  /// A transcript of it comes late.
  case attachTranscript(facts: String?)
  /// Its device's identity goes over to another recording, which came in its place because this one
  /// could never be accepted.
  case yieldIdentity(to: NoteKey)
  /// Its recording arrived once more, and this time claims the identity of another note.
  case claim(NoteKey, name: String)
  /// Another recording claims its identity.
  case conflictAppeared(NoteKey)
  /// What claims its device's identity with other bytes proved to be the same sound.
  case dropClaim
  /// It arrived once more.
  case repeatArrival(name: String)
}

/// Why a note cannot be changed in some way.
public struct NoteRefusal: Error, Hashable, Sendable {
  /// In words that may follow "because": `it is uploaded`.
  public let reason: String
  /// What the user can do, in words.
  public let advice: String?
  /// What the user can type; nil where there are only words, or nothing.
  public let command: String?

  /// Describes a refusal.
  public init(reason: String, advice: String? = nil, command: String? = nil) {
    self.reason = reason
    self.advice = advice
    self.command = command
  }
}

/// What came of a change that somebody asked for.
public enum NoteOutcome: Hashable, Sendable {
  /// It was made, and is durable; the note is now this.
  case changed(Note)
  /// It cannot be made, and nothing changed.
  case refused(NoteRefusal)

  /// The changed note; nil where it was refused.
  public var note: Note? {
    if case .changed(let note) = self { note } else { nil }
  }
}

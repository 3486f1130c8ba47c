package import Platform

/// A change of a recording; ``Recording/applying(_:at:)`` decides its result, without a clock or a
/// store.
package enum RecordingChange: Hashable, Sendable {
  /// Processing begins.
  case begin
  /// It was decoded completely; the sound's digest, if known.
  case accept(sound: Digest?)
  /// Delivery of its results begins.
  case upload
  /// Everything required is done.
  case finish(reason: String?)
  /// Processing failed. It is retried at `nextAttempt`, in seconds since 1970, or on request if
  /// nil. A failure with an external cause is not counted as an attempt.
  case fail(reason: String, nextAttempt: Double?, isCounted: Bool)
  /// It cannot be accepted.
  case quarantine(reason: String)
  /// It claims another recording's identity with other bytes and another sound.
  case quarantineClaim(of: RecordingKey)
  /// Processing was interrupted; not counted as an attempt.
  case putBack(reason: String)
  /// It has the sound of another recording and waits for that one.
  case waitFor(RecordingKey)
  /// It no longer waits for another recording.
  case stopWaiting
  /// A user or a device requests another attempt.
  case retry(reason: String?)
  /// A user accepts a quarantined recording.
  case release(reason: String?)
  case cancel(reason: String?)
  case rename(String)
  /// Replaces its tags.
  case tag([String])
  /// Its sidecar arrived late.
  case attach(LateSidecar)
  /// Its transcript arrived late.
  case attachTranscript(facts: String?)
  /// Its file says what the recording of the same sound does not.
  case differ(facts: String?)
  /// A copy of it completes what had arrived cut off.
  case complete(facts: String?)
  /// Its device identity goes to its replacement, because this one can never be accepted.
  case yieldIdentity(to: RecordingKey)
  /// It arrived again, claiming another recording's identity.
  case claim(RecordingKey, name: String)
  /// Another recording claims its identity.
  case conflictAppeared(RecordingKey)
  /// Its claim is dropped: both have the same sound.
  case dropClaim
  /// It arrived again.
  case repeatArrival(name: String)
}

/// Why a change is not allowed.
package struct RecordingRefusal: Error, Hashable, Sendable {
  /// In words that may follow "because": `it is uploaded`.
  package let reason: String
  /// What the user can do, in words.
  package var advice: String?
  /// A command for the user; nil if there is none.
  package var command: String?

  package init(reason: String, advice: String? = nil, command: String? = nil) {
    self.reason = reason
    self.advice = advice
    self.command = command
  }
}

/// The result of a requested change.
package enum RecordingOutcome: Hashable, Sendable {
  /// The changed recording; durable.
  case changed(Recording)
  /// Not allowed; nothing changed.
  case refused(RecordingRefusal)

  package var recording: Recording? {
    if case .changed(let recording) = self { recording } else { nil }
  }
}

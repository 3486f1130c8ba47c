extension Note {
  /// The note as it is after a change: the whole of the rules by which notes go their way.
  /// - Parameter time: in seconds since 1970.
  /// - Throws: where the note's state does not allow the change.
  public func applying(_ change: NoteChange, at time: Double) throws(NoteRefusal) -> Note {
    var note = self
    try note.apply(change, at: time)
    note.changedAt = time
    note.revision += 1
    return note
  }

  private mutating func apply(_ change: NoteChange, at time: Double) throws(NoteRefusal) {
    switch change {
    case .begin:
      guard !waitsForOriginal else {
        throw NoteRefusal(reason: "it waits for \(original?.name ?? "another note")")
      }
      try move(to: .processing, nil, at: time)
      attempts += 1
    case .accept(let sound):
      guard state == .processing else { throw refusal }
      acceptedAt = acceptedAt ?? time
      self.sound = sound ?? self.sound
    case .upload:
      guard acceptedAt != nil else { throw unaccepted }
      try move(to: .uploading, nil, at: time)
    case .finish(let reason):
      guard acceptedAt != nil else { throw unaccepted }
      try move(to: .uploaded, reason ?? ownClaim, at: time)
      uploadedAt = time
    case .fail(let reason, let nextAttempt, let isCounted):
      // Only what is under way can fail: a note that waits has been asked for anew.
      guard state == .processing || state == .uploading else { throw refusal }
      try move(to: .failed, reason, at: time)
      self.nextAttempt = nextAttempt
      if !isCounted { attempts = max(0, attempts - 1) }
    case .quarantine(let reason): try move(to: .quarantined, reason, at: time)
    case .putBack(let reason):
      guard state == .processing || state == .uploading else { throw refusal }
      try move(to: .received, reason, at: time)
      attempts = max(0, attempts - 1)
    case .waitFor(let other):
      try move(to: .received, "its sound is that of \(other), which is not done yet", at: time)
      attempts = max(0, attempts - 1)
      original = other
    case .stopWaiting:
      guard waitsForOriginal else { throw refusal }
      original = nil
      reason = nil
    case .retry(let reason): try retry(reason, at: time)
    case .release(let reason):
      // What is done needs nothing more than that somebody has decided.
      if state == .uploaded, isClaimOpen {
        self.reason = reason
        return
      }
      guard state == .quarantined else { throw refusal }
      guard !isEmpty else { throw emptiness }
      try move(to: .received, reason, at: time)
      attempts = 0
    case .cancel(let reason):
      guard state == .received || state == .processing || nextAttempt != nil else { throw refusal }
      if state == .failed {
        (self.reason, nextAttempt) = (reason ?? "cancelled", nil)
      } else {
        try move(to: .failed, reason ?? "cancelled", at: time)
      }
      original = nil
      isCancelled = true
    case .rename(let title): self.title = title
    case .tag(let tags): self.tags = tags
    case .attach(let late): try attach(late)
    case .attachTranscript(let facts):
      // What is under way has begun without it, and what is done stays done.
      guard state == .received || state == .failed || state == .quarantined else { throw refusal }
      self.facts = facts ?? self.facts
    case .yieldIdentity:
      guard yieldsIdentity else { throw refusal }
      (deviceID, deviceName) = (nil, nil)
      acknowledgementName = key.name
    case .dropClaim:
      guard conflict != nil else { throw refusal }
      if isClaimOpen { reason = nil }
      if !ownsIdentity { (deviceID, deviceName) = (nil, nil) }
      conflict = nil
    case .claim(let other, _): claim(other)
    case .repeatArrival, .conflictAppeared: break
    }
  }

  private mutating func attach(_ late: LateSidecar) throws(NoteRefusal) {
    guard sidecar == nil || late.isReplacing else {
      throw NoteRefusal(reason: "it has its sidecar already")
    }
    sidecar = late.artifact
    if deviceID == nil, let id = late.deviceID {
      (deviceID, deviceName) = (id, late.deviceName)
      if let other = late.conflict { claim(other) }
      // From now on its device finds it by the name that it gave it.
      if conflict == nil { acknowledgementName = late.deviceName ?? id }
    }
    facts = late.facts ?? facts
    title = late.title ?? title
    if tags.isEmpty { tags = late.tags }
  }

  /// What is done stays done, and says from now on that somebody has to decide.
  private mutating func claim(_ other: NoteKey) {
    conflict = conflict ?? other
    if state == .uploaded, conflict == other { reason = Self.words(claiming: other) }
  }

  /// The open claim of a note that is processed nevertheless, for it has an identity of its own.
  private var ownClaim: String? {
    ownsIdentity ? conflict.map(Self.words(claiming:)) : nil
  }

  private mutating func retry(_ reason: String?, at time: Double) throws(NoteRefusal) {
    if state == .quarantined, let conflict {
      throw NoteRefusal(
        reason: Self.words(claiming: conflict),
        command: "spool inbox release \(key)")
    }
    guard state == .failed || state == .quarantined else { throw refusal }
    guard !isEmpty else { throw emptiness }
    try move(to: .received, reason, at: time)
    attempts = 0
  }

  private mutating func move(
    to next: NoteState, _ reason: String?, at time: Double
  ) throws(NoteRefusal) {
    guard state.allows(next) else { throw refusal }
    state = next
    stateSince = time
    self.reason = reason
    nextAttempt = nil
    isCancelled = false
  }

  private var refusal: NoteRefusal { NoteRefusal(reason: "it \(words)") }

  private var emptiness: NoteRefusal {
    NoteRefusal(
      reason: "it is empty, and the recording has to be sent again",
      command: "spool inbox forget \(key)")
  }

  private var unaccepted: NoteRefusal {
    NoteRefusal(reason: "it has not been decoded to its end yet")
  }
}

extension NoteChange {
  /// What the note's history says of a change, besides the state that it leads to; nil where the
  /// new state's own reason says it.
  public var historyText: String? {
    switch self {
    case .begin, .upload, .finish, .fail, .quarantine, .putBack, .waitFor, .retry, .release,
      .cancel:
      nil
    case .accept: "decoded to its end"
    case .stopWaiting: "no longer waits for another note"
    case .rename: "renamed"
    case .tag: "tagged"
    case .attach: "its sidecar came"
    case .attachTranscript: "its transcript came"
    case .yieldIdentity(let other): "\(other) came in its place"
    case .conflictAppeared(let other): "\(other) claims to be it, with other bytes"
    case .claim(let other, let name):
      "arrived again as \(name), claiming to be \(other) with other bytes"
    case .dropClaim: "it sounds like the note that it claims to be"
    case .repeatArrival(let name): "arrived again as \(name)"
    }
  }
}

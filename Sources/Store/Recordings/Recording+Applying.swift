import Platform

extension Recording {
  /// The recording after a change: all rules of its state machine.
  /// - Parameter time: in seconds since 1970.
  /// - Throws: if the state does not allow the change.
  package func applying(_ change: RecordingChange, at time: Double) throws(RecordingRefusal)
    -> Recording
  {
    var recording = self
    try recording.apply(change, at: time)
    recording.changedAt = time
    recording.revision += 1
    return recording
  }

  private mutating func apply(_ change: RecordingChange, at time: Double) throws(RecordingRefusal) {
    switch change {
    case .begin:
      guard !waitsForOriginal else {
        throw RecordingRefusal(reason: "it waits for \(original?.name ?? "another recording")")
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
      let claimed = reason == nil && ownsIdentity ? conflict : nil
      try move(to: .uploaded, reason ?? claimed.map(Self.words(claiming:)), at: time)
      isClaimOpen = claimed != nil
      uploadedAt = time
    case .fail(let reason, let nextAttempt, let isCounted):
      // A waiting recording was requested again, and cannot fail.
      guard state == .processing || state == .uploading else { throw refusal }
      try move(to: .failed, reason, at: time)
      self.nextAttempt = nextAttempt
      if !isCounted { attempts = max(0, attempts - 1) }
    case .quarantine(let reason): try move(to: .quarantined, reason, at: time)
    case .quarantineClaim(let other):
      try move(to: .quarantined, Self.words(claiming: other), at: time)
      isClaimOpen = conflict == other
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
      // An uploaded recording needs only the decision.
      if state == .uploaded, isClaimOpen {
        (self.reason, isClaimOpen) = (reason, false)
        return
      }
      guard state == .quarantined else { throw refusal }
      guard !isEmpty else { throw emptiness }
      try move(to: .received, reason, at: time)
      attempts = 0
    case .cancel(let reason):
      guard [.received, .processing, .uploading].contains(state) || nextAttempt != nil else {
        throw refusal
      }
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
      // A running recording has begun without it; an uploaded one stays done.
      guard state == .received || state == .failed || state == .quarantined else { throw refusal }
      self.facts = facts ?? self.facts
    case .differ(let facts), .complete(let facts): self.facts = facts ?? self.facts
    case .yieldIdentity:
      guard yieldsIdentity else { throw refusal }
      (deviceID, deviceName) = (nil, nil)
      acknowledgementName = key.name
    case .dropClaim:
      guard conflict != nil else { throw refusal }
      if isClaimOpen { (reason, isClaimOpen) = (nil, false) }
      if !ownsIdentity { (deviceID, deviceName) = (nil, nil) }
      conflict = nil
    case .claim(let other, _): claim(other)
    case .repeatArrival, .conflictAppeared: break
    }
  }

  private mutating func attach(_ late: LateSidecar) throws(RecordingRefusal) {
    guard sidecar == nil || late.isReplacing else {
      throw RecordingRefusal(reason: "it has its sidecar already")
    }
    sidecar = late.artifact
    if deviceID == nil, let id = late.deviceID {
      (deviceID, deviceName) = (id, late.deviceName)
      if let other = late.conflict { claim(other) }
      // From now on its device finds it by its own name.
      if conflict == nil { acknowledgementName = late.deviceName ?? id }
    }
    facts = late.facts ?? facts
    title = late.title ?? title
    if tags.isEmpty { tags = late.tags }
  }

  /// An uploaded recording stays so, with an open claim.
  private mutating func claim(_ other: RecordingKey) {
    conflict = conflict ?? other
    if state == .uploaded, conflict == other {
      (reason, isClaimOpen) = (Self.words(claiming: other), true)
    }
  }

  private mutating func retry(_ reason: String?, at time: Double) throws(RecordingRefusal) {
    if state == .quarantined, let conflict {
      throw RecordingRefusal(
        reason: Self.words(claiming: conflict),
        command: "\(command: .inboxRelease) \(key)")
    }
    guard state == .failed || state == .quarantined else { throw refusal }
    guard !isEmpty else { throw emptiness }
    try move(to: .received, reason, at: time)
    attempts = 0
  }

  private mutating func move(
    to next: RecordingState, _ reason: String?, at time: Double
  ) throws(RecordingRefusal) {
    guard state.allows(next) else { throw refusal }
    state = next
    stateSince = time
    self.reason = reason
    nextAttempt = nil
    (isCancelled, isClaimOpen) = (false, false)
  }

  private var refusal: RecordingRefusal { RecordingRefusal(reason: "it \(words)") }

  private var emptiness: RecordingRefusal {
    RecordingRefusal(
      reason: "it is empty, and the recording has to be sent again",
      command: "\(command: .inboxForget) \(key)")
  }

  private var unaccepted: RecordingRefusal {
    RecordingRefusal(reason: "it has not been decoded to its end yet")
  }
}

extension RecordingChange {
  /// The history text of a change; nil if the new state's reason says it.
  package var historyText: String? {
    switch self {
    case .begin, .upload, .finish, .fail, .quarantine, .quarantineClaim, .putBack, .waitFor,
      .retry, .release, .cancel:
      nil
    case .accept: "decoded"
    case .stopWaiting: "no longer waits for another recording"
    case .rename: "renamed"
    case .tag: "tagged"
    case .attach: "its sidecar came"
    case .attachTranscript: "its transcript came"
    case .differ: "its file has other tags, which are not used"
    case .complete: "a copy completes what had arrived cut off"
    case .yieldIdentity(let other): "\(other) came in its place"
    case .conflictAppeared(let other): "\(other) claims to be it, with other bytes"
    case .claim(let other, let name):
      "arrived again as \(name), claiming to be \(other) with other bytes"
    case .dropClaim: "it sounds like the recording that it claims to be"
    case .repeatArrival(let name): "arrived again as \(name)"
    }
  }
}

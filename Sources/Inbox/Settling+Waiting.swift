/// What files wait for, for whoever asks why they are not taken in.
extension Settling {
  /// What a file waits for, where it has waited for a while and that is not what was told before.
  mutating func news(of path: InboxPath, _ entry: SettlingEntry, at now: Duration) -> Step? {
    // Most files settle before anybody can ask.
    guard now - entry.firstSeen > rules.restPeriod + .seconds(1),
      let text = waiting(of: path, entry, at: now), text != entry.toldWaiting
    else { return nil }
    entries[path]?.toldWaiting = text
    return .waiting(path, text)
  }

  private func waiting(of path: InboxPath, _ entry: SettlingEntry, at now: Duration) -> String? {
    switch entry.role {
    case .marker, .command: return nil
    case .sidecar, .transcript, .recording: break
    }
    guard entry.isAtRest(rules, at: now) else { return "it is still changing" }
    switch entry.examination {
    case nil: return nil
    case .beingWritten: return "somebody has it open for writing"
    case .examined(.incomplete(let what), _, _): return "it is not whole yet: \(what)"
    case .examined(.unended(let what), _, _): return "it may not be whole yet: \(what)"
    case .examined(.unreadable(let what), _, _): return "it does not read: \(what)"
    case .examined(.empty, _, _): return "it is empty"
    case .examined(.undecided(let what), _, _): return "it cannot be examined: \(what)"
    case .examined(.foreign, _, _): return nil
    case .examined(.whole, _, _): break
    }
    if entry.role != .recording { return nil }
    if !isMarked(path) { return "the file that says that it is complete is missing" }
    let sidecar = sidecar(of: path)
    if waitForSidecar(sidecar, of: path, entry, at: now) != .settle {
      if sidecar == nil { return "its sidecar is missing" }
      return sidecarProblem(of: path).map { "its sidecar does not read: \($0)" }
        ?? "its sidecar is still being written"
    }
    if isWaitingForTranscript(path) { return "its transcript is still being written" }
    guard let declared = sidecar.flatMap({ declaredLength($0) }), let length = entry.length else {
      return nil
    }
    return Self.shortness(of: length, declared)
  }
}

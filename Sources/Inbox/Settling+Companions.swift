internal import Sidecars

/// The files that lie beside a recording and say something about it.
extension Settling {
  /// What a recording does for the sake of its sidecar.
  enum SidecarWait: Hashable {
    /// It waits no longer.
    case settle
    case wait
    /// It waits, and ought not to have to any longer.
    case report(Unsettled)
  }

  /// Whether a whole recording waits for its sidecar to come, or to read.
  func waitForSidecar(
    _ sidecar: InboxPath?, of path: InboxPath, _ entry: SettlingEntry, at now: Duration
  ) -> SidecarWait {
    guard let sidecar, let found = entries[sidecar] else {
      switch rules.sidecar {
      case .taken, .ignored: return .settle
      case .awaited(let limit): return now - entry.firstSeen < limit ? .wait : .settle
      case .required(let limit):
        return now - entry.firstSeen < limit ? .wait : .report(.sidecarMissing)
      }
    }
    // It is still being written, or does not read yet.
    guard found.isAnnounced else { return .wait }
    if case .required = rules.sidecar, let problem = found.examination?.sidecarProblem {
      return .report(.sidecarUnreadable(problem))
    }
    return .settle
  }

  /// What is wrong with a recording's sidecar; nil where it reads, or has not been examined.
  func sidecarProblem(of path: InboxPath) -> String? {
    sidecar(of: path).flatMap { entries[$0]?.examination?.sidecarProblem }
  }

  /// The length that a sidecar gives its recording, in milliseconds; nil where it gives none.
  func declaredLength(_ sidecar: InboxPath) -> Int? {
    guard case .known(let milliseconds)? = entries[sidecar]?.length else { return nil }
    return milliseconds
  }

  /// What is to be said of sound that is clearly shorter than its sidecar says; nil for other sound.
  /// Devices measure from button to button, so that a twentieth, or two seconds, is nothing.
  static func shortness(of length: SettlingEntry.Length, _ declared: Int) -> String? {
    guard case .known(let held) = length, declared - held > max(2000, declared / 20) else {
      return nil
    }
    return "its sidecar says \(seconds(declared)) s, and it holds \(seconds(held)) s of sound"
  }

  /// Seconds with one decimal.
  private static func seconds(_ milliseconds: Int) -> String {
    "\(milliseconds / 1000).\(milliseconds % 1000 / 100)"
  }

  /// Whether a recording needs no marker, or has it.
  func isMarked(_ path: InboxPath) -> Bool { rules.doneMarker == nil || marker(of: path) != nil }

  /// The file that says that a recording is complete; nil where there is none.
  func marker(of path: InboxPath) -> InboxPath? {
    guard let suffix = rules.doneMarker, let name = path.name else { return nil }
    return [name.bytes, name.stem].lazy
      .compactMap { FileName(bytes: $0 + suffix.utf8).map(path.folder.appending) }
      .first(where: contains)
  }

  /// The sidecar of a recording that lies beside it; nil where there is none.
  func sidecar(of path: InboxPath) -> InboxPath? {
    guard rules.sidecar != .ignored, let name = path.name else { return nil }
    return SidecarName.candidates(for: name).map(path.folder.appending)
      .first { entries[$0].map { $0.words != .itself } ?? false }
  }

  /// What may be the transcript of a recording: what its sidecar names, and what lies beside it under
  /// its name.
  func transcripts(of path: InboxPath) -> [InboxPath] {
    guard rules.takesTranscripts, let name = path.name else { return [] }
    var names = TranscriptName.candidates(for: name) + SidecarName.candidates(for: name)
    if let sidecar = sidecar(of: path), case .file(let named)? = entries[sidecar]?.words {
      names = [named] + names.filter { $0 != named }
    }
    return names.map(path.folder.appending).filter(isTranscript)
  }

  private func isTranscript(_ path: InboxPath) -> Bool {
    entries[path].map { $0.role == .transcript || $0.words == .itself } ?? false
  }

  /// Whether something beside a recording that is its transcript, or may prove to be, does not rest
  /// yet.
  func isWaitingForTranscript(_ path: InboxPath) -> Bool {
    guard rules.takesTranscripts, let name = path.name else { return false }
    let others = rules.sidecar == .ignored ? [] : SidecarName.candidates(for: name)
    return (transcripts(of: path) + others.map(path.folder.appending))
      .contains { entries[$0].map { !$0.isAnnounced } ?? false }
  }
}

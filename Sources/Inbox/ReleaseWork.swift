internal import Hashing
internal import PipelineModel

/// Lets a note's file leave the inbox: recorded before it is done, done without ever taking the
/// place of anything, and recorded again. Cut off anywhere, it is put right by doing it once more.
struct ReleaseWork: ~Copyable {
  let folder: CustodyFolder
  let store: any CustodyStore
  let rules: CustodyRules
  let option: StoreOption

  /// What came of it.
  enum Outcome {
    /// It has left the inbox, or stays for good.
    case released(NoteFile.Place, at: InboxPath)
    /// It lies aside; to be tried again after so many seconds.
    case later(Double)
  }

  /// Releases a file.
  /// - Parameter asideFor: for how many seconds it has lain aside before our eyes; nil where it has
  ///   not.
  func release(_ held: HeldFile, asideFor: Double?) throws(CustodyError) -> Outcome {
    let file = held.file
    let goal = Self.goal(of: held, keep: rules.keep)
    guard let location = InboxPath(escaped: file.location) else {
      return try settle(file, .gone, at: .inbox)
    }
    if goal == .left { return try settle(file, .left, at: location) }
    if let target = file.target.flatMap({ InboxPath(escaped: $0) }) {
      // A move was begun before, and may have come to its end.
      if let there = try folder.stamp(of: target) {
        if isTaken(file, there) {
          return try complete(held, from: location, to: target, goal, asideFor)
        }
        if goal == .deleted, there.inode == file.stamp.inode {
          return try giveBack(file, target, to: location)
        }
      } else if goal == .deleted, try folder.stamp(of: location) == nil {
        return try settle(file, .deleted, at: location)
      }
    }
    guard let found = try folder.stamp(of: location), found.kind == .file,
      NoteFileStamp(found) == file.stamp
    else { return try settle(file, .gone, at: location) }
    let target = try move(file, from: location, goal)
    guard let there = try folder.stamp(of: target), isTaken(file, there) else {
      // Somebody exchanged it in between: what was moved is not ours to keep.
      return try giveBack(file, target, to: location)
    }
    return try complete(held, from: location, to: target, goal, asideFor)
  }

  /// Puts a file that proved to be another one back where it arrived, as a new arrival.
  private func giveBack(
    _ file: NoteFile, _ target: InboxPath, to location: InboxPath
  ) throws(CustodyError) -> Outcome {
    try putBack(target, to: location)
    return try settle(file, .gone, at: location)
  }

  /// Where a file belongs.
  static func goal(of held: HeldFile, keep: CustodyRules.Keeping) -> NoteFile.Place {
    switch (held.note.state, keep) {
    case (_, .leave): .left
    case (.quarantined, _): .quarantine
    case (_, .move): .accepted
    case (_, .delete): .deleted
    }
  }

  private func isTaken(_ file: NoteFile, _ stamp: FileStamp) -> Bool {
    stamp.kind == .file && NoteFileStamp(stamp).isSameFile(as: file.stamp)
  }

  /// Moves a file to where nothing is. - Returns: where that was.
  private func move(
    _ file: NoteFile, from location: InboxPath, _ goal: NoteFile.Place
  ) throws(CustodyError) -> InboxPath {
    for number in 1...10_000 {
      let target = target(of: file, at: location, goal, number: number)
      if try folder.stamp(of: target) != nil { continue }
      if goal == .quarantine, try folder.stamp(of: ReleaseName.reason(for: target)) != nil {
        continue
      }
      try folder.makeFolder(target.folder)
      try inStore { () throws(StoreError) in try store.plan(file, target: target.escaped) }
      if try folder.move(location, toNew: target) { return target }
    }
    throw CustodyError(
      "move", location.description, reason: "10,000 files of its name are there already")
  }

  private func putBack(_ target: InboxPath, to location: InboxPath) throws(CustodyError) {
    for number in 1...10_000 {
      let place = ReleaseName.path(of: location, in: .inbox, number: number)
      if try folder.move(target, toNew: place) { return }
    }
  }

  private func target(
    of file: NoteFile, at location: InboxPath, _ goal: NoteFile.Place, number: Int
  ) -> InboxPath {
    let arrived = InboxPath(escaped: file.path) ?? location
    switch goal {
    case .deleted: return ReleaseName.aside(location, file: file.id, number: number)
    case .quarantine:
      return ReleaseName.path(
        of: arrived, in: ReleaseName.quarantine, number: number, room: ReleaseName.reasonRoom)
    default: return ReleaseName.path(of: arrived, in: ReleaseName.accepted, number: number)
    }
  }

  private func complete(
    _ held: HeldFile, from location: InboxPath, to target: InboxPath, _ goal: NoteFile.Place,
    _ asideFor: Double?
  ) throws(CustodyError) -> Outcome {
    let file = held.file
    if let rest = try folder.stamp(of: location), rest.kind == .file, location != target,
      NoteFileStamp(rest).isSameFile(as: file.stamp)
    {
      // Where moving is done in two steps, the old name may have stayed.
      try folder.remove(location)
    }
    switch goal {
    case .deleted:
      switch try lastLook(at: target, of: held, asideFor) {
      case .wait(let pause): return .later(pause)
      case .other: return try giveBack(file, target, to: location)
      case .same: try folder.remove(target)
      }
    case .quarantine where file.role == .recording:
      try folder.write(
        ReleaseReason.text(for: held.note, option), to: ReleaseName.reason(for: target))
    default: break
    }
    if file.place == .quarantine, file.role == .recording {
      try folder.remove(ReleaseName.reason(for: location))
    }
    try folder.flushFolder(target.folder)
    if location.folder != target.folder { try folder.flushFolder(location.folder) }
    return try settle(file, goal, at: target)
  }

  private enum LastLook {
    case wait(Double)
    /// It is not what was taken in.
    case other
    /// The store has its bytes.
    case same
  }

  /// Looks whether a file that lies aside may be deleted: from then on, the store's bytes are the
  /// only ones.
  private func lastLook(
    at target: InboxPath, of held: HeldFile, _ asideFor: Double?
  ) throws(CustodyError) -> LastLook {
    let opened = try folder.open(target)
    let period: Double
    switch opened.writers() {
    case .some: return .wait(rules.asidePeriod)
    case .none: period = rules.asidePeriod
    case .unknown: period = rules.unseenAsidePeriod
    }
    let rest = period - (asideFor ?? 0)
    if rest > 0 { return .wait(rest) }
    let (digest, byteCount) = try opened.digest()
    let stamp = try inInbox { () throws(InboxError) in try opened.currentStamp() }
    guard isTaken(held.file, stamp), Int64(byteCount) == held.file.stamp.byteCount else {
      return .other
    }
    switch held.file.role {
    case .recording:
      guard digest == held.note.recording.digest else { return .other }
      _ = try inStore { () throws(StoreError) in try store.path(of: held.note.recording) }
    case .sidecar, .transcript:
      let artifact = Artifact(kind: .file, digest: digest, byteCount: byteCount)
      _ = try inStore { () throws(StoreError) in try store.path(of: artifact) }
    // It says all that it has to say by its name.
    case .marker: break
    }
    return .same
  }

  private func settle(
    _ file: NoteFile, _ place: NoteFile.Place, at path: InboxPath
  ) throws(CustodyError) -> Outcome {
    let stamp = place == .gone || place == .deleted ? nil : try folder.stamp(of: path)
    try inStore { () throws(StoreError) in
      try store.settle(
        file, place, at: path.escaped, stamp: stamp.map { NoteFileStamp($0) })
    }
    return .released(place, at: path)
  }
}

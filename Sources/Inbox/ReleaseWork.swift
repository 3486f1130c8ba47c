internal import PipelineModel

/// Lets a note's file leave the inbox: recorded before it is done, done without ever taking the
/// place of anything, and recorded again. Cut off anywhere, it is put right by doing it once more.
struct ReleaseWork: ~Copyable {
  let folder: CustodyFolder
  let store: any CustodyStore
  let keep: CustodyRules.Keeping

  /// Releases a file. - Returns: where it is now.
  func release(_ held: HeldFile) throws(CustodyError) -> NoteFile.Place {
    let file = held.file
    let goal = Self.goal(of: held, keep: keep)
    guard let location = InboxPath(escaped: file.location) else {
      return try settle(file, .gone, at: .inbox)
    }
    if goal == .left { return try settle(file, .left, at: location) }
    if let target = file.target.flatMap({ InboxPath(escaped: $0) }) {
      // A move was begun before, and may have come to its end.
      if let there = try folder.stamp(of: target), isTaken(file, there) {
        return try complete(held, from: location, to: target, goal)
      }
      if goal == .deleted, try folder.stamp(of: location) == nil {
        return try settle(file, .deleted, at: location)
      }
    }
    guard let found = try folder.stamp(of: location), found.kind == .file,
      NoteFileStamp(found) == file.stamp
    else { return try settle(file, .gone, at: location) }
    let target = try move(file, from: location, goal)
    guard let there = try folder.stamp(of: target), isTaken(file, there) else {
      // Somebody exchanged it in between: what was moved goes back, and is not ours to keep.
      try putBack(target, to: location)
      return try settle(file, .gone, at: location)
    }
    return try complete(held, from: location, to: target, goal)
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
    _ held: HeldFile, from location: InboxPath, to target: InboxPath, _ goal: NoteFile.Place
  ) throws(CustodyError) -> NoteFile.Place {
    let file = held.file
    if let rest = try folder.stamp(of: location), rest.kind == .file, location != target,
      NoteFileStamp(rest).isSameFile(as: file.stamp)
    {
      // Where moving is done in two steps, the old name may have stayed.
      try folder.remove(location)
    }
    switch goal {
    case .deleted:
      // From here on, the store's is the only one.
      _ = try inStore { () throws(StoreError) in try store.path(of: held.note.recording) }
      try folder.remove(target)
    case .quarantine where file.role == .recording:
      try folder.write(
        ReleaseReason.text(for: held.note), to: ReleaseName.reason(for: target))
    default: break
    }
    if file.place == .quarantine, file.role == .recording {
      try folder.remove(ReleaseName.reason(for: location))
    }
    try folder.flushFolder(target.folder)
    if location.folder != target.folder { try folder.flushFolder(location.folder) }
    return try settle(file, goal, at: target)
  }

  private func settle(
    _ file: NoteFile, _ place: NoteFile.Place, at path: InboxPath
  ) throws(CustodyError) -> NoteFile.Place {
    let stamp = place == .gone || place == .deleted ? nil : try folder.stamp(of: path)
    try inStore { () throws(StoreError) in
      try store.settle(
        file, place, at: path.escaped, stamp: stamp.map { NoteFileStamp($0) })
    }
    return place
  }
}

import PipelineModel
import Platform
import Store

/// The names of files that leave an inbox.
enum ReleaseName {
  static let accepted = InboxPath.inbox.appending(name("accepted"))
  static let quarantine = InboxPath.inbox.appending(name("quarantine"))

  /// The path of a file in one of these folders: its own or, from the second try on, with a number:
  /// `note (2).m4a`.
  /// - Parameter room: how many bytes of the name must stay free.
  static func path(
    of arrived: InboxPath, in folder: InboxPath, number: Int, room: Int = 0
  ) -> InboxPath {
    var path = folder
    let names = arrived.names
    for name in names.dropLast() { path = path.appending(name) }
    guard let last = names.last else { return path }
    return path.appending(numbered(last, number, room: room))
  }

  /// The name of what came with a recording, as that recording is called now: where `note.m4a` has become
  /// `note (2).m4a`, `note.json` is `note (2).json`. Nil if it is not named after the recording.
  static func companion(_ name: FileName, of old: FileName, now new: FileName) -> FileName? {
    let stems = [".", "_meta."].map { (old.stem + $0.utf8, new.stem + $0.utf8) }
    for (old, new) in [(old.bytes, new.bytes)] + stems where name.bytes.starts(with: old) {
      return FileName(bytes: new + name.bytes.dropFirst(old.count))
    }
    return nil
  }

  /// Whether a file with this number would seem to belong to another one: a recording to the sidecar or
  /// the transcript of another, or one of these to another recording.
  /// - Parameters:
  ///   - recording: the present name of the recording that the file came with; nil if it is one.
  ///   - companions: where what came with it lies, escaped.
  static func isMistakable(
    _ path: InboxPath, number: Int, of recording: FileName?, with companions: [String],
    in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Bool {
    guard number > 1 || recording == nil, let own = path.name else { return false }
    let others =
      recording.map { [numbered($0, number, room: 0)] }
      ?? SidecarName.candidates(for: own) + TranscriptName.candidates(for: own)
    for other in others.map(path.folder.appending) where !companions.contains(other.escaped) {
      if try folder.stamp(of: other) != nil { return true }
    }
    return false
  }

  /// The path of a file that lies aside for deletion, beside its old one, with its name in it unless that
  /// is too long.
  static func aside(_ path: InboxPath, file: Int64, number: Int) -> InboxPath {
    let mark = name(".spool-\(file)-\(number)\(asideMark)")
    let whole = mark.bytes + "-".utf8 + (path.name?.bytes ?? [])
    return path.folder.appending(whole.count <= 255 ? FileName(bytes: whole) ?? mark : mark)
  }

  /// The path that a file had before it was put aside; nil for one that does not lie aside.
  static func original(ofAside path: InboxPath) -> InboxPath? {
    guard let name = path.name, name.bytes.starts(with: ".spool-".utf8),
      let mark = name.bytes.firstRange(of: asideMark.utf8)
    else { return nil }
    let rest = name.bytes[mark.upperBound...].dropFirst()
    return path.folder.appending(FileName(bytes: Array(rest)) ?? Self.name("recording"))
  }

  private static let asideMark = ".released"

  /// The path of an applied command before its deletion; the next start sweeps what a dead process
  /// left there.
  static func command(_ number: Int) -> InboxPath {
    InboxPath.inbox.appending(name(".spool-command-\(number).tmp"))
  }

  /// The name of the file with the reason for a quarantine.
  static func reason(for path: InboxPath) -> InboxPath {
    guard let last = path.name else { return path }
    return path.folder.appending(
      FileName(bytes: cut(last.bytes, to: 255 - reasonRoom) + reasonSuffix.utf8) ?? last)
  }

  /// The bytes that a quarantined file's name leaves for its reason's.
  static let reasonRoom = 12
  private static let reasonSuffix = ".reason.json"

  private static func numbered(_ name: FileName, _ number: Int, room: Int) -> FileName {
    let mark = number < 2 ? [] : Array(" (\(number))".utf8)
    var stem = name.stem
    var ending = Array(name.bytes[stem.count...])
    if ending.count + mark.count + room >= 200 { (stem, ending) = (name.bytes, []) }
    return FileName(bytes: cut(stem, to: 255 - room - mark.count - ending.count) + mark + ending)
      ?? name
  }

  /// The first bytes, cut between characters.
  private static func cut(_ bytes: [UInt8], to count: Int) -> [UInt8] {
    guard bytes.count > count else { return bytes }
    var end = count
    while end > 1, bytes[end] & 0xc0 == 0x80 { end -= 1 }
    // Bytes that are not UTF-8 are cut anywhere.
    return Array(bytes[..<(end > 1 ? end : count)])
  }

  private static func name(_ text: String) -> FileName {
    guard let name = FileName(text) else { preconditionFailure("\(text) is a name") }
    return name
  }
}

/// Releases a recording's file from the inbox: recorded first, then done without replacing any
/// file, then recorded again. After a crash at any point, repeating it completes it.
extension InboxProcessor {
  enum ReleaseOutcome {
    /// It has left the inbox, or stays for good.
    case released(RecordingFile.Place, at: InboxPath)
    /// It lies aside; to be tried again after so many seconds.
    case later(Double)
  }

  /// - Parameter asideFor: for how many seconds it has verifiably lain aside; nil if it has not.
  func release(
    _ held: HeldFile, in folder: borrowing ProcessedFolder, asideFor: Double?
  ) throws(SpoolError) -> ReleaseOutcome {
    let file = held.file
    let goal = Self.goal(of: held, keep: rules.keep)
    guard let location = InboxPath(escaped: file.location) else {
      return try settle(file, .gone, at: .inbox)
    }
    if let target = file.target.flatMap({ InboxPath(escaped: $0) }) {
      // An earlier move may have come to its end.
      if let there = try folder.stamp(of: target) {
        if isTaken(file, there) {
          guard goal == .left else {
            // It was to be deleted or to stay in quarantine, and is to be kept elsewhere since.
            let isThere = goal == .deleted || target.names.first?.text == goal.rawValue
            let place = isThere ? target : try move(file, from: target, goal, in: folder)
            return try complete(held, from: location, to: place, goal, asideFor, in: folder)
          }
          // It is to stay since: it goes back, unless another file has its name now.
          if try folder.move(target, toNew: location), let back = try folder.stamp(of: location) {
            return try settle(file, isTaken(file, back) ? .left : .gone, at: location, stamp: back)
          }
        } else if there.inode == file.stamp.inode {
          // Its writer went on with it after the move.
          return try giveBack(file, target, to: location, in: folder)
        }
      } else if goal == .deleted, try folder.stamp(of: location) == nil {
        return try settle(file, .deleted, at: location)
      }
    }
    // Under the name of the version that was taken in may lie another one, which is a new arrival.
    guard let found = try folder.stamp(of: location), found.isRegularFile,
      RecordingFileStamp(found) == file.stamp
    else { return try settle(file, .gone, at: location) }
    if goal == .left { return try settle(file, .left, at: location, stamp: found) }
    let target = try move(file, from: location, goal, in: folder)
    guard let there = try folder.stamp(of: target), isTaken(file, there) else {
      // The file was replaced meanwhile: the moved one is not ours.
      return try giveBack(file, target, to: location, in: folder)
    }
    return try complete(held, from: location, to: target, goal, asideFor, in: folder)
  }

  /// Moves a file that proved to be another one back, as a new arrival.
  private func giveBack(
    _ file: RecordingFile, _ target: InboxPath, to location: InboxPath,
    in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> ReleaseOutcome {
    try putBack(target, to: location, in: folder)
    return try settle(file, .gone, at: location)
  }

  /// The place that the rules give a file.
  static func goal(of held: HeldFile, keep: InboxRules.Keeping) -> RecordingFile.Place {
    switch (held.recording.state, keep) {
    case (_, .leave): .left
    case (.quarantined, _): .quarantine
    case (_, .move): .accepted
    case (_, .delete): .deleted
    }
  }

  private func isTaken(_ file: RecordingFile, _ stamp: FileStamp) -> Bool {
    stamp.isRegularFile && RecordingFileStamp(stamp).isSameFile(as: file.stamp)
  }

  /// The stamp of the version that was taken in, if that is at a path.
  private func taken(
    _ file: RecordingFile, at path: InboxPath, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> FileStamp? {
    try folder.stamp(of: path).flatMap { isTaken(file, $0) ? $0 : nil }
  }

  /// Moves a file to a free path, which it returns.
  /// - Parameter first: the number from which on a name is sought.
  private func move(
    _ file: RecordingFile, from location: InboxPath, _ goal: RecordingFile.Place, first: Int = 1,
    in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> InboxPath {
    let arrived = InboxPath(escaped: file.path) ?? location
    let (name, recording) = try releasedName(of: file, goal) ?? (arrived, arrived.name)
    let companions =
      file.role != .recording
      ? []
      : try store.recordings.files(of: file.recording).filter { $0.role != .recording }
        .flatMap { [$0.target, $0.location] }.compactMap(\.self)
    for number in first...10_000 {
      let target =
        goal == .deleted
        ? ReleaseName.aside(location, file: file.id, number: number)
        : Self.target(of: name, goal, number: number)
      if number == 1, goal != .deleted, file.role != .recording {
        try makeWay(for: file, at: target, goal, in: folder)
      }
      if try folder.stamp(of: target) != nil { continue }
      if goal == .quarantine, try folder.stamp(of: ReleaseName.reason(for: target)) != nil {
        continue
      }
      if goal != .deleted,
        try ReleaseName.isMistakable(
          target, number: number, of: file.role == .recording ? nil : recording,
          with: companions, in: folder)
      {
        continue
      }
      try folder.makeFolder(target.folder)
      try store.recordings.plan(file, target: target.escaped)
      if try folder.move(location, toNew: target) { return target }
    }
    throw SpoolError(
      "move", location.description, reason: "10,000 files of its name are there already")
  }

  /// Has an earlier version of a sidecar or a transcript, which was released before, give its name to a
  /// newer one, and take a number. One that a person has changed since keeps it.
  private func makeWay(
    for file: RecordingFile, at path: InboxPath, _ goal: RecordingFile.Place,
    in folder: borrowing ProcessedFolder
  ) throws(SpoolError) {
    for earlier in try store.recordings.files(of: file.recording)
    where earlier.id < file.id && earlier.role != .recording && earlier.inbox == inbox
      && earlier.place == goal && earlier.location == path.escaped
    {
      let target: InboxPath
      if let planned = earlier.target.flatMap({ InboxPath(escaped: $0) }),
        try taken(earlier, at: planned, in: folder) != nil
      {
        // A process was killed that had moved it.
        target = planned
      } else if try taken(earlier, at: path, in: folder) != nil {
        target = try move(earlier, from: path, goal, first: 2, in: folder)
      } else {
        continue
      }
      try folder.flushFolder(target.folder)
      _ = try settle(
        earlier, goal, at: target, stamp: try taken(earlier, at: target, in: folder))
    }
  }

  /// Gives a file that lies aside its name back, or one with a number.
  func putBack(
    _ target: InboxPath, to location: InboxPath, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) {
    for number in 1...10_000 {
      let place = ReleaseName.path(of: location, in: .inbox, number: number)
      if try folder.move(target, toNew: place) { return }
    }
  }

  private static func target(
    of arrived: InboxPath, _ goal: RecordingFile.Place, number: Int
  ) -> InboxPath {
    goal == .quarantine
      ? ReleaseName.path(
        of: arrived, in: ReleaseName.quarantine, number: number, room: ReleaseName.reasonRoom)
      : ReleaseName.path(of: arrived, in: ReleaseName.accepted, number: number)
  }

  /// The path of a file that came with a recording, if it is named after it, as that recording is called
  /// where it lies now, and the name of that recording.
  private func releasedName(
    of file: RecordingFile, _ goal: RecordingFile.Place
  ) throws(SpoolError) -> (path: InboxPath, recording: FileName)? {
    guard file.role != .recording, let arrived = InboxPath(escaped: file.path),
      let own = arrived.name
    else { return nil }
    for leader in try store.recordings.files(of: file.recording).reversed()
    where leader.role == .recording && leader.place == goal {
      guard let path = InboxPath(escaped: leader.path), path.folder == arrived.folder,
        let old = path.name, let new = InboxPath(escaped: leader.location)?.name,
        let name = ReleaseName.companion(own, of: old, now: new)
      else { continue }
      return (arrived.folder.appending(name), new)
    }
    return nil
  }

  private func complete(
    _ held: HeldFile, from location: InboxPath, to target: InboxPath, _ goal: RecordingFile.Place,
    _ asideFor: Double?, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> ReleaseOutcome {
    let file = held.file
    if let rest = try folder.stamp(of: location), rest.isRegularFile, location != target,
      RecordingFileStamp(rest).isSameFile(as: file.stamp)
    {
      // After a move in two steps, the old name may be left.
      try folder.remove(location)
    }
    switch goal {
    case .deleted:
      if let pause = try pauseBeforeDeletion(at: target, asideFor, in: folder) {
        return .later(pause)
      }
      guard try isDeletable(held, at: target, in: folder) else {
        return try giveBack(file, target, to: location, in: folder)
      }
      try folder.remove(target)
    case .quarantine where file.role == .recording:
      try folder.write(
        AcknowledgementText.reason(for: held.recording, option), to: ReleaseName.reason(for: target)
      )
    default: break
    }
    if file.place == .quarantine, file.role == .recording {
      try folder.remove(ReleaseName.reason(for: location))
    }
    try folder.flushFolder(target.folder)
    if location.folder != target.folder { try folder.flushFolder(location.folder) }
    return try settle(file, goal, at: target, stamp: try taken(file, at: target, in: folder))
  }

  /// Seconds that a file must still lie aside before it is deleted; nil if it has lain long enough.
  private func pauseBeforeDeletion(
    at target: InboxPath, _ asideFor: Double?, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Double? {
    let period: Double
    switch try folder.open(target).hasWriters() {
    case true?: return rules.asidePeriod
    case false?: period = rules.asidePeriod
    case nil: period = rules.unseenAsidePeriod
    }
    let rest = period - (asideFor ?? 0)
    return rest > 0 ? rest : nil
  }

  /// Whether a file that lies aside is still the one that was taken in, and the store has its bytes:
  /// once it is deleted, the store has the only copy.
  private func isDeletable(
    _ held: HeldFile, at target: InboxPath, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Bool {
    let opened = try folder.open(target)
    let (digest, byteCount) = try opened.digest()
    let stamp = try opened.currentStamp()
    guard isTaken(held.file, stamp), Int64(byteCount) == held.file.stamp.byteCount else {
      return false
    }
    switch held.file.role {
    case .recording:
      guard digest == held.recording.content.digest else { return false }
      _ = try store.path(of: held.recording.content)
    case .sidecar, .transcript:
      _ = try store.path(of: Artifact(kind: .file, digest: digest, byteCount: byteCount))
    // A marker's name is all that it says.
    case .marker: break
    }
    return true
  }

  /// - Parameter stamp: of the version that proved to be the one taken in; nil if it is there no more.
  ///   A later look may find another one.
  private func settle(
    _ file: RecordingFile, _ place: RecordingFile.Place, at path: InboxPath, stamp: FileStamp? = nil
  ) throws(SpoolError) -> ReleaseOutcome {
    try store.recordings.settle(
      file, place, at: path.escaped,
      stamp: place == .gone ? nil : stamp.map { RecordingFileStamp($0) })
    return .released(place, at: path)
  }
}

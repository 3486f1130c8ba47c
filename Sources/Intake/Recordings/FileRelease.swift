internal import PipelineModel
internal import Platform
package import Store

/// A recording's file that has left the inbox, or stays in it for good.
package struct FileRelease: Hashable, Sendable {
  package let file: RecordingFile
  package let place: RecordingFile.Place
  package let path: InboxPath?

  /// Whether the recording is done; else it is quarantined.
  package let isDone: Bool

  init(_ held: HeldFile, _ place: RecordingFile.Place, at path: InboxPath) {
    file = held.file
    isDone = held.recording.state == .uploaded
    self.place = place
    self.path = place == .gone || place == .deleted ? nil : path
  }

  package var words: String {
    let target = path.map { " to \($0)" } ?? ""
    switch place {
    case .accepted: return "done, and moved\(target)"
    case .quarantine: return "not accepted, and moved\(target), with the reason beside it"
    case .left: return "\(isDone ? "done" : "not accepted"), and left where it is"
    case .deleted: return "done, and deleted from the inbox; the store keeps its original"
    case .gone:
      return "somebody has taken it away or changed it; the store has it as it arrived"
    case .inbox: return "still in the inbox"
    }
  }
}

/// The file with the reason for a quarantine, as canonical JSON.
enum ReleaseReason {
  /// - Parameter option: names the store in commands that a user types.
  static func text(for recording: Recording, _ option: StoreOption = .usual) -> String {
    AcknowledgementText.object([
      "type": .text("reason"), "id": .text(recording.key.name),
      "noteId": .optional(recording.shownID), "name": .text(recording.fileName),
      "digest": .text(recording.content.digest.hex), "reason": .optional(recording.reason),
      "conflictsWith": .optional(recording.conflict?.name),
      "quarantinedAt": .time(recording.stateSince),
      "next": .list(recording.nextCommands.map { .text(option.completing($0)) }),
    ])
  }

  /// For a file that was meant as a command.
  /// - Parameter time: in seconds since 1970.
  static func text(forCommand path: InboxPath, _ reason: String, at time: Double) -> String {
    AcknowledgementText.object([
      "type": .text("reason"), "name": .text(path.description), "reason": .text(reason),
      "quarantinedAt": .time(time),
    ])
  }
}

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

  /// The path of a file that lies aside for deletion, beside its old one.
  static func aside(_ path: InboxPath, file: Int64, number: Int) -> InboxPath {
    path.folder.appending(name(".spool-\(file)-\(number).released"))
  }

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
struct ReleaseWork: ~Copyable {
  let folder: ProcessedFolder
  let store: DiskStore
  let rules: InboxRules
  let option: StoreOption

  enum Outcome {
    /// It has left the inbox, or stays for good.
    case released(RecordingFile.Place, at: InboxPath)
    /// It lies aside; to be tried again after so many seconds.
    case later(Double)
  }

  /// - Parameter asideFor: for how many seconds it has verifiably lain aside; nil if it has not.
  func release(_ held: HeldFile, asideFor: Double?) throws(SpoolError) -> Outcome {
    let file = held.file
    let goal = Self.goal(of: held, keep: rules.keep)
    guard let location = InboxPath(escaped: file.location) else {
      return try settle(file, .gone, at: .inbox)
    }
    if goal == .left { return try settle(file, .left, at: location) }
    if let target = file.target.flatMap({ InboxPath(escaped: $0) }) {
      // An earlier move may have come to its end.
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
      RecordingFileStamp(found) == file.stamp
    else { return try settle(file, .gone, at: location) }
    let target = try move(file, from: location, goal)
    guard let there = try folder.stamp(of: target), isTaken(file, there) else {
      // The file was replaced meanwhile: the moved one is not ours.
      return try giveBack(file, target, to: location)
    }
    return try complete(held, from: location, to: target, goal, asideFor)
  }

  /// Moves a file that proved to be another one back, as a new arrival.
  private func giveBack(
    _ file: RecordingFile, _ target: InboxPath, to location: InboxPath
  ) throws(SpoolError) -> Outcome {
    try putBack(target, to: location)
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
    stamp.kind == .file && RecordingFileStamp(stamp).isSameFile(as: file.stamp)
  }

  /// Moves a file to a free path, which it returns.
  private func move(
    _ file: RecordingFile, from location: InboxPath, _ goal: RecordingFile.Place
  ) throws(SpoolError) -> InboxPath {
    for number in 1...10_000 {
      let target = target(of: file, at: location, goal, number: number)
      if try folder.stamp(of: target) != nil { continue }
      if goal == .quarantine, try folder.stamp(of: ReleaseName.reason(for: target)) != nil {
        continue
      }
      try folder.makeFolder(target.folder)
      try store.recordings.plan(file, target: target.escaped)
      if try folder.move(location, toNew: target) { return target }
    }
    throw SpoolError(
      "move", location.description, reason: "10,000 files of its name are there already")
  }

  private func putBack(_ target: InboxPath, to location: InboxPath) throws(SpoolError) {
    for number in 1...10_000 {
      let place = ReleaseName.path(of: location, in: .inbox, number: number)
      if try folder.move(target, toNew: place) { return }
    }
  }

  private func target(
    of file: RecordingFile, at location: InboxPath, _ goal: RecordingFile.Place, number: Int
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
    _ held: HeldFile, from location: InboxPath, to target: InboxPath, _ goal: RecordingFile.Place,
    _ asideFor: Double?
  ) throws(SpoolError) -> Outcome {
    let file = held.file
    if let rest = try folder.stamp(of: location), rest.kind == .file, location != target,
      RecordingFileStamp(rest).isSameFile(as: file.stamp)
    {
      // After a move in two steps, the old name may be left.
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
        ReleaseReason.text(for: held.recording, option), to: ReleaseName.reason(for: target))
    default: break
    }
    if file.place == .quarantine, file.role == .recording {
      try folder.remove(ReleaseName.reason(for: location))
    }
    try folder.flushFolder(target.folder)
    if location.folder != target.folder { try folder.flushFolder(location.folder) }
    return try settle(file, goal, at: target)
  }

  private enum LastCheck {
    case wait(Double)
    /// Not the file that was taken in.
    case other
    case same
  }

  /// Decides whether a file that lies aside may be deleted: then the store has the only copy.
  private func lastLook(
    at target: InboxPath, of held: HeldFile, _ asideFor: Double?
  ) throws(SpoolError) -> LastCheck {
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
    let stamp = try opened.currentStamp()
    guard isTaken(held.file, stamp), Int64(byteCount) == held.file.stamp.byteCount else {
      return .other
    }
    switch held.file.role {
    case .recording:
      guard digest == held.recording.content.digest else { return .other }
      _ = try store.path(of: held.recording.content)
    case .sidecar, .transcript:
      let artifact = Artifact(kind: .file, digest: digest, byteCount: byteCount)
      _ = try store.path(of: artifact)
    // A marker's name is all that it says.
    case .marker: break
    }
    return .same
  }

  private func settle(
    _ file: RecordingFile, _ place: RecordingFile.Place, at path: InboxPath
  ) throws(SpoolError) -> Outcome {
    let stamp = place == .gone || place == .deleted ? nil : try folder.stamp(of: path)
    try store.recordings.settle(
      file, place, at: path.escaped, stamp: stamp.map { RecordingFileStamp($0) })
    return .released(place, at: path)
  }
}

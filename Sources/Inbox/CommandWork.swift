internal import Sidecars
public import PipelineModel

/// What came of a device's command.
public enum CommandOutcome: Hashable, Sendable {
  /// It was read and decided. A `cancel` that was applied wants the note's run stopped.
  case decided(NoteCommandResult, NoteCommand.Request)
  /// It is no command, for this reason. The result, which goes into the outbox, is that, or what a
  /// command of its id came to before.
  case malformed(NoteCommandResult, reason: String)
  /// It has changed since it settled, or is gone.
  case changed
}

extension Custody {
  /// Takes a command that settled: applies it once, and moves its file away. The answer goes into
  /// the outbox with the next `settle`.
  public func takeCommand(
    at path: InboxPath, stamp: FileStamp
  ) throws(CustodyError) -> CommandOutcome {
    let folder = try ownFolder()
    guard let name = path.name else { return .changed }
    let reading: Result<NoteCommand, CommandReading.Problem>
    do throws(CustodyError) {
      let file = try folder.open(path)
      guard file.stamp == stamp else { return .changed }
      reading = try read(file, name)
    } catch {
      if error.kind == .missing || error.kind == .changed { return .changed }
      throw error
    }
    switch reading {
    case .success(let command):
      let result = try inStore { () throws(StoreError) in try store.apply(command) }
      try leave(path, stamp, result.id)
      try remove(path, stamp, to: ReleaseName.accepted, reason: nil, in: folder)
      return .decided(result, command.request)
    case .failure(let problem):
      let result = try inStore { () throws(StoreError) in
        try store.refuseCommand(
          id: CommandReading.id(of: name), pipeline: pipeline, reason: problem.reason)
      }
      try leave(path, stamp, result.id)
      try remove(path, stamp, to: ReleaseName.quarantine, reason: problem.reason, in: folder)
      return .malformed(result, reason: problem.reason)
    }
  }

  /// When a command that settled was issued, in seconds since 1970: as it says itself, or else when
  /// its file was written.
  public func timeOfCommand(at path: InboxPath, stamp: FileStamp) -> Double {
    // What is wrong with it is said when its turn comes.
    timeOfWholeCommand(at: path, stamp: stamp) ?? Double(stamp.modified) / 1e9
  }

  /// The same, where it reads as a command; nil where it does not, or has changed.
  func timeOfWholeCommand(at path: InboxPath, stamp: FileStamp) -> Double? {
    guard let name = path.name, let folder = try? inboxFolder(),
      let file = try? folder.open(path), file.stamp == stamp,
      case .success(let command)? = try? read(file, name)
    else { return nil }
    return command.issuedAt
  }

  private func read(
    _ file: borrowing ArrivedFile, _ name: FileName
  ) throws(CustodyError) -> Result<NoteCommand, CommandReading.Problem> {
    let bytes: [UInt8]
    do throws(InboxError) {
      bytes = try file.bytes(atMost: CommandReading.byteLimit)
    } catch {
      guard error.kind == .tooLarge else { throw CustodyError(error) }
      return .failure(CommandReading.Problem(reason: error.reason))
    }
    do throws(CommandReading.Problem) {
      return .success(
        try CommandReading.command(
          json: bytes, name: name, pipeline: pipeline,
          fallbackTime: Double(file.stamp.modified) / 1e9))
    } catch {
      return .failure(error)
    }
  }

  /// Where the rules leave a command that was dealt with in the inbox, records that, so that no later
  /// watch takes it for one that came again.
  private func leave(_ path: InboxPath, _ stamp: FileStamp, _ id: String) throws(CustodyError) {
    guard rules.keep == .leave else { return }
    try inStore { () throws(StoreError) in
      try store.leaveCommand(
        id: id, pipeline: pipeline, path: path.escaped, stamp: NoteFileStamp(stamp), inbox: inbox)
    }
  }

  /// Moves a command that was dealt with out of the inbox, as its rules want it. What it says is
  /// recorded by then: cut off here, it is read again and found to be known.
  private func remove(
    _ path: InboxPath, _ stamp: FileStamp, to goal: InboxPath, reason: String?,
    in folder: borrowing CustodyFolder
  ) throws(CustodyError) {
    if rules.keep == .leave { return }
    guard try folder.stamp(of: path) == stamp else { return }
    let isDeleted = rules.keep == .delete && reason == nil
    for number in 1...10_000 {
      let target =
        isDeleted
        ? ReleaseName.command(number)
        : ReleaseName.path(of: path, in: goal, number: number, room: ReleaseName.reasonRoom)
      if try folder.stamp(of: target) != nil { continue }
      try folder.makeFolder(target.folder)
      guard try folder.move(path, toNew: target) else { continue }
      if isDeleted { try folder.remove(target) }
      if let reason {
        try folder.write(
          ReleaseReason.text(forCommand: path, reason, at: store.noteTime),
          to: ReleaseName.reason(for: target))
      }
      try folder.flushFolder(target.folder)
      try folder.flushFolder(path.folder)
      return
    }
  }
}

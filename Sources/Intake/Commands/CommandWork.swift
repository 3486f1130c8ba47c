import PipelineModel
import Platform
import Store

/// The outcome of a device's command.
enum CommandOutcome: Hashable, Sendable {
  /// It was read and decided. An applied `cancel` requires that the recording's run stops.
  case decided(RecordingCommandResult, RecordingCommand.Request)
  /// It is no valid command, for this reason. The result for the outbox is that, or the earlier
  /// result of a command with its id.
  case malformed(RecordingCommandResult, reason: String)
  case changed
}

extension InboxProcessor {
  /// Applies a stable command once, and moves its file away. The next `settle` writes its answer to
  /// the outbox.
  func takeCommand(
    at path: InboxPath, stamp: FileStamp
  ) throws(SpoolError) -> CommandOutcome {
    let folder = try ownFolder()
    guard let name = path.name else { return .changed }
    let reading: Result<RecordingCommand, SpoolError>
    do throws(SpoolError) {
      let file = try folder.open(path)
      guard file.stamp == stamp else { return .changed }
      reading = try read(file, name)
    } catch {
      if error.kind == .missing || error.kind == .changed { return .changed }
      throw error
    }
    switch reading {
    case .success(let command):
      let result = try store.recordings.apply(command)
      try leave(path, stamp, result.id)
      try remove(path, stamp, to: ReleaseName.accepted, reason: nil, in: folder)
      return .decided(result, command.request)
    case .failure(let problem):
      let result = try store.recordings.refuseCommand(
        id: CommandReading.id(of: name), pipeline: pipeline, reason: problem.message)
      try leave(path, stamp, result.id)
      try remove(path, stamp, to: ReleaseName.quarantine, reason: problem.message, in: folder)
      return .malformed(result, reason: problem.message)
    }
  }

  /// When a stable command was issued, in seconds since 1970: as it states, or else when its file
  /// was written.
  func timeOfCommand(at path: InboxPath, stamp: FileStamp) -> Double {
    // Its problems are reported when it is applied.
    timeOfWholeCommand(at: path, stamp: stamp) ?? Double(stamp.modified) / 1e9
  }

  /// The same, if it is a valid command; nil if it is invalid or has changed.
  func timeOfWholeCommand(at path: InboxPath, stamp: FileStamp) -> Double? {
    guard let name = path.name, let folder = try? inboxFolder(),
      let file = try? folder.open(path), file.stamp == stamp,
      case .success(let command)? = try? read(file, name)
    else { return nil }
    return command.issuedAt
  }

  private func read(
    _ file: borrowing ArrivedFile, _ name: FileName
  ) throws(SpoolError) -> Result<RecordingCommand, SpoolError> {
    let bytes: [UInt8]
    do throws(SpoolError) {
      bytes = try file.bytes(atMost: CommandReading.byteLimit)
    } catch {
      guard error.kind == .tooLarge else { throw error }
      return .failure(SpoolError(error.why))
    }
    do throws(SpoolError) {
      return .success(
        try CommandReading.command(
          json: bytes, name: name, pipeline: pipeline,
          fallbackTime: Double(file.stamp.modified) / 1e9))
    } catch {
      return .failure(error)
    }
  }

  /// If the rules leave an applied command in the inbox, records that, so that no later watch takes
  /// it for a new one.
  private func leave(_ path: InboxPath, _ stamp: FileStamp, _ id: String) throws(SpoolError) {
    guard rules.keep == .leave else { return }
    try store.recordings.leaveCommand(
      id: id, pipeline: pipeline, path: path.escaped, stamp: RecordingFileStamp(stamp),
      inbox: inbox)
  }

  /// Moves an applied command out of the inbox, by the rules. Its result is recorded by then: after
  /// a crash it is read again and found to be known.
  private func remove(
    _ path: InboxPath, _ stamp: FileStamp, to goal: InboxPath, reason: String?,
    in folder: borrowing ProcessedFolder
  ) throws(SpoolError) {
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
          AcknowledgementText.reason(forCommand: path, reason, at: store.recordings.now),
          to: ReleaseName.reason(for: target))
      }
      try folder.flushFolder(target.folder)
      try folder.flushFolder(path.folder)
      return
    }
  }
}

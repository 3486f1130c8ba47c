internal import JSONText
internal import Sidecars
internal import Hashing
internal import PipelineModel

/// The file that lies beside what was quarantined.
enum ReleaseReason {
  /// What it says, as canonical JSON.
  /// - Parameter option: names the store in what a user is told to type.
  static func text(for note: Note, _ option: StoreOption = .usual) -> String {
    AcknowledgementText.object([
      "type": .text("reason"), "id": .text(note.key.name),
      "noteId": .optional(note.shownID), "name": .text(note.fileName),
      "digest": .text(note.recording.digest.hex), "reason": .optional(note.reason),
      "conflictsWith": .optional(note.conflict?.name),
      "quarantinedAt": .time(note.stateSince),
      "next": .list(note.nextCommands.map { .text(option.completing($0)) }),
    ])
  }

  /// The same for a file that was to be a command.
  /// - Parameter time: in seconds since 1970.
  static func text(forCommand path: InboxPath, _ reason: String, at time: Double) -> String {
    AcknowledgementText.object([
      "type": .text("reason"), "name": .text(path.description), "reason": .text(reason),
      "quarantinedAt": .time(time),
    ])
  }
}

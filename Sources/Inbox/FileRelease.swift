public import PipelineModel

/// A note's file that has left the inbox, or stays in it for good.
public struct FileRelease: Hashable, Sendable {
  /// The file, as it was before.
  public let file: NoteFile
  /// Where it is now.
  public let place: NoteFile.Place
  /// Its path beneath the inbox now; nil where it is nowhere any more.
  public let path: InboxPath?

  /// Whether all that its note required is done; else the note is quarantined.
  public let isDone: Bool

  init(_ held: HeldFile, _ place: NoteFile.Place, at path: InboxPath) {
    file = held.file
    isDone = held.note.state == .uploaded
    self.place = place
    self.path = place == .gone || place == .deleted ? nil : path
  }

  /// What was done with it, in words for people.
  public var words: String {
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

import PipelineModel

/// A note as `--json` shows it; times are in seconds since 1970.
struct NoteLine: Encodable {
  private struct Step: Encodable {
    let at: Double
    let state: String
    let reason: String?
  }

  private struct File: Encodable {
    let role: String
    let inbox: String
    let path: String
    let place: String
  }

  private let key: String
  private let noteId: String?
  private let file: String
  private let title: String?
  private let tags: [String]
  private let state: String
  private let since: Double
  private let reason: String?
  private let attempts: Int
  private let nextAttempt: Double?
  private let pipeline: String
  private let inbox: String
  private let receivedAt: Double
  private let acceptedAt: Double?
  private let uploadedAt: Double?
  private let recording: Artifact
  private let original: String?
  private let conflict: String?
  private let history: [Step]?
  private let files: [File]?
  private let next: [String]

  init(_ note: Note, events: [NoteEvent]? = nil, files: [NoteFile]? = nil) {
    key = note.key.name
    noteId = note.shownID
    file = note.fileName
    title = note.title
    tags = note.tags
    state = note.state.rawValue
    since = note.stateSince
    reason = note.reason
    attempts = note.attempts
    nextAttempt = note.nextAttempt
    pipeline = note.pipeline
    inbox = note.inbox
    receivedAt = note.receivedAt
    acceptedAt = note.acceptedAt
    uploadedAt = note.uploadedAt
    recording = note.recording
    original = note.original?.name
    conflict = note.conflict?.name
    history = events?.map { Step(at: $0.at, state: $0.state.rawValue, reason: $0.reason) }
    self.files = files?.map {
      File(role: $0.role.rawValue, inbox: $0.inbox, path: $0.path, place: $0.place.rawValue)
    }
    next = note.nextCommands
  }
}

import JSONText
import Sidecars
import Inbox
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
  /// Other noteIds under which the same bytes came; nil in a list.
  private let aliases: [String]?
  private let file: String
  private let title: String?
  private let tags: [String]
  private let state: String
  private let isCancelled: Bool
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
  /// In ISO 8601, as it was given.
  private let createdAt: String?
  private let durationMs: Int?
  private let recorder: String?
  private let devices: [String: String]?
  /// The fields of its sidecar that nobody here knows.
  private let unknown: [String: JSONValue]?
  private let sidecarProblems: [String]?
  private let doubt: String?
  private let run: String?
  private let exports: [String]?
  /// What the run's steps found out, by step.
  private let findings: [String: JSONValue]?
  private let history: [Step]?
  private let files: [File]?
  private let next: [String]

  /// - Parameter option: names the store in what a user is told to type.
  init(_ note: Note, _ page: NotePage? = nil, _ option: StoreOption) {
    let facts = KeptFacts(of: note)
    createdAt = facts.createdAt
    durationMs = facts.milliseconds
    recorder = facts.recorder
    doubt = facts.doubt
    devices = page == nil || facts.devices.isEmpty ? nil : facts.devices
    unknown = page == nil || facts.unknown.isEmpty ? nil : facts.unknown
    sidecarProblems = page == nil || facts.problems.isEmpty ? nil : facts.problems
    run = page?.run?.id.name
    exports = page?.run?.published.map(\.path)
    findings = page?.run?.findings
    key = note.key.name
    noteId = note.shownID
    aliases = page?.aliases
    isCancelled = note.isCancelled
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
    history = page?.events.map { Step(at: $0.at, state: $0.state.rawValue, reason: $0.reason) }
    files = page?.files.map {
      File(role: $0.role.rawValue, inbox: $0.inbox, path: $0.path, place: $0.place.rawValue)
    }
    next = note.nextCommands.map(option.completing)
  }
}

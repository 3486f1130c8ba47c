import Intake
import PipelineModel
import Platform
import Store

/// A recording as `--json` shows it; times in seconds since 1970.
struct RecordingLine: Encodable {
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
  /// Other noteIds of the same bytes; nil in a list.
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
  /// ISO 8601, as given.
  private let createdAt: String?
  private let durationMs: Int?
  private let recorder: String?
  private let devices: [String: String]?
  /// The unknown fields of its sidecar.
  private let unknown: [String: JSONValue]?
  private let sidecarProblems: [String]?
  private let doubt: String?
  private let run: String?
  private let exports: [String]?
  /// The findings of the run's steps, by step.
  private let findings: [String: JSONValue]?
  private let history: [Step]?
  private let files: [File]?
  private let next: [String]

  /// - Parameter option: the store option for suggested commands.
  init(_ recording: Recording, _ page: RecordingPage? = nil, _ option: StoreOption) {
    let facts = StoredFacts(of: recording)
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
    key = recording.key.name
    noteId = recording.shownID
    aliases = page?.aliases
    isCancelled = recording.isCancelled
    file = recording.fileName
    title = recording.title
    tags = recording.tags
    state = recording.state.rawValue
    since = recording.stateSince
    reason = recording.reason
    attempts = recording.attempts
    nextAttempt = recording.nextAttempt
    pipeline = recording.pipeline
    inbox = recording.inbox
    receivedAt = recording.receivedAt
    acceptedAt = recording.acceptedAt
    uploadedAt = recording.uploadedAt
    self.recording = recording.content
    original = recording.original?.name
    conflict = recording.conflict?.name
    history = page?.events.map { Step(at: $0.at, state: $0.state.rawValue, reason: $0.reason) }
    files = page?.files.map {
      File(role: $0.role.rawValue, inbox: $0.inbox, path: $0.path, place: $0.place.rawValue)
    }
    next = recording.nextCommands.map(option.completing)
  }
}

/// A recording's history, files, aliases and last run.
struct RecordingPage {
  let events: [RecordingEvent]
  let files: [RecordingFile]
  /// The names that other devices gave it.
  let aliases: [String]
  /// The last run that read it; nil if none did.
  let run: RunRecord?

  init(of recording: Recording, in store: DiskStore) throws(SpoolError) {
    events = try store.recordings.events(of: recording.key)
    files = try store.recordings.files(of: recording.key)
    aliases = Array(try store.recordings.acknowledgementNames(of: recording).dropFirst())
    run = try store.runs.lastRun(of: recording.content.digest, pipeline: recording.pipeline)
  }
}

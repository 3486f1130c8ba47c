public import Sidecars

/// What is known about a recording, and from where: its sidecar's word counts before its
/// container's, and that before its name's.
public struct RecordingFacts: Hashable, Sendable {
  /// Where something is known from.
  public enum Source: String, Hashable, Sendable, Codable {
    /// The JSON file beside the recording.
    case sidecar
    /// The recording's own container.
    case container
    /// The recording's name.
    case fileName
  }

  /// Something known, and where from.
  public struct Sourced<Value: Hashable & Sendable>: Hashable, Sendable {
    /// What is known.
    public let value: Value
    /// Where from.
    public let source: Source
  }

  /// The note's identity; nil where nobody gave it one.
  public let noteID: Sourced<NoteID>?
  /// When it was recorded.
  public let createdAt: Sourced<Timestamp>?
  /// How long it is, in milliseconds, as the source says.
  public let milliseconds: Sourced<Int>?
  /// What it is called.
  public let title: Sourced<String>?
  /// What recorded it.
  public let recorder: Sourced<String>?

  /// Chooses from what each source says.
  public init(sidecar: Sidecar?, container: ContainerFacts?, name: FileName) {
    let fileName = FileNameFacts(name)
    noteID = Self.first((sidecar?.noteID, .sidecar), (fileName.noteID, .fileName))
    createdAt = Self.first(
      (sidecar?.createdAt, .sidecar), (container?.createdAt, .container),
      (fileName.createdAt, .fileName))
    milliseconds = Self.first(
      (sidecar?.milliseconds, .sidecar), (container?.milliseconds, .container))
    title = Self.first(
      (sidecar?.title, .sidecar), (container?.title, .container), (fileName.title, .fileName))
    recorder = Self.first(
      (sidecar?.watchModel ?? sidecar?.phoneModel, .sidecar), (container?.recorder, .container))
  }

  private static func first<Value>(_ known: (Value?, Source)...) -> Sourced<Value>? {
    for case (let value?, let source) in known { return Sourced(value: value, source: source) }
    return nil
  }
}

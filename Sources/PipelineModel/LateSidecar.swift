/// A sidecar that came after its recording, and what it says; nil where it says nothing new.
public struct LateSidecar: Hashable, Sendable {
  /// Its bytes.
  public let artifact: Artifact
  /// The identity that it gives the note.
  public var deviceID: String?
  /// The same as it is written there.
  public var deviceName: String?
  /// The note that has this identity already; nil where none has.
  public var conflict: NoteKey?
  /// What is known of the note from now on, as canonical JSON.
  public var facts: String?
  /// What the note is called.
  public var title: String?
  /// The user's words for it.
  public var tags: [String]
  /// Whether it may take the place of one that the note has: of one that did not read.
  public var isReplacing: Bool

  /// Describes a sidecar that says nothing but this.
  public init(
    _ artifact: Artifact, deviceID: String? = nil, deviceName: String? = nil, facts: String? = nil,
    title: String? = nil, tags: [String] = [], isReplacing: Bool = false
  ) {
    self.artifact = artifact
    self.deviceID = deviceID
    self.deviceName = deviceName
    self.facts = facts
    self.title = title
    self.tags = tags
    self.isReplacing = isReplacing
  }
}

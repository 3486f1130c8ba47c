/// Where a recording comes from, where that is more than a path: it arrived in a watched inbox.
public struct RecordingOrigin: Hashable, Sendable {
  /// What it was called when it arrived, without folders.
  public let name: String
  /// The inbox, as an absolute path; nil where it came through none.
  public let inbox: String?
  /// When it was taken into custody, in seconds since 1970; nil where it was not.
  public let arrivedAt: Double?
  /// What its sidecar was called; nil where none came, or that is not known.
  public let sidecarName: String?
  /// Its sidecar as received; nil where none came.
  public let sidecar: Artifact?
  /// What the device that made it calls it; nil where it does not say.
  public let noteID: String?

  /// Describes an arrival.
  public init(
    name: String, inbox: String? = nil, arrivedAt: Double? = nil, sidecarName: String?,
    sidecar: Artifact?, noteID: String? = nil
  ) {
    self.name = name
    self.inbox = inbox
    self.arrivedAt = arrivedAt
    self.sidecarName = sidecarName
    self.sidecar = sidecar
    self.noteID = noteID
  }
}

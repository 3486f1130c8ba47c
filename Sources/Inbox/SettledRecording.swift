/// A recording that has arrived and is whole.
public struct SettledRecording: Hashable, Sendable {
  /// Where it lies.
  public let path: InboxPath
  /// The version of the file that settled. Whoever opens it compares: it may have changed since.
  public let stamp: FileStamp
  /// The sidecar that lay beside it; nil where none did.
  public let sidecar: InboxPath?
  /// How many names lead to it. With more than one, moving it away leaves it elsewhere, and
  /// somebody may write to it through another name.
  public let nameCount: Int
}

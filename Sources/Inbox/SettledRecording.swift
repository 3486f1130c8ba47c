/// A recording that has arrived and is whole.
public struct SettledRecording: Hashable, Sendable {
  /// Where it lies.
  public let path: InboxPath
  /// The version of the file that settled. Whoever opens it compares: it may have changed since.
  public let stamp: FileStamp
  /// The sidecar that lay beside it; nil where none did.
  public let sidecar: InboxPath?
  /// What may be its transcript among what lay beside it, the likeliest first.
  public let transcripts: [InboxPath]
  /// How many names lead to it. With more than one, moving it away leaves it elsewhere, and
  /// somebody may write to it through another name.
  public let nameCount: Int
  /// The file that said that the recording is complete; nil where none was asked for.
  public let marker: InboxPath?
  /// Why it may not be all that was recorded, although it was waited for; nil where nothing says so.
  public let doubt: String?

  init(
    path: InboxPath, stamp: FileStamp, sidecar: InboxPath?, nameCount: Int,
    transcripts: [InboxPath] = [], marker: InboxPath? = nil, doubt: String? = nil
  ) {
    self.path = path
    self.stamp = stamp
    self.sidecar = sidecar
    self.nameCount = nameCount
    self.transcripts = transcripts
    self.marker = marker
    self.doubt = doubt
  }
}

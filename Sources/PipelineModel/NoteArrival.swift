/// A recording whose bytes are in the store already, about to become a note.
public struct NoteArrival: Hashable, Sendable {
  /// The pipeline that it is for.
  public var pipeline: String
  /// The inbox, as an absolute path.
  public var inbox: String
  /// Where the file lies beneath the inbox, in the form of ``NoteFile/path``.
  public var path: String
  /// The version of the file that was taken in.
  public var stamp: NoteFileStamp
  /// The name of the file, in a form that can be shown.
  public var fileName: String
  /// The recording.
  public var recording: Artifact
  /// Its sidecar, with where that lies and its version; nil where none came.
  public var sidecar: Companion?
  /// What may be its transcript, the likeliest first.
  public var transcripts: [Companion] = []
  /// What said that it is complete, with its version; nil where nothing did.
  public var marker: Companion?
  /// The identity that its device gave it; nil where none did.
  public var deviceID: String?
  /// The same as the device wrote it; nil where that is not known.
  public var deviceName: String?
  /// What is known about it, as canonical JSON.
  public var facts: String?
  /// What it is called.
  public var title: String?
  /// The user's words for it.
  public var tags: [String] = []
  /// Why it cannot be accepted; nil where it can.
  public var refusal: String?

  /// A file that came with it.
  public struct Companion: Hashable, Sendable {
    /// Where it lies beneath the inbox, in the form of ``NoteFile/path``.
    public let path: String
    /// The version of the file that was taken in.
    public let stamp: NoteFileStamp
    /// Its bytes; nil where nobody needs them.
    public let artifact: Artifact?

    /// Describes a file.
    public init(path: String, stamp: NoteFileStamp, artifact: Artifact?) {
      self.path = path
      self.stamp = stamp
      self.artifact = artifact
    }
  }

  /// Describes an arrival of which little is known.
  public init(
    pipeline: String, inbox: String, path: String, stamp: NoteFileStamp, fileName: String,
    recording: Artifact
  ) {
    self.pipeline = pipeline
    self.inbox = inbox
    self.path = path
    self.stamp = stamp
    self.fileName = fileName
    self.recording = recording
  }
}

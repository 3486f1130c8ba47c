public import Hashing

/// A file that has come with a note: where it lies, and what is to become of it.
public struct NoteFile: Hashable, Sendable {
  /// What it came for.
  public enum Role: String, Hashable, Sendable, Codable {
    /// The recording itself, or the same once more.
    case recording
    /// What a device says about it.
    case sidecar
    /// What is said in it.
    case transcript
    /// What says that the recording is complete.
    case marker
  }

  /// Where it is.
  public enum Place: String, Hashable, Sendable, Codable {
    /// In the inbox, where it arrived.
    case inbox
    /// In the inbox's folder of what could not be accepted.
    case quarantine
    /// In the inbox's folder of what was accepted.
    case accepted
    /// In the inbox for good, because its owner wants that.
    case left
    /// Deleted, because its owner wants that.
    case deleted
    /// Taken away or changed by somebody else.
    case gone
  }

  /// Its number in the store.
  public let id: Int64
  /// The note that it belongs to.
  public let note: NoteKey
  /// The inbox, as an absolute path.
  public let inbox: String
  /// What it came for.
  public let role: Role
  /// Where it arrived beneath the inbox; control characters, percent signs and bytes that are no
  /// text are written as `%0A`.
  public let path: String
  /// Where it lies now, in the form of `path`.
  public let location: String
  /// The version of the file that was taken in.
  public let stamp: NoteFileStamp
  /// The identity of a transcript's bytes; nil for other files, whose notes know it.
  public let digest: Digest?
  /// Where it is.
  public let place: Place
  /// Where it is about to be moved, in the form of `path`; nil where no move was begun.
  public let target: String?

  /// Describes a file.
  public init(
    id: Int64, note: NoteKey, inbox: String, role: Role, path: String, location: String,
    stamp: NoteFileStamp, digest: Digest? = nil, place: Place, target: String?
  ) {
    self.id = id
    self.note = note
    self.inbox = inbox
    self.role = role
    self.path = path
    self.location = location
    self.stamp = stamp
    self.digest = digest
    self.place = place
    self.target = target
  }
}

extension NoteFile {
  /// A transcript in the store; nil for other files.
  public var transcript: Artifact? {
    digest.map { Artifact(kind: .file, digest: $0, byteCount: Int(stamp.byteCount)) }
  }
}

/// A file that is ready to be released, with the note that decides where it goes.
public struct HeldFile: Hashable, Sendable {
  /// The file.
  public let file: NoteFile
  /// Its note, which is uploaded or quarantined.
  public let note: Note

  /// Describes a file.
  public init(file: NoteFile, note: Note) {
    self.file = file
    self.note = note
  }
}

/// What tells one version of a file in an inbox from another.
public struct NoteFileStamp: Hashable, Sendable {
  /// The file's number on its file system.
  public let inode: UInt64
  /// Its length in bytes.
  public let byteCount: Int64
  /// When its bytes were last written, in nanoseconds since 1970.
  public let modified: Int64
  /// When anything of it last changed, in nanoseconds since 1970.
  public let changed: Int64

  /// Makes a stamp.
  public init(inode: UInt64, byteCount: Int64, modified: Int64, changed: Int64) {
    self.inode = inode
    self.byteCount = byteCount
    self.modified = modified
    self.changed = changed
  }

  /// Whether both are of one file with the same bytes, though it may have been given another name
  /// meanwhile, which counts as a change of the file.
  public func isSameFile(as other: NoteFileStamp) -> Bool {
    inode == other.inode && byteCount == other.byteCount && modified == other.modified
  }
}

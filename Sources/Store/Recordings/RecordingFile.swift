package import PipelineModel
package import Platform

/// A file of a recording, its place and its target.
package struct RecordingFile: Hashable, Sendable {
  package enum Role: String, Hashable, Sendable, Codable {
    /// The recording, or a repeat.
    case recording
    /// The device's metadata.
    case sidecar
    case transcript
    /// Marks the recording as complete.
    case marker
  }

  package enum Place: String, Hashable, Sendable, Codable {
    /// Where it arrived in the inbox.
    case inbox
    /// The inbox's folder for quarantined files.
    case quarantine
    /// The inbox's folder for accepted files.
    case accepted
    /// Left in the inbox by configuration.
    case left
    /// Deleted by configuration.
    case deleted
    /// Removed or changed by another program.
    case gone
  }

  /// Its row id.
  package let id: Int64
  package let recording: RecordingKey
  /// The inbox, as an absolute path.
  package let inbox: String
  package let role: Role
  /// The path of arrival in the inbox; control characters, percent signs and invalid bytes are
  /// written as `%0A`.
  package let path: String
  /// The present path, in the form of `path`.
  package let location: String
  /// The stored version of the file.
  package let stamp: RecordingFileStamp
  /// The digest of a transcript or a sidecar; nil for other files, and for sidecars of earlier versions:
  /// their recordings have it.
  package let digest: Digest?
  package let place: Place
  /// The target of a move in progress, in the form of `path`; nil if none.
  package let target: String?

  /// Whether it lies in its inbox, or in a folder of it.
  package var isInPlace: Bool { [.inbox, .quarantine, .accepted, .left].contains(place) }

  /// Whether it lies in its inbox no longer, nor stays there for good: its path is free for another.
  package var hasLeft: Bool { place != .inbox && place != .left }

  /// The artifact of a transcript or a sidecar; nil where the digest is.
  package var companion: Artifact? {
    digest.map { Artifact(kind: .file, digest: $0, byteCount: Int(stamp.byteCount)) }
  }
}

/// Where it lies.
extension RecordingFile {
  /// Its absolute path, printable.
  package var printablePath: String { "\(inbox)/\(location)" }

  /// Its absolute path, if that is text.
  var systemPath: String? {
    Self.bytes(escaped: location).flatMap { String(validating: $0, as: UTF8.self) }
      .map { "\(inbox)/\($0)" }
  }

  /// Whether a recording with this content still lies where the store put or left it: a file of its
  /// length. Reads no bytes.
  package func isThere(_ content: Artifact) -> Bool {
    guard role == .recording, [.inbox, .accepted, .left, .quarantine].contains(place),
      let name = Self.bytes(escaped: location),
      let stamp = try? FileStamp(atBytes: Array("\(inbox)/".utf8) + name)
    else { return false }
    return stamp.isRegularFile && stamp.byteCount == Int64(content.byteCount)
  }

  /// The bytes of a path in the form of ``path``; nil if it is none. O(n).
  package static func bytes(escaped text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let first = rest.popFirst() {
      guard first == UInt8(ascii: "%") else {
        bytes.append(first)
        continue
      }
      guard rest.count >= 2,
        let byte = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}

/// A file to be moved, with the recording that determines its target.
package struct HeldFile: Hashable, Sendable {
  package let file: RecordingFile
  /// An uploaded or quarantined recording.
  package let recording: Recording
}

/// Identifies a version of a file in an inbox.
package struct RecordingFileStamp: Hashable, Sendable {
  package let inode: UInt64
  /// Length in bytes.
  package let byteCount: Int64
  /// Modification time in nanoseconds since 1970.
  package let modified: Int64
  /// Change time in nanoseconds since 1970.
  package let changed: Int64

  package init(inode: UInt64, byteCount: Int64, modified: Int64, changed: Int64) {
    self.inode = inode
    self.byteCount = byteCount
    self.modified = modified
    self.changed = changed
  }

  package init(_ stamp: FileStamp) {
    self.init(
      inode: UInt64(bitPattern: stamp.inode), byteCount: stamp.byteCount, modified: stamp.modified,
      changed: stamp.changed)
  }

  /// Whether both are of one file with the same bytes; a rename changes the change time only.
  package func isSameFile(as other: RecordingFileStamp) -> Bool {
    inode == other.inode && byteCount == other.byteCount && modified == other.modified
  }
}

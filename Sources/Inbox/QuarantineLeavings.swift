internal import Hashing
public import PipelineModel

/// What lies in an inbox's quarantine of a note that was forgotten: nobody speaks of it any more.
public struct QuarantineLeavings: Sendable {
  /// The files that stay, as absolute paths in a form that can be shown.
  public let kept: [String]

  /// Takes away the reason beside each recording of the note, and a recording in which there is
  /// nothing. All others are their owner's.
  /// - Parameter files: the note's files as they were before it was forgotten.
  /// - Throws: where an inbox cannot be reached; nothing but these leavings is lost by that.
  public init(of note: Note, files: [NoteFile]) throws(CustodyError) {
    var kept: [String] = []
    for file in files where file.place == .quarantine && file.role == .recording {
      guard let path = InboxPath(escaped: file.location) else { continue }
      let folder = try CustodyFolder(at: file.inbox, calls: .system)
      let reason = ReleaseName.reason(for: path)
      if try Self.isReason(reason, for: note, in: folder) { try folder.remove(reason) }
      let found = try folder.stamp(of: path)
      guard let found, found.kind == .file else { continue }
      if found.byteCount == 0, NoteFileStamp(found) == file.stamp {
        try folder.remove(path)
      } else {
        kept.append("\(file.inbox)/\(path)")
      }
      try folder.flushFolder(path.folder)
    }
    self.kept = kept
  }

  /// Whether a file is the reason that was written for the note, and nothing that somebody else put
  /// there.
  private static func isReason(
    _ path: InboxPath, for note: Note, in folder: borrowing CustodyFolder
  ) throws(CustodyError) -> Bool {
    guard let stamp = try folder.stamp(of: path), stamp.kind == .file else { return false }
    let file = try folder.open(path)
    let bytes = try inInbox { () throws(InboxError) in try file.bytes(atMost: 1 << 20) }
    return String(decoding: bytes, as: UTF8.self).contains("\"id\":\"\(note.key)\"")
  }
}

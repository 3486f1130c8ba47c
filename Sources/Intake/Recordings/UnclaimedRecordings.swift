import PipelineModel
package import Platform
package import Store

/// The recordings in an inbox that are not taken in. A watch whose store is full cannot record that
/// they wait.
///
/// Nothing is opened: the name decides what is a recording.
package struct UnclaimedRecordings: Sendable {
  package struct File: Hashable, Sendable {
    /// Its printable path in the inbox.
    package let path: String
    /// In bytes.
    package let byteCount: Int64
  }

  package private(set) var files: [File] = []

  /// Lists an inbox. O(files), with a look-up each. Skips what is unreadable: it may come or go at
  /// any time.
  /// - Parameter recordings: know what was taken in.
  package init(inInbox inbox: String, recordings: RecordingRepository) {
    guard let opened = try? InboxFolder(at: inbox) else { return }
    let names = UntouchedNames()
    var waiting = [InboxPath.inbox]
    while let folder = waiting.popLast() {
      guard let descriptor = try? opened.openFolder(folder),
        let list = try? FolderListing(
          descriptor,
          isWanted: { names.reason(for: $0, in: folder, isFolder: $1 == nil) == nil })
      else { continue }
      waiting += list.folders.map(folder.appending)
      for (name, stamp) in list.files where stamp.kind == .file && SoundSign.isCarried(by: name) {
        let path = folder.appending(name)
        let isKnown = try? recordings.isKnown(
          path: path.escaped, stamp: RecordingFileStamp(stamp), inbox: inbox)
        if isKnown == false {
          files.append(File(path: path.description, byteCount: stamp.byteCount))
        }
      }
    }
  }
}

/// The files in an inbox's quarantine of a forgotten recording.
package struct OrphanedQuarantineFiles: Sendable {
  /// The files that stay, as printable absolute paths.
  package let kept: [String]

  /// Removes the reason beside each file of the recording, and an empty recording. All other files
  /// are their owner's.
  /// - Parameter files: the recording's files before it was forgotten.
  /// - Throws: if an inbox is unreachable; the files then stay.
  package init(of recording: Recording, files: [RecordingFile]) throws(SpoolError) {
    var kept: [String] = []
    for file in files where file.place == .quarantine && file.role == .recording {
      guard let path = InboxPath(escaped: file.location) else { continue }
      let folder = try ProcessedFolder(at: file.inbox, calls: .system)
      let reason = ReleaseName.reason(for: path)
      if try Self.isReason(reason, for: recording, in: folder) { try folder.remove(reason) }
      let found = try folder.stamp(of: path)
      guard let found, found.kind == .file else { continue }
      if found.byteCount == 0, RecordingFileStamp(found) == file.stamp {
        try folder.remove(path)
      } else {
        kept.append("\(file.inbox)/\(path)")
      }
      try folder.flushFolder(path.folder)
    }
    self.kept = kept
  }

  /// Whether a file is the reason that was written for the recording.
  private static func isReason(
    _ path: InboxPath, for recording: Recording, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Bool {
    guard let stamp = try folder.stamp(of: path), stamp.kind == .file else { return false }
    let file = try folder.open(path)
    let bytes = try file.bytes(atMost: 1 << 20)
    return String(decoding: bytes, as: UTF8.self).contains("\"id\":\"\(recording.key)\"")
  }
}

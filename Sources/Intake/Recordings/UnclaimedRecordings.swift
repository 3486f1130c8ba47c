import PipelineModel
package import Platform
package import Store

/// The recordings in an inbox that are not taken in, by their printable paths in it. A watch whose
/// store is full cannot record that they wait.
///
/// Nothing is opened: the name decides what is a recording. O(files), with a look-up each. Skips
/// what is unreadable: it may come or go at any time.
/// - Parameter recordings: know what was taken in.
package func recordingsNotTakenIn(
  fromInbox inbox: String, recordings: RecordingRepository
) -> [(path: String, byteCount: Int64)] {
  guard let opened = try? InboxFolder(at: inbox) else { return [] }
  var files: [(path: String, byteCount: Int64)] = []
  let names = UntouchedNames()
  opened.visitFolders { folder, name, stamp in
    names.reason(for: name, in: folder, isFolder: stamp == nil) == nil
  } visit: { folder, found in
    for (name, stamp) in found where stamp.isRegularFile && SoundSign.isCarried(by: name) {
      let path = folder.appending(name)
      let isKnown = try? recordings.isKnown(
        path: path.escaped, stamp: RecordingFileStamp(stamp), inbox: inbox)
      if isKnown == false { files.append((path.description, stamp.byteCount)) }
    }
  }
  return files
}

extension Recording {
  /// Tidies the quarantine after this recording was forgotten: removes the reason beside each of
  /// its files, and an empty recording. All other files are their owner's.
  /// - Parameter files: its files before it was forgotten.
  /// - Returns: the files that stay, as printable absolute paths.
  /// - Throws: if an inbox is unreachable; the files then stay.
  package func tidyQuarantine(of files: [RecordingFile]) throws(SpoolError) -> [String] {
    var kept: [String] = []
    for file in files where file.place == .quarantine && file.role == .recording {
      guard let path = InboxPath(escaped: file.location) else { continue }
      let folder = try ProcessedFolder(at: file.inbox)
      let reason = ReleaseName.reason(for: path)
      if try isReason(reason, in: folder) { try folder.remove(reason) }
      let found = try folder.stamp(of: path)
      guard let found, found.isRegularFile else { continue }
      if found.byteCount == 0, RecordingFileStamp(found) == file.stamp {
        try folder.remove(path)
      } else {
        kept.append("\(file.inbox)/\(path)")
      }
      try folder.flushFolder(path.folder)
    }
    return kept
  }

  /// Whether a file is the reason that was written for the recording.
  private func isReason(
    _ path: InboxPath, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Bool {
    guard let stamp = try folder.stamp(of: path), stamp.isRegularFile else { return false }
    let file = try folder.open(path)
    let bytes = try file.bytes(atMost: 1 << 20)
    return String(decoding: bytes, as: UTF8.self).contains("\"id\":\"\(key)\"")
  }
}

extension RecordingRepository {
  /// The files beside where a recording arrived that by their names would be its sidecar or transcript,
  /// and that were not taken in, as printable absolute paths. Reads none of them; leaves out what cannot
  /// be told now.
  /// - Parameter files: the recording's.
  package func companionsLeft(beside files: [RecordingFile]) -> [String] {
    var left: [String] = []
    for file in files where file.role == .recording {
      guard let path = InboxPath(escaped: file.path), let name = path.name,
        let folder = try? ProcessedFolder(at: file.inbox)
      else { continue }
      for candidate in SidecarName.candidates(for: name) + TranscriptName.candidates(for: name) {
        let other = path.folder.appending(candidate)
        guard let stamp = try? folder.stamp(of: other), stamp.isRegularFile,
          let isKnown = try? isKnown(
            path: other.escaped, stamp: RecordingFileStamp(stamp), inbox: file.inbox), !isKnown
        else { continue }
        let place = "\(file.inbox)/\(other)"
        if !left.contains(place) { left.append(place) }
      }
    }
    return left
  }
}

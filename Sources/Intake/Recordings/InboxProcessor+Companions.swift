import PipelineModel
import Platform
import Store

/// The recordings that sidecars and transcripts belong to.
extension InboxProcessor {
  /// The recording whose file lies, or lay until recently, beside a sidecar or a transcript, and
  /// that file: the newest one. One that waits in the inbox goes before one that is done.
  func recipient(
    of path: InboxPath
  ) throws(SpoolError) -> (recording: Recording, file: RecordingFile)? {
    guard let name = path.name else { return nil }
    let since = store.recordings.now - rules.lateSidecarLimit
    var newest: (recording: Recording, file: RecordingFile)?
    for stem in Self.recordingStems(of: name) {
      let files = try store.recordings.files(
        named: path.folder.appending(stem).escaped, inbox: inbox, receivedSince: since)
      for file in files {
        guard let recordingName = InboxPath(escaped: file.path)?.name,
          Self.isCompanion(name, of: recordingName),
          let recording = try self.recording(file.recording)
        else { continue }
        let isLater = newest != nil
        newest = newest ?? (recording, file)
        if isDone(recording, file) || recording.state == .quarantined { continue }
        if !isLater || isInPlace(file) { return (recording, file) }
      }
      // The other stem is that of `note_meta.json`.
      if newest != nil { break }
    }
    return newest
  }

  /// Whether nothing more is done with a recording: a new one may come under its name.
  func isDone(_ recording: Recording, _ file: RecordingFile) -> Bool {
    recording.state == .uploaded || recording.state == .failed && file.hasLeft
  }

  /// Whether a sidecar or a transcript waits although a recording of its name came before: it may
  /// belong to a new one, which devices call the same.
  /// - Parameter mayWait: whether it has not waited for that yet.
  func isHeld(
    _ path: InboxPath, from recording: Recording, _ file: RecordingFile, mayWait: Bool
  ) -> Bool {
    let isDone = isDone(recording, file)
    if isDone && mayWait { return true }
    return (isDone || file.hasLeft) && isRecordingArriving(beside: path)
  }

  /// Whether a recording that is not taken in lies in the inbox beside its sidecar or transcript,
  /// also under the temporary name of a transfer. O(files in the folder).
  private func isRecordingArriving(beside path: InboxPath) -> Bool {
    guard let name = path.name, let inbox = try? InboxFolder(at: inbox),
      let folder = try? inbox.openFolder(path.folder)
    else { return false }
    let stems = Self.recordingStems(of: name).map { $0.bytes + ".".utf8 }
    let names = UntouchedNames()
    func isPartial(_ other: FileName) -> Bool {
      stems.contains { other.bytes.contains($0) }
        && names.suspicion(of: other, in: path.folder) != nil
    }
    let listing = try? FolderListing(folder, skipsUnreadable: true) { other, stamp in
      guard let stamp, stamp.isRegularFile, other != name else { return false }
      return isPartial(other) || Self.isCompanion(name, of: other)
    }
    return (listing?.files ?? [:]).contains { other, stamp in
      if isPartial(other) { return true }
      let place = path.folder.appending(other)
      guard names.reason(for: other, in: path.folder, isFolder: false) == nil,
        !isKnown(place, stamp)
      else { return false }
      return SoundSign.isCarried(by: other)
        || (try? inbox.open(place).head(count: 16)).map { SoundSign.isCarried(by: $0) } ?? false
    }
  }

  /// Whether a recording's file is where it was when it was taken in.
  private func isInPlace(_ file: RecordingFile) -> Bool {
    guard let path = InboxPath(escaped: file.location), let inbox = try? InboxFolder(at: inbox),
      let stamp = try? inbox.stamp(of: path)
    else { return false }
    return RecordingFileStamp(stamp) == file.stamp
  }

  /// The possible names of the recordings of a sidecar or a transcript, without endings.
  private static func recordingStems(of name: FileName) -> [FileName] {
    name.hasSuffix(".json")
      ? SidecarName.recordingStems(for: name) : TranscriptName.recordingStems(for: name)
  }

  /// Whether a name is that of a recording's sidecar or transcript.
  private static func isCompanion(_ name: FileName, of recording: FileName) -> Bool {
    name.hasSuffix(".json")
      ? SidecarName.candidates(for: recording).contains(name)
      : TranscriptName.candidates(for: recording).contains(name)
  }
}

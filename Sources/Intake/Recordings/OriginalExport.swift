internal import CPosix
internal import Glibc
package import PipelineModel
package import Platform
package import Store

/// A file of a recording that was given back.
package struct ExportedOriginal: Hashable, Sendable {
  package let role: RecordingFile.Role
  package let content: Artifact
  /// Its absolute path.
  package let path: String
  /// Whether it was written now; else it was already there.
  package let isNew: Bool
}

extension DiskStore {
  /// Writes a recording as it arrived into a folder, and after it its sidecars and its transcripts, the
  /// newest first, each under its original name, after comparing its bytes with the digest of its arrival.
  /// A sidecar that came with a copy of another name gets the recording's. Where the recording gets a
  /// number, so does what came with it. It never replaces another file. O(bytes).
  /// - Parameters:
  ///   - recording: in any state.
  ///   - folder: an existing folder.
  /// - Throws: if one of them is left nowhere as it arrived, or the folder cannot take it.
  package func writeOriginals(
    of recording: Recording, to folder: String
  ) throws(SpoolError) -> [ExportedOriginal] {
    let files = try recordings.files(of: recording.key)
    func placed(_ role: RecordingFile.Role, _ digest: Digest?) -> [RecordingFile] {
      files.filter { $0.role == role && (digest == nil || $0.digest == digest) }
    }
    let recordingName = Self.originalName(of: recording, placed(.recording, nil).first)
    let copyNames = placed(.recording, nil).dropFirst().compactMap {
      InboxPath(escaped: $0.path)?.name
    }
    var parts: [Original] = []
    func add(_ role: RecordingFile.Role, _ content: Artifact?, _ digest: Digest?) {
      guard let content, !parts.contains(where: { $0.content.digest == content.digest }) else {
        return
      }
      parts.append(
        Original(
          recording: recording, role: role, content: content, files: placed(role, digest),
          recordingName: recordingName, copyNames: copyNames))
    }
    add(.recording, recording.content, nil)
    for file in files.reversed() where file.role == .sidecar {
      add(.sidecar, file.companion ?? recording.sidecar, file.digest)
    }
    add(.sidecar, recording.sidecar, nil)
    for file in files.reversed() where file.role == .transcript {
      add(.transcript, file.companion, file.digest)
    }
    var written: [ExportedOriginal] = []
    var recordingPath = recordingName
    for part in parts {
      let (path, isNew) = try write(part, besides: recordingPath, to: folder)
      if part.role == .recording { recordingPath = path }
      written.append(
        ExportedOriginal(
          role: part.role, content: part.content, path: "\(folder)/\(path)", isNew: isNew))
    }
    return written
  }

  /// The name under which ``writeOriginals(of:to:)`` writes a recording where no other file has it.
  package func originalName(of recording: Recording) throws(SpoolError) -> String {
    let files = try recordings.files(of: recording.key)
    let name = Self.originalName(of: recording, files.first { $0.role == .recording })
    return String(decoding: name.bytes, as: UTF8.self)
  }

  /// A file of a recording, and the places where it may still lie.
  private struct Original {
    let recording: Recording
    let role: RecordingFile.Role
    let content: Artifact
    let files: [RecordingFile]
    /// The original name of the recording itself.
    let recordingName: InboxPath
    /// The names of its copies.
    let copyNames: [FileName]

    /// Its original name; what came with a copy of another name has that of the recording.
    var placeName: InboxPath {
      let name = DiskStore.originalName(of: recording, files.first)
      guard let own = name.name else { return name }
      if role == .transcript, let recording = recordingName.name,
        !TranscriptName.candidates(for: recording).contains(own),
        let copy = copyNames.first(where: { TranscriptName.candidates(for: $0).contains(own) })
      {
        return ReleaseName.companion(own, of: copy, now: recording)
          .map(InboxPath.inbox.appending) ?? name
      }
      guard role == .sidecar else { return name }
      let candidates = recordingName.name.map { SidecarName.candidates(for: $0) } ?? []
      guard let first = candidates.first, !candidates.contains(own) else { return name }
      return InboxPath.inbox.appending(first)
    }

    /// As it arrived, for people.
    var name: String {
      let arrived = files.first.flatMap { InboxPath(escaped: $0.path)?.name?.description }
      return arrived ?? (role == .recording ? recording.fileName : "the sidecar")
    }
  }

  /// - Parameter recording: where the recording lies that it came with.
  private func write(
    _ original: Original, besides recording: InboxPath, to folder: String
  ) throws(SpoolError) -> (path: InboxPath, isNew: Bool) {
    let target = try ProcessedFolder(at: folder)
    var name = original.placeName
    if original.role != .recording, let own = name.name, let old = original.recordingName.name,
      let new = recording.name
    {
      name = ReleaseName.companion(own, of: old, now: new).map(InboxPath.inbox.appending) ?? name
    }
    if try isOriginal(name, original.content, in: target) { return (name, isNew: false) }
    let unique = String(UInt64.random(in: .min ... .max), radix: 36)
    guard let temporary = InboxPath(".spool-\(getpid())-\(unique).tmp") else {
      preconditionFailure("a plain name")
    }
    do throws(SpoolError) {
      try copy(original, to: temporary, in: target, folder)
      for number in 1...10_000 {
        let path = ReleaseName.path(of: name, in: .inbox, number: number)
        if number > 1, try isOriginal(path, original.content, in: target) {
          try target.remove(temporary)
          return (path, isNew: false)
        }
        let leader = original.role == .recording ? nil : recording.name
        // What lies there under the first name came from an earlier export.
        if number > 1,
          try ReleaseName.isMistakable(path, number: number, of: leader, with: [], in: target)
        {
          continue
        }
        guard try target.move(temporary, toNew: path)
        else { continue }
        try target.flushFolder(.inbox)
        return (path, isNew: true)
      }
      throw SpoolError(
        "write", "\(folder)/\(name)", reason: "10,000 files of its name are there already",
        advice: "choose another folder with \(option: .to)")
    } catch {
      try? target.remove(temporary)
      throw error
    }
  }

  /// Its original name; one that steers terminals or looks like an option is cleaned.
  static func originalName(of recording: Recording, _ file: RecordingFile?) -> InboxPath {
    let arrived = file.flatMap { InboxPath(escaped: $0.path)?.name }
    // A name in an older encoding is no text, and a name all the same.
    if let arrived, arrived.text == nil, arrived.bytes.allSatisfy(isPlainByte),
      ![UInt8(ascii: "-"), UInt8(ascii: ".")].contains(arrived.bytes[0]),
      let path = InboxPath(bytes: arrived.bytes)
    {
      return path
    }
    if let arrived, let text = arrived.text, PrintableText.of(arrived.bytes) == text,
      !text.hasPrefix("-"), !text.hasPrefix("."), let path = InboxPath(text)
    {
      return path
    }
    let written = arrived.map { String(decoding: $0.stem, as: UTF8.self) } ?? ""
    let ending = arrived.flatMap {
      PrintableText.fileName(
        String(decoding: $0.bytes.dropFirst($0.stem.count + 1), as: UTF8.self), byteLimit: 8)
    }
    let stem = PrintableText.stem(written)
    let text = (stem ?? "recording-\(recording.key)") + (ending.map { ".\($0)" } ?? "")
    return InboxPath(text) ?? InboxPath.recording
  }

  /// Whether a byte of a name steers no terminal, in any encoding.
  private static func isPlainByte(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\\") && !(0x7F...0x9F).contains(byte)
  }

  private func isOriginal(
    _ path: InboxPath, _ content: Artifact, in folder: borrowing ProcessedFolder
  ) throws(SpoolError) -> Bool {
    guard let stamp = try folder.stamp(of: path), stamp.isRegularFile,
      stamp.byteCount == Int64(content.byteCount)
    else { return false }
    return try folder.open(path).digest().digest == content.digest
  }

  /// Copies the original from the store or, if it is not there, from where its file was moved; the
  /// first with the right digest counts.
  private func copy(
    _ original: Original, to temporary: InboxPath, in target: borrowing ProcessedFolder,
    _ folder: String
  ) throws(SpoolError) {
    let (recording, files) = (original.recording, original.files)
    var failure: SpoolError?
    for source in [nil] + files.map(Optional.some) {
      do throws(SpoolError) {
        try copy(original.content, source, to: "\(folder)/\(temporary)")
        let copied = try target.open(temporary)
        guard try copied.digest().digest == original.content.digest else {
          throw SpoolError(
            "give back", original.name,
            reason: "\(source.map { "\($0.inbox)/\($0.location)" } ?? "the store's copy") is not "
              + "what arrived", advice: "\(command: .check) says what else is damaged")
        }
        // A recording without a time of its own is known by its file's time.
        try doing("flush", "\(folder)/\(temporary)") { () throws(SystemError) in
          try copied.flush(modifiedAt: files.first?.stamp.modified)
        }
        return
      } catch {
        if error.isFullDisk { throw error }
        try target.remove(temporary)
        failure = failure ?? error
      }
    }
    guard let failure else { return }
    let holder = try? deliveries.holder(of: recording.content.digest)
    let lost = InspectionFinding.lostOriginal(of: recording.key, confirmedBy: holder)
    throw SpoolError(
      "give back", original.name, reason: failure.why,
      advice: "\(lost); \(command: .inboxShow) \(recording.key) says "
        + "where its files were", cause: failure.cause, kind: failure.kind)
  }

  private func copy(
    _ content: Artifact, _ file: RecordingFile?, to path: String
  ) throws(SpoolError) {
    guard let file else {
      return try copyFile(from: try self.path(of: content), to: path)
    }
    guard let location = InboxPath(escaped: file.location) else { return }
    let opened = try ProcessedFolder(at: file.inbox).open(location)
    try copyFile(from: opened.readingPath, to: path)
  }
}

extension InboxPath {
  /// The name if no other is possible.
  fileprivate static let recording: InboxPath = {
    guard let path = InboxPath("recording") else { preconditionFailure("a plain name") }
    return path
  }()
}

import Glibc
package import PipelineModel
package import Platform

extension DiskStore {
  /// Bytes of the longest artifact that is read as text.
  private static let longestText = 1 << 20

  /// The text of a small artifact; throws for one over 1 MiB.
  package func text(of artifact: Artifact) throws(SpoolError) -> String {
    let path = try path(of: artifact)
    guard artifact.byteCount <= Self.longestText else {
      throw SpoolError("read as text", path, reason: "it is \(artifact.byteCount) bytes long")
    }
    do throws(SystemError) {
      return String(
        decoding: try files.bytes(of: path, limit: Int64(artifact.byteCount)), as: UTF8.self)
    } catch {
      throw SpoolError("read the artifact", path, error)
    }
  }

  /// Whether two paths lead to one file.
  package func isSameFile(_ path: String, _ other: String) -> Bool {
    guard let stamp = try? FileStamp(following: path) else { return false }
    return (try? FileStamp(following: other))?.isSameFile(as: stamp) == true
  }

  /// Whether a run is of a recording that an inbox took in: its file lay in a work folder of the
  /// store, wherever that was then.
  package func isOfInbox(_ run: RunRecord) -> Bool { run.inputs.values.contains(where: isOfInbox) }

  /// Whether a file lies in a work folder of the store: its path means nothing to people.
  package func isOfInbox(_ file: String) -> Bool {
    let names = file.pathNames
    return file.hasPrefix(path + "/")
      || names.count > 2 && names[names.count - 3] == "work"
        && StoreLayout.isWorkName(String(names[names.count - 2]))
  }

  /// What a recording's path is called: one in a work folder by its file's name alone.
  package func shownName(of file: String) -> String {
    isOfInbox(file) ? file.pathNames.last ?? file : file
  }

  /// What an input of a run is called: one that an inbox took in by the name that it arrived by, which
  /// may not be that of its file in the work folder.
  /// - Parameter digest: that of its bytes; nil if they were not read.
  package func shownName(
    of file: String, _ digest: Digest?, in run: RunRecord
  ) throws(SpoolError) -> String {
    guard isOfInbox(file), let digest else { return shownName(of: file) }
    if let own = try recordings.recording(of: digest, pipeline: run.pipeline) {
      return own.fileName
    }
    let texts = try inboxRecording(of: run).map { (recording) throws(SpoolError) in
      try recordings.files(of: recording.key).filter { $0.digest == digest }
    }
    return texts?.last?.path.pathNames.last ?? shownName(of: file)
  }

  /// The recording that an inbox took in and a run processed; nil if the run is of other files, or
  /// the recording was forgotten.
  package func inboxRecording(of run: RunRecord) throws(SpoolError) -> Recording? {
    guard isOfInbox(run) else { return nil }
    for digest in run.recordings?.values.sorted() ?? [] {
      if let recording = try recordings.recording(of: digest, pipeline: run.pipeline) {
        return recording
      }
    }
    return nil
  }

  /// The input files of a run. Those of a watch are artifacts, with names in a work folder that is
  /// there while the run can be resumed.
  package func files(of run: RunRecord) -> [String: SourceFile] {
    Dictionary(
      uniqueKeysWithValues: run.inputs.map { input, name in
        let isOwn = name.hasPrefix(path + "/") && FilePath.exists(FilePath.folder(of: name))
        let artifact = isOwn ? run.recordings?[input].flatMap { file(of: $0) } : nil
        return (input, SourceFile(artifact ?? name, named: name))
      })
  }

  /// The last run that was done of a recording of an inbox, with its pipeline; nil if there is none.
  package func lastDoneRun(of recording: Recording) throws(SpoolError) -> RunRecord? {
    try runs.mentioning([recording.content.digest]).first {
      $0.state == .done && $0.pipeline == recording.pipeline
    }
  }

  package func sharesDisk(with folder: String) -> Bool {
    guard let stamp = try? FileStamp(following: path) else { return false }
    return (try? FileStamp(following: FilePath.existing(folder)))?.device == stamp.device
  }

  package func freeByteCount(at folder: String) throws(SpoolError) -> Int {
    try Self.freeByteCount(inFolder: FilePath.existing(folder))
  }

  /// Makes a user's folder and its missing parents, with the user's umask; flushes each new name.
  /// Follows links.
  package func makeFolder(_ path: String) throws(SpoolError) {
    let path = FilePath.absolute(path)
    if let stamp = try? FileStamp(following: path) {
      guard !stamp.isFolder else { return }
      throw SpoolError(
        "use the folder", path, reason: "there is a file of that name",
        advice: "move it away, or choose another folder with \(option: .out)")
    }
    try checkDisk(ofExport: path)
    let parent = FilePath.folder(of: path)
    if parent != path { try makeFolder(parent) }
    try doing("make the folder", path) { () throws(SystemError) in
      do throws(SystemError) { try files.makeFolder(path, mode: 0o777) } catch {
        // Another process may have made it meanwhile.
        guard error.code == EEXIST else { throw error }
      }
      try files.flushFolder(parent)
    }
  }

  /// Removes a published file from a user's folder, durably; does nothing if there is none. Throws,
  /// and keeps the file, if this store did not publish it or it was changed, unless `isReplacing`.
  package func withdraw(_ path: String, isReplacing: Bool) throws(SpoolError) {
    let path = FilePath.absolute(path)
    guard (try? FileStamp(at: path)) != nil else { return }
    let isOwn = try published(at: path) != nil
    guard isOwn || isReplacing else {
      throw SpoolError("take away", isForeign: path)
    }
    try doing("take away", path) { () throws(SystemError) in
      try files.unlink(path)
      try files.flushFolder(FilePath.folder(of: path))
    }
  }
}

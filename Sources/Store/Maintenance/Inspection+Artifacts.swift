import Glibc
internal import PipelineModel
internal import Platform
internal import Synchronization

extension Inspection {
  /// Age, in nanoseconds, from which an unnamed file is reported: files are sealed before they are
  /// named.
  private static let namingTime: Int64 = 3600 * 1_000_000_000

  /// Checks every artifact that exists or is named.
  /// - Parameter recorded: what the records of runs keep.
  func inspectArtifacts(
    _ named: [Digest: Artifact], recorded: Set<Digest>, in database: inout Database,
    _ report: inout InspectionReport
  ) throws(SpoolError) {
    let found = try inspectFiles(named, &report)
    if try RecordingTable.isThere(in: &database) {
      for (index, finding) in report.findings.enumerated() where finding.kind == .damagedArtifact {
        if let recording = try RecordingTable.recordings(
          "WHERE digest = ?", [.text(finding.subject ?? "")], in: &database
        ).first {
          report.findings[index] = Self.damagedOriginal(
            finding, of: recording, elsewhere: try releasedFile(of: recording, in: &database),
            confirmedBy: try DeliveryQueue.holder(
              of: recording.content.digest, in: &database))
        }
      }
    }
    for (digest, artifact) in named.sorted(by: { $0.key < $1.key })
    where !found.contains(digest) && !isThere(layout.artifact(digest)) {
      guard try CheckpointTable.names(digest, in: &database) else { continue }
      report.findings.append(
        InspectionFinding(
          .missingArtifact, layout.artifact(digest), subject: digest.hex,
          problem: "a \(artifact.kind.rawValue) that a checkpoint names is not there",
          meaning: "it is made again when it is needed"))
    }
    let lost = LostRecords(layout: layout, files: files).digests
    for file in ArtifactFile.all(in: layout).files
    where named[file.digest] == nil && !recorded.contains(file.digest) {
      let isLost = lost.contains(file.digest)
      let isSettled = Clock.now() - file.stamp.modified > Self.namingTime
      if isLost || isSettled, try !CheckpointTable.names(file.digest, in: &database),
        try !isOriginal(file.digest, in: &database),
        try !DeliveryQueue.wants(file.digest, in: &database)
      {
        report.findings.append(
          InspectionFinding(
            .unnamedArtifact, file.path, subject: file.digest.hex,
            problem: "no checkpoint names this file of \(file.stamp.byteCount) bytes",
            meaning: isLost
              ? "its record was lost with the database: it may be a recording, and is kept"
              : "it only takes room",
            advice: isLost
              ? "a copy of it in an inbox is taken in again, if it is a recording; "
                + "\(command: .gc) \(option: .unrecorded) frees it"
              : "\(command: .gc)"
          ))
      }
    }
  }

  /// Whether an artifact is a recording's; false in a database without recordings.
  private func isOriginal(
    _ digest: Digest, in database: inout Database
  ) throws(SpoolError) -> Bool {
    guard try RecordingTable.isThere(in: &database) else { return false }
    return try RecordingTable.hasOriginal(digest, in: &database)
  }

  /// Checks every artifact file, without a database.
  func inspectArtifactsAlone(_ report: inout InspectionReport) throws(SpoolError) {
    _ = try inspectFiles([:], &report)
  }

  private func inspectFiles(
    _ named: [Digest: Artifact], _ report: inout InspectionReport
  ) throws(SpoolError) -> Set<Digest> {
    try requireReadable()
    let (files, strays) = ArtifactFile.all(in: layout)
    report.artifacts = files.count
    report.artifactBytes = files.reduce(0) { $0 + Int($1.stamp.byteCount) }
    for path in strays {
      report.findings.append(
        InspectionFinding(
          .strayFile, path, problem: "this is no artifact",
          meaning: "nothing uses it; it may be deleted", advice: nil))
    }
    var unread: [ArtifactFile] = []
    for file in files {
      if let artifact = named[file.digest], artifact.byteCount != file.stamp.byteCount {
        report.findings.append(
          damaged(
            file, "it has \(file.stamp.byteCount) bytes instead of \(artifact.byteCount)"))
      } else {
        unread.append(file)
      }
    }
    if !options.isQuick {
      for (file, fault) in try faults(in: unread) { report.findings.append(damaged(file, fault)) }
    }
    return Set(files.map(\.digest))
  }

  /// Throws if a folder of artifacts may not be read, as one that another user made: its files are
  /// neither missing nor damaged.
  private func requireReadable() throws(SpoolError) {
    for name in FilePath.names(in: layout.artifacts) {
      let path = "\(layout.artifacts)/\(name)"
      guard let cause = FilePath.obstacle(to: path + "/", R_OK | X_OK),
        SystemError(cause.code).kind == .denied
      else { continue }
      throw SpoolError(
        "read the store's folder", path, reason: cause.words,
        advice: "another user has worked in this store: give it to one, with sudo chown -R "
          + "\(getuid()) \(ShellWords.line([layout.root]))", kind: .denied)
    }
  }

  /// Nothing can make a recording again: a repair sets the damaged file aside, and leaves it lost where
  /// it lies nowhere else.
  /// - Parameters:
  ///   - file: its file outside the store; nil if there is none.
  ///   - destination: one that has confirmed it; nil if none has.
  private static func damagedOriginal(
    _ finding: InspectionFinding, of recording: Recording, elsewhere file: RecordingFile?,
    confirmedBy destination: String?
  ) -> InspectionFinding {
    InspectionFinding(
      finding.kind, finding.path, subject: finding.subject,
      problem: "the original of \(recording.key) (\(recording.fileName)) is damaged: "
        + finding.problem,
      meaning: file.map { liesIn($0, destination) }
        ?? InspectionFinding.lostOriginal(of: recording.key, confirmedBy: destination),
      advice: file == nil ? "\(command: .inboxShow) \(recording.key)" : InspectionFinding.repair)
  }

  private func damaged(_ file: ArtifactFile, _ problem: String) -> InspectionFinding {
    InspectionFinding(
      .damagedArtifact, file.path, subject: file.digest.hex, problem: problem,
      meaning: "it must not be used; it is made again when it is needed")
  }

  /// Reads the files in parallel, the longest first.
  /// - Returns: the faults.
  private func faults(in list: [ArtifactFile]) throws(SpoolError) -> [(ArtifactFile, String)] {
    let total = list.reduce(0) { $0 + Int($1.stamp.byteCount) }
    let done = Mutex(0)
    let found = Mutex<[(ArtifactFile, String)]>([])
    let failure = Mutex<SpoolError?>(nil)
    let pool = WorkerPool(threadCount: options.threadCount, name: "check")
    for file in list.sorted(by: { $0.stamp.byteCount > $1.stamp.byteCount }) {
      pool.submit { [progress, stop, files] in
        do throws(SystemError) {
          let fault = try Self.fault(in: file, files, stop) { count in
            let soFar = done.withLock { done in
              done += count
              return done
            }
            progress(InspectionProgress(doneBytes: soFar, totalBytes: total))
          }
          if let fault { found.withLock { $0.append((file, fault)) } }
        } catch {
          failure.withLock { $0 = $0 ?? SpoolError("read", file.path, error) }
        }
      }
    }
    pool.finish()
    if let failure = failure.withLock({ $0 }) { throw failure }
    if stop.isRequested { throw SpoolError("check", layout.root, reason: "it was stopped") }
    return found.withLock { $0.sorted { $0.0.digest < $1.0.digest } }
  }

  /// The fault of a file's bytes; nil if there is none or the file is gone. Throws errors that say
  /// nothing of the file (too many open files, say).
  private static func fault(
    in file: ArtifactFile, _ files: FileOperations, _ stop: StopRequest, _ done: (Int) -> Void
  ) throws(SystemError) -> String? {
    do throws(SystemError) {
      let opened = try files.open(file.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let digest = try files.digest(of: opened) { count in
        done(count)
        return !stop.isRequested
      }.digest
      return digest == file.digest || stop.isRequested
        ? nil : "its bytes are not those that its name promises"
    } catch {
      if error.code == ENOENT { return nil }
      guard error.code == EIO else { throw error }
      return "it cannot be read: \(error.words)"
    }
  }
}

import Glibc
internal import PipelineModel
internal import Platform

extension Inspection {
  /// Checks every checkpoint's rows.
  /// - Returns: the artifacts that they name.
  func inspectCheckpoints(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) -> [Digest: Artifact] {
    var named: [Digest: Artifact] = [:]
    for text in try CheckpointTable.keys(in: &database) {
      report.checkpoints += 1
      guard
        let key = Digest(hex: text).map(Checkpoint.Key.init),
        let checkpoint = try CheckpointTable.checkpoint(for: key, in: &database),
        try CheckpointTable.namesWell(text, in: &database)
      else {
        report.findings.append(
          InspectionFinding(
            .unreadableCheckpoint, layout.database, subject: text,
            problem: "the checkpoint \(text.prefix(12)) does not read as what its key says",
            meaning: "its work is done again when it is needed"))
        continue
      }
      for output in checkpoint.outputs.values {
        if let artifact = output.artifact { named[artifact.digest] = artifact }
      }
    }
    return named
  }

  /// Checks every run's row.
  /// - Returns: the artifacts that stay because runs name them, and the digests of the files that runs
  ///   wrote, by path.
  func inspectRuns(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) -> (recorded: Set<Digest>, published: [ExactText: Set<Digest>]) {
    var recorded: Set<Digest> = []
    var published: [ExactText: Set<Digest>] = [:]
    let rows = try database.run(
      "SELECT id, record, started_at, state, pipeline FROM runs", to: "read runs in")
    for row in rows {
      report.runs += 1
      let id = row[0].text ?? ""
      let run: RunRecord? = row[1].text.flatMap { try? StoredJSON.decode($0) }
      guard let run, run.id.name == id else {
        report.findings.append(unreadableRun(id, "does not read"))
        continue
      }
      let columns: [SQLValue] = [
        .real(run.startedAt), .text(run.state.rawValue), .text(run.pipeline),
      ]
      if Array(row.dropFirst(2)) != columns {
        report.findings.append(unreadableRun(id, "contradicts itself"))
        continue
      }
      recorded.formUnion(run.permanentArtifacts)
      for file in run.published {
        if let digest = file.digest { published[ExactText(file.path), default: []].insert(digest) }
      }
    }
    return (recorded, published)
  }

  private func unreadableRun(_ id: String, _ what: String) -> InspectionFinding {
    InspectionFinding(
      .unreadableRun, layout.database, subject: id, problem: "the row of the run \(id) \(what)",
      meaning: "\(command: .runs) and \(command: .show) cannot tell what became of it")
  }

  /// Compares exports with what was published. They belong to the user: changes are no damage, and one
  /// that was touched, copied or restored is as it was. Reads those with another stamp; a quick check
  /// compares their lengths alone.
  /// - Parameter published: the digests of the files that runs wrote, by path.
  func inspectExports(
    _ published: [ExactText: Set<Digest>], in database: inout Database,
    _ report: inout InspectionReport
  ) throws(SpoolError) {
    let rows = try database.run(
      "SELECT path, device, inode, byte_count, modified_ns, changed_ns, content FROM published",
      to: "read published files in")
    for row in rows {
      guard let path = row[0].text else { continue }
      report.exports += 1
      guard let stamp = try? FileStamp(at: path) else {
        report.findings.append(
          InspectionFinding(
            .exportMissing, path, problem: "an export is not there any more",
            meaning: "it was moved or deleted; running its pipeline again writes it again",
            advice: nil))
        continue
      }
      if stamp.columns == Array(row[1...5]) { continue }
      let isSameLength = row[3] == .integer(stamp.byteCount)
      if isSameLength, try isAsPublished(path, row[6].text, published[ExactText(path)] ?? []) {
        continue
      }
      report.findings.append(
        InspectionFinding(
          .exportChanged, path, problem: "an export was changed since it was written",
          meaning: "\(command: .run) will not replace it unless told so with "
            + "\(option: .replace)", advice: nil))
    }
  }

  /// Whether an export whose length is as it was has the bytes that Spool wrote.
  private func isAsPublished(
    _ path: String, _ content: String?, _ published: Set<Digest>
  ) throws(SpoolError) -> Bool {
    if options.isQuick { return true }
    guard let file = try? files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
      let digest = try? files.digest(of: file, took: { _ in !stop.isRequested }).digest
    else {
      try stop.check()
      return false
    }
    try stop.check()
    return content == digest.hex || published.contains(digest)
  }

  func isThere(_ path: String) -> Bool { (try? FileStamp(at: path)) != nil }
}

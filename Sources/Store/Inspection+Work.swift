import Glibc
internal import Hashing
internal import PipelineModel

extension Inspection {
  /// Looks at what unfinished work has noted, and at the files that it would go on from.
  func inspectWork(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(StoreError) {
    let rows = try database.run(
      "SELECT work, generation, owner, note FROM work", to: "read work in")
    for row in rows {
      guard let work = row[0].text, let digest = Digest(hex: work), let generation = row[1].integer
      else { continue }
      // Whoever is at it changes notes and files while they are looked at.
      if let owner = row[2].text.flatMap({ ProcessIdentity($0) }), owner.isAlive { continue }
      report.unfinished += 1
      guard let stored = row[3].text else { continue }
      guard let note = SealedText.open(stored) else {
        report.findings.append(
          InspectionFinding(
            .damagedNote, layout.database, subject: work,
            problem: "what the unfinished work \(work.prefix(12)) noted is not what was written",
            meaning: "it is begun anew when its run is gone on with"))
        continue
      }
      let folder = layout.work(digest, generation: generation)
      guard let fault = try fault(in: folder, DraftPrefixes(in: note)) else {
        continue
      }
      report.findings.append(
        InspectionFinding(
          .damagedWork, fault.path, subject: work, problem: fault.problem,
          meaning: "what the unfinished work \(work.prefix(12)) had done of it is done again"))
    }
  }

  /// The first thing that is wrong with the files of a piece of work.
  private func fault(
    in folder: String, _ noted: DraftPrefixes
  ) throws(StoreError) -> (path: String, problem: String)? {
    let files = FilePath.names(in: folder).filter { $0 != WorkFolder.lockName }
      .map { "\(folder)/\($0)" }
    for prefix in noted.all where prefix.byteCount > 0 {
      let long = files.filter {
        ((try? FileStamp(at: $0))?.byteCount ?? 0) >= Int64(prefix.byteCount)
      }
      if long.isEmpty {
        return (folder, "no file there has the \(prefix.byteCount) bytes that were noted")
      }
      guard !options.isQuick, let digest = prefix.digest else { continue }
      var isThere = false
      for path in long where !isThere {
        isThere = try self.digest(of: path, upTo: prefix.byteCount) == digest
      }
      if !isThere {
        let path = long.count == 1 ? long[0] : folder
        return (path, "its first \(prefix.byteCount) bytes are not those that were noted")
      }
    }
    return options.isQuick ? nil : options.workFault(folder, noted.texts)
  }

  private func digest(of path: String, upTo byteCount: Int) throws(StoreError) -> Digest {
    try doing("read", path) { () throws(SystemError) in
      let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      return try files.hash(of: file, upTo: Int64(byteCount)).current
    }
  }
}

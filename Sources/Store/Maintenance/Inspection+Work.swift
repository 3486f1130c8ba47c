import Glibc
import PipelineModel
import Platform

extension Inspection {
  /// Checks the journal entries of unfinished work, and the files that they refer to.
  func inspectWork(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) {
    let rows = try database.run(
      "SELECT work, generation, owner, note FROM work", to: "read work in")
    for row in rows {
      guard let work = row[0].text, let digest = Digest(hex: work), let generation = row[1].integer
      else { continue }
      // A live owner changes entries and files during the check.
      if let owner = row[2].text.flatMap({ ProcessIdentity($0) }), owner.isAlive { continue }
      report.unfinished += 1
      guard let stored = row[3].text else { continue }
      guard let recording = SealedText.open(stored) else {
        report.findings.append(
          InspectionFinding(
            .damagedNote, layout.database, subject: work,
            problem: "what the unfinished work \(work.prefix(12)) noted is not what was written",
            meaning: "it is begun anew when its run is gone on with"))
        continue
      }
      let folder = layout.work(digest, generation: generation)
      guard isThere(folder) else {
        report.findings.append(
          InspectionFinding(
            .missingWork, folder, subject: work,
            problem: "what the unfinished work \(work.prefix(12)) had done is not there",
            meaning:
              "a backup holds no unfinished work: it is begun anew when its run is gone on with",
            advice: nil))
        continue
      }
      guard let fault = try fault(in: folder, DraftPrefixes(in: recording)) else { continue }
      report.findings.append(
        InspectionFinding(
          .damagedWork, fault.path, subject: work, problem: fault.problem,
          meaning: "what the unfinished work \(work.prefix(12)) had done of it is done again"))
    }
  }

  /// The first fault in the files of a piece of work.
  private func fault(
    in folder: String, _ noted: DraftPrefixes
  ) throws(SpoolError) -> (path: String, problem: String)? {
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

  private func digest(of path: String, upTo byteCount: Int) throws(SpoolError) -> Digest {
    try doing("read", path) { () throws(SystemError) in
      let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      return try files.hash(of: file, upTo: Int64(byteCount)).current
    }
  }
}

/// The file prefixes that a journal entry refers to, at any depth. Entries are JSON, and contain
/// JSON texts of parts of the work.
struct DraftPrefixes {
  private(set) var all: [DraftPrefix] = []
  /// The entries of parts of the work: the JSON texts in the entry.
  private(set) var texts: [String] = []

  init(in recording: String) { look(in: recording) }

  private mutating func look(in text: String) {
    guard text.hasPrefix("{") || text.hasPrefix("["),
      let value = try? JSONReader.strictValue(of: Array(text.utf8), depthLimit: 64)
    else { return }
    texts.append(text)
    look(at: value)
  }

  private mutating func look(at value: JSONValue) {
    switch value {
    case .text(let text): look(in: text)
    case .list(let values): for value in values { look(at: value) }
    case .object(let members):
      if members.count == 2, let count = members["byteCount"]?.integer,
        let digest = members["digest"]?.text.flatMap({ Digest(hex: $0) })
      {
        all.append(DraftPrefix(byteCount: count, digest: digest))
      } else {
        for value in members.values { look(at: value) }
      }
    case .number, .boolean, .null: break
    }
  }
}

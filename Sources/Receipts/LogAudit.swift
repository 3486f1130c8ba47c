package import PipelineModel
package import Platform
package import Proof
package import Store

/// Compares the transparency log with its signed heads and with the log file, and names what was
/// deleted, changed or inserted. A pure value.
///
/// Every receipt is added together with a head over it, and the files are at most one receipt
/// behind: an entry under no head was not added by Spool.
package struct LogAudit: Sendable {
  /// A difference from the signed log.
  package struct Finding: Hashable, Sendable {
    /// The file of the store, or the receipt.
    package let name: String
    package let problem: String
  }

  /// All differences; empty if the log is as it was signed.
  package private(set) var findings: [Finding] = []
  /// Number of entries.
  package let size: Int
  /// The signers of its heads.
  package private(set) var signers: [VerifyingKey] = []

  package let records: ReceiptRecords

  ///
  /// - Parameter keys: the keys whose signatures count.
  package init(_ records: ReceiptRecords, keys: [VerifyingKey]) {
    self.records = records
    size = records.entries.count
    let head = signedHead(records.head?.text, at: records.databasePath, keys)
    if let head, let row = records.head, head.size != row.size || head.root != row.root {
      add(records.databasePath, "the signed head in it is not the one that is noted beside it")
    }
    if records.head == nil, size > 0 {
      add(records.databasePath, "the signed head of the ledger is not in it")
    }
    let copy = signedHead(records.copy, at: records.headPath, keys)
    checkFiles(against: head, copy)
    let heads = [(head, records.databasePath), (copy, records.headPath)]
      .compactMap { head, path in head.map { ($0, path) } }
    var contradictions: Set<LogContradiction> = []
    for (index, (head, path)) in heads.enumerated() {
      // The head beside the database is usually the same.
      if index > 0, contradictions.isEmpty, head == heads[0].0 { continue }
      guard let contradiction = head.contradiction(in: records.entries) else { continue }
      contradictions.insert(contradiction)
      add(path, Self.words(contradiction, head, size))
    }
    if contradictions.contains(.leaves) || contradictions.contains(.isShort) {
      nameLeaves()
    } else if contradictions.contains(.paths) {
      namePaths()
    } else {
      nameLines()
      guard let covered = heads.map(\.0.size).max() else { return }
      for entry in records.entries.dropFirst(covered) {
        add(entry.path, "its leaf, number \(entry.number), was slipped into the ledger")
      }
    }
  }

  /// A crash leaves the files one receipt behind, and none at the very first.
  private mutating func checkFiles(against head: TreeHead?, _ copy: TreeHead?) {
    guard let head else { return }
    let least = max(0, head.size - 1)
    if records.copy == nil, least > 0 { add(records.headPath, "the signed head is missing") }
    if let copy, copy.size < least {
      add(
        records.headPath,
        "the signed head is an old one, over \(copy.size) of the \(head.size) in the database")
    }
    if let copy, copy.size > head.size {
      add(
        records.databasePath,
        "the signed head in it is an old one, over \(head.size) of the \(copy.size) beside it")
    }
    if records.logged.count < least {
      let count = records.logged.count
      add(
        records.logPath,
        count == 0 ? "the list of receipts is missing" : "it ends after \(count) of \(head.size)")
    }
  }

  private static func words(
    _ contradiction: LogContradiction, _ head: TreeHead, _ size: Int
  ) -> String {
    switch contradiction {
    case .isShort: "\(head.size) receipts were signed, and the ledger holds \(size)"
    case .leaves: "the first \(head.size) receipts have another root than was signed"
    case .paths: "the first \(head.size) receipts lay elsewhere when they were signed"
    }
  }

  private mutating func signedHead(
    _ text: String?, at path: String, _ keys: [VerifyingKey]
  ) -> TreeHead? {
    guard let text else { return nil }
    do throws(SpoolError) {
      let head = try TreeHead(text, at: path, keys: keys)
      if let signer = head.signer { signers.append(signer) }
      return head
    } catch {
      add(path, "the signed head: \(error.reason ?? error.message)")
      return nil
    }
  }

  package mutating func add(_ name: String, _ problem: String) {
    // A withdrawal has no path; its text takes that place.
    let name = Withdrawal.isStated(in: name) ? "a withdrawal in \(records.databasePath)" : name
    let finding = Finding(name: name, problem: problem)
    if !findings.contains(finding) { findings.append(finding) }
  }
}

extension LogAudit {
  /// The advice if a repair does not help; nil if it does, or nothing is wrong. O(n).
  /// - Parameter keys: the keys whose signatures count.
  package func wayOut(keys: [VerifyingKey]) -> String? {
    if findings.isEmpty { return nil }
    if signers.isEmpty, records.head != nil {
      return "if the key that signed it is to be trusted here, \(command: .keyImport) its "
        + "public part"
    }
    guard LogRecovery(records, keys: keys) == nil else { return nil }
    return "only a backup may lead back (\(command: .restore)); without one, keep this store "
      + "as it is, "
      + "and let what comes go into another (\(option: .store))"
  }

  /// Why the log accepts no additions; nil if it is as it was signed.
  /// - Parameter keys: the keys whose signatures count.
  package func refusal(keys: [VerifyingKey]) -> SpoolError? {
    guard let first = findings.first else { return nil }
    let more = findings.count - 1
    let advice =
      wayOut(keys: keys).map { "\(command: .check) names all that is wrong; \($0)" }
      ?? "\(command: .check) names all that is wrong; stop what works in the store (a watch), "
      + "and \(command: .repair) puts it back"
    return SpoolError(
      "the ledger of receipts is not as it was signed",
      reason: "\(first.name): \(first.problem)"
        + (more == 0 ? "" : ", and \(more) more problem\(more == 1 ? "" : "s")"),
      advice: advice, cause: .blocked)
  }
}

/// Identifies receipts by the log file. It is unsigned: if the list in the database is as signed,
/// the file was changed.
extension LogAudit {
  /// The database's leaves differ from the signed ones.
  package mutating func nameLeaves() {
    let (entries, logged) = (records.entries, records.logged)
    let own = Set(entries.compactMap(\.leaf))
    let noted = Set(logged.compactMap(\.leaf))
    let paths = Self.paths(of: entries)
    let notedPaths = Self.paths(of: logged)
    for line in logged {
      guard let leaf = line.leaf else {
        add(records.logPath, "line \(line.number) is not what was written")
        continue
      }
      if own.contains(leaf) { continue }
      let isThere = paths[line.position] == line.path
      add(
        line.path,
        "its leaf, number \(line.number), was \(isThere ? "altered" : "deleted") in the ledger"
      )
    }
    for entry in entries where !(entry.leaf.map { noted.contains($0) } ?? false) {
      if notedPaths[entry.position] == entry.path { continue }
      add(entry.path, "its leaf, number \(entry.number), was slipped into the ledger")
    }
    let kept = entries.compactMap(\.leaf).filter { noted.contains($0) }
    let order = Dictionary(
      logged.compactMap { line in line.leaf.map { ($0, line.position) } },
      uniquingKeysWith: { one, _ in one })
    for (one, next) in zip(kept, kept.dropFirst())
    where (order[one] ?? 0) > (order[next] ?? 0) {
      let line = logged[order[one] ?? 0]
      add(line.path, "its leaf, number \(line.number), stands elsewhere in the ledger")
    }
  }

  private static func paths(of entries: [ReceiptEntry]) -> [Int: String] {
    Dictionary(entries.map { ($0.position, $0.path) }, uniquingKeysWith: { first, _ in first })
  }

  /// The database's paths differ from the signed ones.
  package mutating func namePaths() {
    for (entry, line) in zip(records.entries, records.logged) where entry.path != line.path {
      let other = Withdrawal.isStated(in: entry.path) ? "a withdrawal" : entry.path
      add(
        line.path, "its path was changed: the ledger has \(other), at number \(entry.number)")
    }
  }

  /// The database is as it was signed.
  package mutating func nameLines() {
    let entries = records.entries
    if records.logged.count > size {
      add(records.logPath, "it has \(records.logged.count) receipts, and the ledger \(size)")
    }
    if zip(entries, records.logged).allSatisfy(==) { return }
    let own = Dictionary(entries.map { ($0.position, $0) }, uniquingKeysWith: { $1 })
    let count = findings.count
    // Lines after an inserted one are identified by their numbers.
    for (index, line) in records.logged.enumerated() where own[line.position] != line {
      let wanted = index < size ? ": \(entries[index].path)" : ""
      add(records.logPath, "line \(index + 1) is not what the ledger says\(wanted)")
    }
    if findings.count == count { add(records.logPath, "its lines are not in their order") }
  }
}

/// Compares the runs' records with the log: every receipt that a run wrote must be in it.
package struct MissingReceipts {
  package struct Missed: Hashable, Sendable {
    /// Where it was written.
    package let path: String
    package let problem: String
  }

  /// The missing receipts, the newest first.
  package let all: [Missed]

  ///
  /// - Parameter isSound: whether the log is as it was signed. If not, their paths are checked too;
  ///   a receipt in another folder was written once.
  package init(_ records: ReceiptRecords, of runs: [RunRecord], isSound: Bool) {
    let places = Dictionary(
      records.entries.compactMap { entry in entry.leaf.map { ($0, ExactText(entry.path)) } },
      uniquingKeysWith: { $1 })
    var told: Set<Digest> = []
    var all: [Missed] = []
    for run in runs {
      for file in run.published {
        guard let leaf = file.leaf, !told.contains(leaf) else { continue }
        let place = places[leaf]
        if isSound ? place != nil : place == ExactText(file.path) { continue }
        told.insert(leaf)
        let problem =
          if place != nil {
            "the run \(run.id) wrote it here, and the ledger has another path"
          } else if records.entries.isEmpty {
            "the ledger of receipts is empty, and the run \(run.id) wrote one here"
          } else {
            "the run \(run.id) wrote a receipt here that the ledger does not have"
          }
        all.append(Missed(path: file.path, problem: problem))
      }
    }
    self.all = all
  }
}

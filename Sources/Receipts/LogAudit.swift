package import PipelineModel
package import Platform
package import Proof
package import Store

/// One comparison of the transparency log in the database with its signed heads, the log file and
/// the withdrawals: what was deleted, changed or inserted, and what can be done about it. A pure
/// value.
///
/// Every receipt is added together with a head over it, and the files are at most one receipt
/// behind: an entry under no head was not added by Spool.
package struct LogAudit: Sendable {
  /// The log, including what the files have beyond a restored database.
  package let records: ReceiptRecords
  /// All differences from the signed log, by the file of the store or the receipt; empty if the log
  /// is as it was signed.
  package private(set) var findings: [Deviation] = []
  /// The signers of its heads.
  package private(set) var signers: [VerifyingKey] = []
  /// Whether nothing is wrong but that no key is known here that signed it: then it cannot be told
  /// whether the log is as it was signed.
  package var isUntold: Bool { !strangers.isEmpty && strangers == known }
  private let keys: [VerifyingKey]
  /// The heads of signers that are not known.
  private var strangers: Set<Deviation> = []
  /// The findings: a log of which every entry is damaged has as many.
  private var known: Set<Deviation> = []

  /// O(n).
  /// - Parameter keys: the keys whose signatures count.
  package init(_ records: ReceiptRecords, keys: [VerifyingKey]) {
    let records = Self.caughtUp(records, keys)
    self.records = records
    self.keys = keys
    let head = signedHead(records.head?.text, at: records.databasePath)
    if let head, let row = records.head, head.size != row.size || head.root != row.root {
      add(records.databasePath, "the signed head in it is not the one that is noted beside it")
    }
    if records.head == nil, size > 0 {
      add(records.databasePath, "the signed head of the ledger is not in it")
    }
    let copy = signedHead(records.copy, at: records.headPath)
    checkFiles(against: head, copy)
    let heads = [(head, records.databasePath), (copy, records.headPath)]
      .compactMap { head, path in head.map { ($0, path) } }
    var contradictions: Set<LogContradiction> = []
    for (index, (head, path)) in heads.enumerated() {
      // The head beside the database is usually the same.
      if index > 0, contradictions.isEmpty, head == heads[0].0 { continue }
      guard let contradiction = head.contradiction(in: records.entries) else { continue }
      contradictions.insert(contradiction)
      switch contradiction {
      case .isShort: add(path, "\(head.size) receipts were signed, and the ledger holds \(size)")
      case .leaves: add(path, "the first \(head.size) receipts have another root than was signed")
      case .paths: add(path, "the first \(head.size) receipts lay elsewhere when they were signed")
      }
    }
    if contradictions.contains(.leaves) || contradictions.contains(.isShort) {
      compareLeaves()
    } else if contradictions.contains(.paths) {
      comparePaths()
    } else {
      compareLines()
      guard let covered = heads.map(\.0.size).max() else { return }
      for entry in records.entries.dropFirst(covered) {
        add(entry.path, "its leaf, number \(entry.number), was slipped into the ledger")
      }
    }
  }

  private var size: Int { records.entries.count }

  /// The receipts that runs recorded and the log does not have, the newest first. O(runs).
  package func missing(from runs: [RunRecord]) -> [Deviation] {
    let places = Dictionary(
      records.entries.compactMap { entry in entry.leaf.map { ($0, ExactText(entry.path)) } },
      uniquingKeysWith: { $1 })
    var seen: Set<Digest> = []
    var missing: [Deviation] = []
    for run in runs {
      for file in run.published {
        guard let leaf = file.leaf, !seen.contains(leaf) else { continue }
        let place = places[leaf]
        // In a sound log, a receipt at another path was written once, in another folder.
        if findings.isEmpty ? place != nil : place == ExactText(file.path) { continue }
        seen.insert(leaf)
        let problem =
          if place != nil {
            "the run \(run.id) wrote it here, and the ledger has another path"
          } else if records.entries.isEmpty {
            "the ledger of receipts is empty, and the run \(run.id) wrote one here"
          } else {
            "the run \(run.id) wrote a receipt here that the ledger does not have"
          }
        missing.append(Deviation(file.path, problem))
      }
    }
    return missing
  }
}

/// What can be done about the findings.
extension LogAudit {
  /// The log as of its last signed head, and the file that has it; nil if nothing is wrong, or if
  /// neither list leads to that head: a shorter head would lose receipts. O(n).
  package var recovery: (entries: [ReceiptEntry], head: ReceiptHead, source: String)? {
    if findings.isEmpty { return nil }
    let texts = [
      (records.head?.text, records.databasePath), (records.copy, records.headPath),
    ]
    let heads = texts.compactMap { text, path in
      text.flatMap { text in (try? TreeHead(text, at: path, keys: keys)).map { ($0, text) } }
    }
    let lists = [
      (records.entries, records.databasePath), (records.logged, records.logPath),
    ]
    guard let (head, text) = heads.max(by: { $0.0.size < $1.0.size }),
      let (list, source) = lists.first(where: { head.contradiction(in: $0.0) == nil })
    else { return nil }
    return (
      Array(list.prefix(head.size)), ReceiptHead(size: head.size, root: head.root, text: text),
      source
    )
  }

  /// The advice if a repair does not help; nil if it does, or nothing is wrong. O(n).
  package var advice: String? {
    if findings.isEmpty { return nil }
    if signers.isEmpty, records.head != nil {
      return (isUntold ? "copy the folder of the keys from where it was signed; or " : "")
        + "if the key that signed it is to be trusted here, \(command: .keyImport) its public part"
    }
    guard recovery == nil else { return nil }
    return "only a backup may lead back (\(command: .restore)); without one, keep this store "
      + "as it is, and let what comes go into another (\(option: .store))"
  }

  /// Why the log accepts no additions; nil if it is as it was signed.
  package var refusal: SpoolError? {
    guard let first = findings.first else { return nil }
    let more = findings.count - 1
    return SpoolError(
      isUntold
        ? "the ledger of receipts cannot be checked"
        : "the ledger of receipts is not as it was signed",
      reason: "\(first.name): \(first.reason)"
        + (more == 0 ? "" : ", and \(more) more problem\(more == 1 ? "" : "s")"),
      advice: "\(command: .check) names all that is wrong; "
        + (advice
          ?? "stop what works in the store (a watch), and \(command: .repair) puts it back"),
      cause: .blocked)
  }
}

/// Identifies receipts by the log file. It is unsigned: if the list in the database is as signed,
/// the file was changed.
extension LogAudit {
  private mutating func add(_ name: String, _ problem: String) {
    // A withdrawal has no path; its text takes that place.
    let name = Withdrawal.isStated(in: name) ? "a withdrawal in \(records.databasePath)" : name
    let finding = Deviation(name, problem)
    if known.insert(finding).inserted { findings.append(finding) }
  }

  private mutating func signedHead(_ text: String?, at path: String) -> TreeHead? {
    guard let text else { return nil }
    do throws(SpoolError) {
      let head = try TreeHead(text, at: path, keys: keys)
      if let signer = head.signer { signers.append(signer) }
      return head
    } catch {
      let problem = "the signed head: \(error.reason ?? error.message)"
      add(path, problem)
      if error.kind == .missing { strangers.insert(Deviation(path, problem)) }
      return nil
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
    let count = records.logged.count
    if count < least {
      add(
        records.logPath,
        count == 0 ? "the list of receipts is missing" : "it ends after \(count) of \(head.size)")
    }
  }

  /// The database's leaves differ from the signed ones.
  private mutating func compareLeaves() {
    let (entries, logged) = (records.entries, records.logged)
    let own = Set(entries.compactMap(\.leaf))
    let noted = Set(logged.compactMap(\.leaf))
    func paths(of entries: [ReceiptEntry]) -> [Int: String] {
      Dictionary(entries.map { ($0.position, $0.path) }, uniquingKeysWith: { first, _ in first })
    }
    let (ownPaths, notedPaths) = (paths(of: entries), paths(of: logged))
    for line in logged {
      guard let leaf = line.leaf else {
        add(records.logPath, "line \(line.number) is not what was written")
        continue
      }
      if own.contains(leaf) { continue }
      let isThere = ownPaths[line.position] == line.path
      add(
        line.path,
        "its leaf, number \(line.number), was \(isThere ? "altered" : "deleted") in the ledger")
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

  /// The database's paths differ from the signed ones.
  private mutating func comparePaths() {
    for (entry, line) in zip(records.entries, records.logged) where entry.path != line.path {
      let other = Withdrawal.isStated(in: entry.path) ? "a withdrawal" : entry.path
      add(
        line.path, "its path was changed: the ledger has \(other), at number \(entry.number)")
    }
  }

  /// The database is as it was signed.
  private mutating func compareLines() {
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

  /// The log after a restored database has caught up with its files: they are ahead, and their
  /// head, signed by a known key, continues the database's list. Otherwise unchanged. O(n).
  private static func caughtUp(
    _ records: ReceiptRecords, _ keys: [VerifyingKey]
  ) -> ReceiptRecords {
    let (entries, logged) = (records.entries, records.logged)
    guard let copy = records.copy, copy != records.head?.text,
      let ahead = try? TreeHead(copy, at: records.headPath, keys: keys), ahead.size > entries.count,
      ahead.contradiction(in: logged) == nil, zip(entries, logged).allSatisfy(==)
    else { return records }
    if let head = records.head {
      guard let own = try? TreeHead(head.text, at: records.databasePath, keys: keys),
        own.size == entries.count, own.contradiction(in: entries) == nil
      else { return records }
    } else if !entries.isEmpty {
      return records
    }
    // An entry under no head was being added when the process died.
    let list = Array(logged.prefix(ahead.size))
    return ReceiptRecords(
      entries: list, logged: list,
      head: ReceiptHead(size: ahead.size, root: ahead.root, text: copy), copy: copy,
      databasePath: records.databasePath, logPath: records.logPath, headPath: records.headPath)
  }
}

extension TreeHead {
  /// How a log contradicts this head; nil if its beginning is as signed. O(n).
  package func contradiction(in entries: [ReceiptEntry]) -> LogContradiction? {
    guard size <= entries.count else { return .isShort }
    guard let edge = LogFrontier(entries.prefix(size)), edge.root == root else { return .leaves }
    // A head of an earlier version has no paths.
    return paths.map { $0 == edge.paths } ?? true ? nil : .paths
  }
}

/// How a log contradicts a signed head.
package enum LogContradiction: Hashable {
  /// Receipts are missing.
  case isShort
  /// The leaves have another root.
  case leaves
  /// The leaves are as signed, their paths are not.
  case paths
}

extension [ReceiptEntry] {
  /// The receipts among the entries, without withdrawals. O(n).
  package var receipts: [ReceiptEntry] { filter { !Withdrawal.isStated(in: $0.path) } }

  /// The last entry at each path. O(n).
  package var latest: [ExactText: ReceiptEntry] {
    Dictionary(map { (ExactText($0.path), $0) }, uniquingKeysWith: { $1 })
  }

  /// The withdrawals, by the receipt that each follows. O(n).
  /// - Parameter keys: the keys whose signatures count.
  package func withdrawals(signedBy keys: [VerifyingKey]) -> [Digest: Withdrawal] {
    var withdrawals: [Digest: Withdrawal] = [:]
    var known: Set<Digest> = []
    for entry in self {
      guard let leaf = entry.leaf else { continue }
      known.insert(leaf)
      guard Withdrawal.isStated(in: entry.path),
        MerkleTree.leaf([UInt8](entry.path.utf8)) == leaf,
        let withdrawal = Withdrawal(entry.path, keys: keys), known.contains(withdrawal.receipt)
      else { continue }
      withdrawals[withdrawal.receipt] = withdrawal
    }
    return withdrawals
  }
}

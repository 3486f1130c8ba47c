import Hashing
import PipelineModel
import Proof

/// Finds the receipts by what the log says otherwise. The log vouches for nothing by itself: where the
/// list in the database is what was signed, it is the log that was changed.
extension LedgerAudit {
  /// The database leads to other leaves than were signed.
  mutating func nameLeaves() {
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

  /// The database says of receipts that they lay elsewhere.
  mutating func namePaths() {
    for (entry, line) in zip(records.entries, records.logged) where entry.path != line.path {
      let other = Withdrawal.isStated(in: entry.path) ? "a withdrawal" : entry.path
      add(
        line.path, "its path was changed: the ledger has \(other), at number \(entry.number)")
    }
  }

  /// The database is as it was signed.
  mutating func nameLines() {
    let entries = records.entries
    if records.logged.count > size {
      add(records.logPath, "it has \(records.logged.count) receipts, and the ledger \(size)")
    }
    if zip(entries, records.logged).allSatisfy(==) { return }
    let own = Dictionary(entries.map { ($0.position, $0) }, uniquingKeysWith: { $1 })
    let count = findings.count
    // Those behind one that was put between are what they were, by their numbers.
    for (index, line) in records.logged.enumerated() where own[line.position] != line {
      let wanted = index < size ? ": \(entries[index].path)" : ""
      add(records.logPath, "line \(index + 1) is not what the ledger says\(wanted)")
    }
    if findings.count == count { add(records.logPath, "its lines are not in their order") }
  }
}

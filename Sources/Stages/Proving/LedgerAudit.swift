public import PipelineModel
public import Proof
import Hashing

/// Holds the ledger of receipts against its own signed heads and against the log beside it: whatever was
/// deleted, changed or slipped in is named. A pure value.
public struct LedgerAudit: Sendable {
  /// Something that is not as it was signed.
  public struct Finding: Hashable, Sendable {
    /// The culprit: a file of the store, or the receipt.
    public let name: String
    /// What is wrong with it.
    public let problem: String
  }

  /// Everything that is wrong; empty where the ledger is as it was signed.
  public private(set) var findings: [Finding] = []
  /// How many receipts there are.
  public let size: Int
  /// The keys that its heads are signed with.
  public private(set) var signers: [VerifyingKey] = []

  private let records: ReceiptRecords

  /// - Parameter keys: the keys whose signatures count.
  public init(_ records: ReceiptRecords, keys: [VerifyingKey]) {
    self.records = records
    size = records.entries.count
    let isContinued = records.entries.enumerated().allSatisfy {
      $0.offset == $0.element.position && $0.element.leaf != nil
    }
    let head = signedHead(records.head?.text, at: records.databasePath, keys)
    if let head, let row = records.head, head.size != row.size || head.root != row.root {
      add(records.databasePath, "the signed head in it is not the one that is noted beside it")
    }
    let copy = signedHead(records.copy, at: records.headPath, keys)
    if head == nil, findings.isEmpty, size > 0 {
      add(records.databasePath, "the signed head of the ledger is not in it")
    }
    // The files follow the database: whoever was killed at the very first receipt left none.
    if copy == nil, records.copy == nil, head != nil, size > 1 {
      add(records.headPath, "the signed head is missing")
    }
    var isBroken = !isContinued
    for (head, path) in [(head, records.databasePath), (copy, records.headPath)] {
      guard let head else { continue }
      if head.size > size {
        add(path, "\(head.size) receipts were signed, and the ledger holds \(size)")
        isBroken = true
      } else if root(of: records.entries, head.size) != head.root {
        add(path, "the first \(head.size) receipts have another root than was signed")
        isBroken = true
      }
    }
    nameCulprits(isBroken: isBroken, signed: [head, copy].compactMap { $0 })
  }

  private func root(of entries: [ReceiptEntry], _ size: Int) -> Digest? {
    let leaves = entries.prefix(size).compactMap(\.leaf)
    return leaves.count == size ? MerkleFrontier(leaves: leaves).root : nil
  }

  private mutating func signedHead(
    _ text: String?, at path: String, _ keys: [VerifyingKey]
  ) -> TreeHead? {
    guard let text else { return nil }
    do throws(ProofError) {
      let head = try TreeHead(text, at: path, keys: keys)
      if let signer = head.signer { signers.append(signer) }
      return head
    } catch {
      add(path, "the signed head: \(error.reason ?? error.message)")
      return nil
    }
  }

  /// Finds the receipts by what the log says otherwise. It vouches for nothing by itself: where the
  /// leaves in the database lead to the signed root, it is the log that was changed.
  private mutating func nameCulprits(isBroken: Bool, signed: [TreeHead]) {
    let (entries, logged) = (records.entries, records.logged)
    let own = Set(entries.compactMap(\.leaf))
    let noted = Set(logged.compactMap(\.leaf))
    if !isBroken {
      for (entry, line) in zip(entries, logged) where entry != line {
        add(
          records.logPath, "line \(line.position + 1) is not what the ledger says: \(entry.path)")
      }
      if logged.count > entries.count {
        add(records.logPath, "it has \(logged.count) receipts, and the ledger \(entries.count)")
      }
      // Both are written at once: what no head covers was put there by somebody else.
      let covered = signed.map(\.size).max() ?? 0
      for entry in entries.dropFirst(covered)
      where entry.leaf.map({ !noted.contains($0) }) ?? true && !signed.isEmpty {
        add(entry.path, "its leaf, number \(entry.position + 1), was slipped into the ledger")
      }
      return
    }
    for line in logged {
      guard let leaf = line.leaf else {
        add(records.logPath, "line \(line.position + 1) is not what was written")
        continue
      }
      if own.contains(leaf) { continue }
      let isThere = entries.contains { $0.position == line.position && $0.path == line.path }
      add(
        line.path,
        "its leaf, number \(line.position + 1), was \(isThere ? "altered" : "deleted") in the ledger"
      )
    }
    for entry in entries where !(entry.leaf.map { noted.contains($0) } ?? false) {
      if logged.contains(where: { $0.position == entry.position && $0.path == entry.path }) {
        continue
      }
      add(entry.path, "its leaf, number \(entry.position + 1), was slipped into the ledger")
    }
    let kept = entries.compactMap(\.leaf).filter { noted.contains($0) }
    let order = Dictionary(
      logged.compactMap { line in line.leaf.map { ($0, line.position) } },
      uniquingKeysWith: { one, _ in one })
    for (one, next) in zip(kept, kept.dropFirst())
    where (order[one] ?? 0) > (order[next] ?? 0) {
      let line = logged[order[one] ?? 0]
      add(line.path, "its leaf, number \(line.position + 1), stands elsewhere in the ledger")
    }
  }

  private mutating func add(_ name: String, _ problem: String) {
    // A withdrawal lies nowhere: its own text stands in the place of a path.
    let name = Withdrawal.isStated(in: name) ? "a withdrawal in \(records.databasePath)" : name
    let finding = Finding(name: name, problem: problem)
    if !findings.contains(finding) { findings.append(finding) }
  }
}

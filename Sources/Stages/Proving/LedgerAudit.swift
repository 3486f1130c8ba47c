public import PipelineModel
public import Proof
import Hashing

/// Holds the ledger of receipts against its own signed heads and against the log beside it: whatever was
/// deleted, changed or slipped in is named. A pure value.
///
/// Every receipt enters together with a head over it, and the files beside the database are at most one
/// receipt behind it: whatever no head covers was put there by other hands.
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
  /// How many entries there are.
  public let size: Int
  /// The keys that its heads are signed with.
  public private(set) var signers: [VerifyingKey] = []

  let records: ReceiptRecords

  /// - Parameter keys: the keys whose signatures count.
  public init(_ records: ReceiptRecords, keys: [VerifyingKey]) {
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
    var contradictions: Set<LedgerContradiction> = []
    for (index, (head, path)) in heads.enumerated() {
      // Most often the one beside the database is the same.
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

  /// Whoever was killed left the files one receipt behind, none at the very first.
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
    _ contradiction: LedgerContradiction, _ head: TreeHead, _ size: Int
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
    do throws(ProofError) {
      let head = try TreeHead(text, at: path, keys: keys)
      if let signer = head.signer { signers.append(signer) }
      return head
    } catch {
      add(path, "the signed head: \(error.reason ?? error.message)")
      return nil
    }
  }

  mutating func add(_ name: String, _ problem: String) {
    // A withdrawal lies nowhere: its own text stands in the place of a path.
    let name = Withdrawal.isStated(in: name) ? "a withdrawal in \(records.databasePath)" : name
    let finding = Finding(name: name, problem: problem)
    if !findings.contains(finding) { findings.append(finding) }
  }
}

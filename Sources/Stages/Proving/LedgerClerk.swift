internal import Synchronization
import Hashing
import PipelineModel
import Proof

/// Who adds receipts to the ledger and signs its head: it remembers the list's edge, so that the next
/// receipt costs no look at all that came before. Over a list that is not as it was signed it signs
/// nothing, and adds nothing to it.
final class LedgerClerk: Sendable {
  private struct Memory {
    let head: ReceiptHead
    let edge: LedgerEdge
    /// When all of the list was looked at last.
    let lookedAt: ContinuousClock.Instant

    var isFresh: Bool { lookedAt.duration(to: .now) < LedgerClerk.lookPause }
  }

  /// What came of a look at the list.
  private enum Answer {
    case nothing
    case known(Memory)
    case refused(StageError)
  }

  /// For so long nobody else is thought to have changed the list where its head and its length are what
  /// they were.
  private static let lookPause = Duration.seconds(30)

  private let ledger: any ReceiptLedger
  private let runs: any RunLog
  private let keys: KeyFolder
  private let memory = Mutex<Memory?>(nil)
  /// Whether the ledger was as it was signed when it was looked at last.
  private let isSound = Mutex(true)

  /// - Parameters:
  ///   - runs: asked where the files beside the list are not there.
  ///   - keys: the heads that one of the known ones signed count.
  init(_ ledger: any ReceiptLedger, runs: any RunLog, keys: KeyFolder) {
    self.ledger = ledger
    self.runs = runs
    self.keys = keys
  }

  /// Makes sure, before any work, that receipts can be added, and takes in what the files know beyond
  /// a database that came back from a backup. O(n) every half minute at most.
  /// - Throws: where the ledger is not as it was signed by a key that is known here.
  func prepare() throws(StageError) {
    if memory.withLock({ $0?.isFresh }) == true { return }
    let unvouched = Mutex<ReceiptRecords?>(nil)
    try update(
      adding: nil, at: "",
      looking: { records in
        if records.copy == nil { unvouched.withLock { $0 = records } }
      }
    ) { _ in nil }
    guard let records = unvouched.withLock({ $0 }) else { return }
    do throws(StageError) { try checkRuns(against: records) } catch {
      forget()
      throw error
    }
  }

  /// Adds a receipt, unless it is there. O(1), and O(n) every half minute.
  /// - Parameters:
  ///   - text: the receipt, byte for byte.
  ///   - now: the time, in seconds since 1970.
  /// - Throws: where the ledger is not as it was signed by a key that is known here.
  func add(
    _ text: String, at path: String, signedBy key: SigningKey, now: Double
  ) throws(StageError) {
    try prepare()
    try update(adding: MerkleTree.leaf(Array(text.utf8)), at: path) { edge in
      ReceiptHead(
        size: edge.tree.size, root: edge.tree.root, text: edge.head(at: now).signed(by: key))
    }
  }

  /// What was found to be wrong with the ledger when it was looked at last, if it still is.
  func obstacle() -> StageError? {
    if isSound.withLock({ $0 }) { return nil }
    do throws(StageError) { try prepare() } catch { return error }
    return nil
  }

  private func forget() {
    isSound.withLock { $0 = false }
    memory.withLock { $0 = nil }
  }

  /// - Parameters:
  ///   - look: told of the list where all of it is looked at, and is as it was signed.
  ///   - sign: gives the head over the list with what is added.
  private func update(
    adding leaf: Digest?, at path: String,
    looking look: @Sendable (ReceiptRecords) -> Void = { _ in },
    sign: @Sendable (LedgerEdge) -> ReceiptHead?
  ) throws(StageError) {
    let known = memory.withLock { $0.flatMap { $0.isFresh ? $0 : nil } }
    let answer = Mutex(Answer.nothing)
    do throws(StoreError) {
      try ledger.update(adding: leaf, at: path, knowing: known?.head) { growth in
        do throws(StageError) {
          let (update, memory) = try decide(growth, known, look, sign)
          answer.withLock { $0 = memory.map { .known($0) } ?? .nothing }
          return update
        } catch {
          answer.withLock { $0 = .refused(error) }
          return nil
        }
      }
    } catch {
      throw StageError(error)
    }
    let end = answer.withLock { $0 }
    switch end {
    case .nothing: break
    case .known(let after):
      memory.withLock { memory in
        if memory.map({ $0.edge.tree.size <= after.edge.tree.size }) ?? true { memory = after }
      }
    case .refused(let error):
      forget()
      throw error
    }
    isSound.withLock { $0 = true }
  }

  /// What is added to the list, and what is to be remembered of it then.
  private func decide(
    _ growth: ReceiptGrowth, _ known: Memory?, _ look: (ReceiptRecords) -> Void,
    _ sign: (LedgerEdge) -> ReceiptHead?
  ) throws(StageError) -> (ReceiptUpdate?, Memory?) {
    var edge = known?.edge ?? LedgerEdge()
    var head = known?.head
    var missing: [ReceiptEntry] = []
    if let records = growth.before {
      let whole = try sound(records)
      look(whole)
      edge = LedgerEdge(whole.entries) ?? LedgerEdge()
      head = whole.head
      missing = Array(whole.entries.dropFirst(records.entries.count))
    }
    let lookedAt = growth.before == nil ? known?.lookedAt ?? .now : .now
    let isThere = missing.contains { $0.leaf == growth.entry?.leaf }
    guard let new = growth.entry, !isThere else {
      let memory = head.map { Memory(head: $0, edge: edge, lookedAt: lookedAt) }
      return (missing.isEmpty ? nil : head.map { ReceiptUpdate(missing, under: $0) }, memory)
    }
    let entry = ReceiptEntry(position: edge.tree.size, leaf: new.leaf, path: new.path)
    guard edge.append(entry), let head = sign(edge) else {
      throw StageError("the receipt \(new.path) cannot enter the ledger", cause: .blocked)
    }
    return (
      ReceiptUpdate(missing + [entry], under: head),
      Memory(head: head, edge: edge, lookedAt: lookedAt)
    )
  }

  /// The list, with what the files know beyond the database, if it is as it was signed.
  private func sound(_ records: ReceiptRecords) throws(StageError) -> ReceiptRecords {
    let trusted = try keys.trusted()
    let whole = records.caughtUp(keys: trusted)
    if let refusal = LedgerAudit(whole, keys: trusted).refusal(keys: trusted) { throw refusal }
    return whole
  }

  /// Whether a list without files beside it, as it is after the very first receipt at most, is all that
  /// there was. O(runs).
  private func checkRuns(against records: ReceiptRecords) throws(StageError) {
    let runs: [RunRecord]
    do throws(StoreError) { runs = try self.runs.runs(limit: .max) } catch {
      throw StageError(error)
    }
    guard let missed = MissedReceipts(records, of: runs, isSound: true).all.first else { return }
    throw StageError(
      "the ledger of receipts is not the one that there was",
      reason: "\(missed.path): \(missed.problem); the files beside \(records.databasePath), which "
        + "would tell, are gone",
      advice: "put receipts.log and receipts.head.json back, or a backup (spool restore); without "
        + "one, keep this store as it is, and let what comes go into another (--store)",
      cause: .blocked)
  }
}

extension KeyFolder {
  /// The keys whose signatures count here; what is wrong with one of them, as a stage's trouble.
  func trusted() throws(StageError) -> [VerifyingKey] {
    do throws(ProofError) { return try knownKeys() } catch { throw StageError(error) }
  }
}

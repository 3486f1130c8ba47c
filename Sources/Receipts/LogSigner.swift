import PipelineModel
package import Platform
package import Proof
package import Store
internal import Synchronization

/// Appends receipts to the transparency log and signs its head. It caches the tree's frontier, so
/// that an append is O(1). It refuses to sign a log that is not as it was signed.
package final class LogSigner: Sendable {
  private struct Memory {
    let head: ReceiptHead
    let edge: LogFrontier
    /// When all of the log was verified last.
    let lookedAt: ContinuousClock.Instant

    var isFresh: Bool { lookedAt.duration(to: .now) < LogSigner.lookPause }
  }

  /// How long the cached tree is trusted while head and length are unchanged.
  private static let lookPause = Duration.seconds(30)

  private let log: TransparencyLog
  private let runs: RunRepository
  private let keys: KeyFolder
  private let memory = Mutex<Memory?>(nil)
  /// Whether the last verification succeeded.
  private let isSound = Mutex(true)

  /// - Parameter keys: the keys whose signatures count.
  package init(_ store: DiskStore, keys: KeyFolder) {
    log = store.receipts
    runs = store.runs
    self.keys = keys
  }

  /// Verifies, before any work, that receipts can be appended, and takes in what the files have
  /// beyond a restored database. O(n), at most every half minute.
  /// - Throws: if the log is not as it was signed by a known key.
  package func prepare() throws(SpoolError) {
    if memory.withLock({ $0?.isFresh }) == true { return }
    guard let audit = try update(adding: nil, at: "", sign: { _ in nil }),
      audit.records.copy == nil
    else { return }
    do throws(SpoolError) { try checkRuns(against: audit) } catch {
      forget()
      throw error
    }
  }

  /// Appends a receipt, unless it is there. O(1); O(n) every half minute.
  /// - Parameters:
  /// - text: the receipt, byte for byte.
  /// - now: in seconds since 1970.
  /// - Throws: if the log is not as it was signed by a known key.
  package func add(
    _ text: String, at path: String, signedBy key: SigningKey, now: Double
  ) throws(SpoolError) {
    try prepare()
    try update(adding: MerkleTree.leaf(Array(text.utf8)), at: path) { edge in
      ReceiptHead(
        size: edge.size, root: edge.root, text: edge.head(at: now).signed(by: key))
    }
  }

  /// The fault found by the last verification, if it persists.
  package func obstacle() -> SpoolError? {
    if isSound.withLock({ $0 }) { return nil }
    do throws(SpoolError) { try prepare() } catch { return error }
    return nil
  }

  private func forget() {
    isSound.withLock { $0 = false }
    memory.withLock { $0 = nil }
  }

  ///
  /// - Parameter sign: returns the head over the log with its additions.
  /// - Returns: the audit of all of the log; nil if the cached tree was trusted.
  @discardableResult
  private func update(
    adding leaf: Digest?, at path: String, sign: @Sendable (LogFrontier) -> ReceiptHead?
  ) throws(SpoolError) -> LogAudit? {
    let known = memory.withLock { $0.flatMap { $0.isFresh ? $0 : nil } }
    let answer = Mutex<Result<(memory: Memory?, audit: LogAudit?), SpoolError>>(
      .success((nil, nil)))
    try log.update(adding: leaf, at: path, knowing: known?.head) { growth in
      do throws(SpoolError) {
        let audit = try growth.before.map { (records) throws(SpoolError) in
          LogAudit(records, keys: try keys.knownKeys())
        }
        if let refusal = audit?.refusal { throw refusal }
        let (update, memory) = try decide(growth, audit, known, sign)
        answer.withLock { $0 = .success((memory, audit)) }
        return update
      } catch {
        answer.withLock { $0 = .failure(error) }
        return nil
      }
    }
    let (after, audit): (Memory?, LogAudit?)
    do throws(SpoolError) { (after, audit) = try answer.withLock { $0 }.get() } catch {
      forget()
      throw error
    }
    if let after {
      memory.withLock { memory in
        if memory.map({ $0.edge.size <= after.edge.size }) ?? true { memory = after }
      }
    }
    isSound.withLock { $0 = true }
    return audit
  }

  /// Decides what is appended, and what is cached after that.
  private func decide(
    _ growth: ReceiptGrowth, _ audit: LogAudit?, _ known: Memory?,
    _ sign: (LogFrontier) -> ReceiptHead?
  ) throws(SpoolError) -> (ReceiptUpdate?, Memory?) {
    var edge = known?.edge ?? LogFrontier()
    var head = known?.head
    var missing: [ReceiptEntry] = []
    if let audit, let records = growth.before {
      edge = LogFrontier(audit.records.entries) ?? LogFrontier()
      head = audit.records.head
      missing = Array(audit.records.entries.dropFirst(records.entries.count))
    }
    let lookedAt = audit == nil ? known?.lookedAt ?? .now : .now
    let isThere = missing.contains { $0.leaf == growth.entry?.leaf }
    guard let new = growth.entry, !isThere else {
      let memory = head.map { Memory(head: $0, edge: edge, lookedAt: lookedAt) }
      return (missing.isEmpty ? nil : head.map { ReceiptUpdate(missing, under: $0) }, memory)
    }
    let entry = ReceiptEntry(position: edge.size, leaf: new.leaf, path: new.path)
    guard edge.append(entry), let head = sign(edge) else {
      throw SpoolError("the receipt \(new.path) cannot enter the ledger", cause: .blocked)
    }
    return (
      ReceiptUpdate(missing + [entry], under: head),
      Memory(head: head, edge: edge, lookedAt: lookedAt)
    )
  }

  /// Whether a log without files, as after the very first receipt, is complete. O(runs).
  private func checkRuns(against audit: LogAudit) throws(SpoolError) {
    guard let missing = audit.missing(from: try runs.newest(limit: .max)).first else { return }
    throw SpoolError(
      "the ledger of receipts is not the one that there was",
      reason: "\(missing.name): \(missing.reason); the files beside \(audit.records.databasePath), "
        + "which would tell, are gone",
      advice: "put receipts.log and receipts.head.json back, or a backup "
        + "(\(command: .restore)); without one, keep this store as it is, and let what comes go into "
        + "another (\(option: .store))", cause: .blocked)
  }
}

extension LogFrontier {
  /// Nil if a position or a leaf is invalid. O(n).
  package init?(_ entries: some Collection<ReceiptEntry>) {
    self.init()
    for entry in entries { guard append(entry) else { return nil } }
  }

  /// Appends an entry.
  /// - Returns: whether its position is the next one.
  mutating func append(_ entry: ReceiptEntry) -> Bool {
    guard entry.position == size, let leaf = entry.leaf else { return false }
    append(leaf, at: entry.path)
    return true
  }
}

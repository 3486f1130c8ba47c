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

  /// The result of a check of the log.
  private enum Answer {
    case nothing
    case known(Memory)
    case refused(SpoolError)
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
    let unvouched = Mutex<ReceiptRecords?>(nil)
    try update(
      adding: nil, at: "",
      looking: { records in
        if records.copy == nil { unvouched.withLock { $0 = records } }
      }
    ) { _ in nil }
    guard let records = unvouched.withLock({ $0 }) else { return }
    do throws(SpoolError) { try checkRuns(against: records) } catch {
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
        size: edge.tree.size, root: edge.tree.root, text: edge.head(at: now).signed(by: key))
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
  /// - Parameters:
  /// - look: called with the log after a successful full verification.
  /// - sign: returns the head over the log with its additions.
  private func update(
    adding leaf: Digest?, at path: String,
    looking look: @Sendable (ReceiptRecords) -> Void = { _ in },
    sign: @Sendable (LogFrontier) -> ReceiptHead?
  ) throws(SpoolError) {
    let known = memory.withLock { $0.flatMap { $0.isFresh ? $0 : nil } }
    let answer = Mutex(Answer.nothing)
    try log.update(adding: leaf, at: path, knowing: known?.head) { growth in
      do throws(SpoolError) {
        let (update, memory) = try decide(growth, known, look, sign)
        answer.withLock { $0 = memory.map { .known($0) } ?? .nothing }
        return update
      } catch {
        answer.withLock { $0 = .refused(error) }
        return nil
      }
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

  /// Decides what is appended, and what is cached after that.
  private func decide(
    _ growth: ReceiptGrowth, _ known: Memory?, _ look: (ReceiptRecords) -> Void,
    _ sign: (LogFrontier) -> ReceiptHead?
  ) throws(SpoolError) -> (ReceiptUpdate?, Memory?) {
    var edge = known?.edge ?? LogFrontier()
    var head = known?.head
    var missing: [ReceiptEntry] = []
    if let records = growth.before {
      let whole = try sound(records)
      look(whole)
      edge = LogFrontier(whole.entries) ?? LogFrontier()
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
      throw SpoolError("the receipt \(new.path) cannot enter the ledger", cause: .blocked)
    }
    return (
      ReceiptUpdate(missing + [entry], under: head),
      Memory(head: head, edge: edge, lookedAt: lookedAt)
    )
  }

  /// The log, with what the files have beyond the database, if it is as it was signed.
  private func sound(_ records: ReceiptRecords) throws(SpoolError) -> ReceiptRecords {
    let trusted = try keys.trusted()
    let whole = records.caughtUp(keys: trusted)
    if let refusal = LogAudit(whole, keys: trusted).refusal(keys: trusted) { throw refusal }
    return whole
  }

  /// Whether a log without files, as after the very first receipt, is complete. O(runs).
  private func checkRuns(against records: ReceiptRecords) throws(SpoolError) {
    let runs: [RunRecord]
    runs = try self.runs.newest(limit: .max)
    guard let missed = MissingReceipts(records, of: runs, isSound: true).all.first else { return }
    throw SpoolError(
      "the ledger of receipts is not the one that there was",
      reason: "\(missed.path): \(missed.problem); the files beside \(records.databasePath), which "
        + "would tell, are gone",
      advice: "put receipts.log and receipts.head.json back, or a backup "
        + "(\(command: .restore)); without "
        + "one, keep this store as it is, and let what comes go into another (\(option: .store))",
      cause: .blocked)
  }
}

extension KeyFolder {
  /// The keys whose signatures count.
  package func trusted() throws(SpoolError) -> [VerifyingKey] {
    return try knownKeys()
  }
}

/// The frontier of the log: enough to append a receipt and to state a head.
package struct LogFrontier {
  private(set) var tree = MerkleFrontier()
  private(set) var paths = PathChain()

  package init() {}

  /// Nil if a position or a leaf is invalid. O(n).
  package init?(_ entries: some Collection<ReceiptEntry>) {
    for entry in entries { guard append(entry) else { return nil } }
  }

  /// Appends an entry.
  /// - Returns: whether its position is the next one.
  package mutating func append(_ entry: ReceiptEntry) -> Bool {
    guard entry.position == tree.size, let leaf = entry.leaf else { return false }
    tree.append(leaf)
    paths.append(entry.path)
    return true
  }

  package func head(at time: Double) -> TreeHead {
    TreeHead(size: tree.size, root: tree.root, paths: paths.digest, time: time)
  }
}

extension TreeHead {
  /// How a log contradicts this head; nil if its beginning is as signed. O(n).
  package func contradiction(in entries: [ReceiptEntry]) -> LogContradiction? {
    guard size <= entries.count else { return .isShort }
    guard let edge = LogFrontier(entries.prefix(size)), edge.tree.root == root else {
      return .leaves
    }
    // A head of an earlier version has no paths.
    return paths.map { $0 == edge.paths.digest } ?? true ? nil : .paths
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

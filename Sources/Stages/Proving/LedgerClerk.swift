internal import Synchronization
import Hashing
import PipelineModel
import Proof

/// Who adds receipts to the ledger and signs its head: it remembers the list's edge, so that the next
/// receipt costs no look at all that came before. Over a list that is not as it was signed it signs
/// nothing, and adds nothing to it.
final class LedgerClerk: Sendable {
  private struct Memory {
    var head: ReceiptHead
    var edge: LedgerEdge
  }

  /// What became of one receipt.
  private enum Answer {
    case nothing
    case added(Memory)
    case refused(StageError)
  }

  private let ledger: any ReceiptLedger
  private let keys: KeyFolder
  private let memory = Mutex<Memory?>(nil)
  /// Whether the ledger was as it was signed when it was looked at last.
  private let isSound = Mutex(true)

  /// - Parameter keys: the heads that one of the known ones signed count.
  init(_ ledger: any ReceiptLedger, keys: KeyFolder) {
    self.ledger = ledger
    self.keys = keys
  }

  /// Adds a receipt, unless it is there.
  /// - Parameters:
  ///   - text: the receipt, byte for byte.
  ///   - now: the time, in seconds since 1970.
  /// - Throws: where the ledger is not as it was signed by a key that is known here.
  func add(
    _ text: String, at path: String, signedBy key: SigningKey, now: Double
  ) throws(StageError) {
    let known = memory.withLock { $0 }
    let answer = Mutex(Answer.nothing)
    do throws(StoreError) {
      try ledger.append(
        receipt: MerkleTree.leaf(Array(text.utf8)), at: path, knowing: known?.head
      ) { growth in
        do throws(StageError) {
          var edge = try edge(growth, known)
          guard let entry = growth.entry, edge.append(entry) else { return nil }
          let head = ReceiptHead(
            size: edge.tree.size, root: edge.tree.root,
            text: edge.head(at: now).signed(by: key))
          answer.withLock { $0 = .added(Memory(head: head, edge: edge)) }
          return head
        } catch {
          answer.withLock { $0 = .refused(error) }
          return nil
        }
      }
    } catch {
      throw StageError(error)
    }
    let end = answer.withLock { $0 }
    if case .refused = end { isSound.withLock { $0 = false } }
    switch end {
    case .nothing: break
    case .refused(let error): throw error
    case .added(let after):
      memory.withLock { memory in
        if memory.map({ $0.edge.tree.size < after.edge.tree.size }) ?? true { memory = after }
      }
    }
  }

  /// What was found to be wrong with the ledger when a receipt was to be added, if it still is.
  func obstacle() -> StageError? {
    if isSound.withLock({ $0 }) { return nil }
    do {
      let trusted = try keys.knownKeys()
      let records = try ledger.receiptRecords()
      let refusal = LedgerAudit(records, keys: trusted).refusal(keys: trusted)
      isSound.withLock { $0 = refusal == nil }
      return refusal
    } catch let error as ProofError {
      return StageError(error)
    } catch {
      return (error as? StoreError).map { StageError($0) }
    }
  }

  /// The edge of the list as it is.
  private func edge(_ growth: ReceiptGrowth, _ known: Memory?) throws(StageError) -> LedgerEdge {
    guard let records = growth.before else { return known?.edge ?? LedgerEdge() }
    let trusted: [VerifyingKey]
    do throws(ProofError) { trusted = try keys.knownKeys() } catch { throw StageError(error) }
    if let refusal = LedgerAudit(records, keys: trusted).refusal(keys: trusted) { throw refusal }
    return LedgerEdge(records.entries) ?? LedgerEdge()
  }
}

public import PipelineModel
public import Proof
import Hashing

/// How a ledger of receipts was when its head was signed last, as far as the database or the log beside
/// it still have it. A pure value.
///
/// The longest head that a known key signed decides. Where neither list leads to it, nothing can be
/// mended: a shorter head would make the ledger forget.
public struct LedgerMending: Sendable {
  /// Which of the two lists leads to the signed head.
  public enum Witness: Hashable, Sendable {
    /// The rows of the database.
    case database
    /// The log beside it.
    case log
  }

  /// The receipts that were signed, in order.
  public let entries: [ReceiptEntry]
  /// The signed head over them.
  public let head: ReceiptHead
  /// Where they were found.
  public let witness: Witness

  /// Looks for the list that was signed. O(n).
  /// - Parameter keys: the keys whose signatures count.
  /// - Returns: nil where no head is signed, or neither list leads to it.
  public init?(_ records: ReceiptRecords, keys: [VerifyingKey]) {
    let texts = [
      (records.head?.text, records.databasePath), (records.copy, records.headPath),
    ]
    let heads = texts.compactMap { text, path in
      text.flatMap { text in (try? TreeHead(text, at: path, keys: keys)).map { ($0, text) } }
    }
    guard let (head, text) = heads.max(by: { $0.0.size < $1.0.size }) else { return nil }
    let lists: [(Witness, [ReceiptEntry])] = [
      (.database, records.entries), (.log, records.logged),
    ]
    guard let (witness, list) = lists.first(where: { head.contradiction(in: $0.1) == nil }) else {
      return nil
    }
    entries = Array(list.prefix(head.size))
    self.head = ReceiptHead(size: head.size, root: head.root, text: text)
    self.witness = witness
  }
}

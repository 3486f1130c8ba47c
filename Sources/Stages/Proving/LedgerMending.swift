public import PipelineModel
public import Proof
import Hashing

/// How a ledger of receipts was when its head was signed last, as far as the database or the log beside
/// it still have it. A pure value.
///
/// The longest head that a known key signed decides. Where neither list leads to its root, nothing can
/// be mended: a shorter head would make the ledger forget.
public struct LedgerMending: Sendable {
  /// Which of the two lists leads to the signed root.
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
  /// - Returns: nil where no head is signed, or neither list leads to its root.
  public init?(_ records: ReceiptRecords, keys: [VerifyingKey]) {
    let texts = [
      (records.head?.text, records.databasePath), (records.copy, records.headPath),
    ]
    let heads = texts.compactMap { text, path in
      text.flatMap { text in
        (try? TreeHead(text, at: path, keys: keys)).map {
          ReceiptHead(size: $0.size, root: $0.root, text: text)
        }
      }
    }
    guard let head = heads.max(by: { $0.size < $1.size }) else { return nil }
    let lists: [(Witness, [ReceiptEntry])] = [
      (.database, records.entries), (.log, records.logged),
    ]
    for (witness, list) in lists {
      let signed = Array(list.prefix(head.size))
      guard Self.root(of: signed) == head.root, signed.count == head.size else { continue }
      self.entries = signed
      self.head = head
      self.witness = witness
      return
    }
    return nil
  }

  /// The root over a list; nil where a place or a leaf in it is wrong.
  private static func root(of entries: [ReceiptEntry]) -> Digest? {
    let leaves = entries.enumerated().compactMap { $0 == $1.position ? $1.leaf : nil }
    return leaves.count == entries.count ? MerkleFrontier(leaves: leaves).root : nil
  }
}

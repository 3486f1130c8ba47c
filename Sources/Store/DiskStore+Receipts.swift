public import Hashing
public import PipelineModel

extension DiskStore: ReceiptLedger {
  /// Adds a receipt at the end, unless it is there: one statement, so that no two ever get one place.
  public func append(receipt leaf: Digest, at path: String) throws(StoreError) {
    try withDatabase { (database) throws(StoreError) in
      _ = try database.run(
        """
        INSERT INTO receipts (position, leaf, path)
        SELECT (SELECT count(*) FROM receipts), ?1, ?2
        WHERE NOT EXISTS (SELECT 1 FROM receipts WHERE leaf = ?1)
        """, [.text(leaf.hex), .text(path)], to: "record a receipt in")
    }
  }

  /// The leaves of all receipts, in the order in which they were added. O(n).
  public func receiptLeaves() throws(StoreError) -> [Digest] {
    try withDatabase { (database) throws(StoreError) in
      try database.run(
        "SELECT leaf FROM receipts ORDER BY position", to: "read receipts in"
      ).compactMap { $0.first?.text.flatMap(Digest.init(hex:)) }
    }
  }
}

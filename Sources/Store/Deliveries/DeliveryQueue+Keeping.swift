internal import PipelineModel
package import Platform

/// What the store keeps for deliveries.
extension DeliveryQueue {
  /// The digests of all files that are not delivered, and of the documents about files that are: nothing
  /// frees what the store has of them. O(n).
  static func wanted(in database: inout Database) throws(SpoolError) -> Set<Digest> {
    let rows = try database.run(
      "SELECT digest FROM deliveries WHERE state <> 'delivered' OR role IN (\(documents))",
      to: reading)
    return Set(rows.compactMap { $0[0].text.flatMap(Digest.init(hex:)) })
  }

  /// Whether a file with these bytes is not delivered yet, or a document. O(log n).
  static func wants(_ digest: Digest, in database: inout Database) throws(SpoolError) -> Bool {
    for condition in ["state <> 'delivered'", "made_of IS NOT NULL"] {
      let rows = try database.run(
        "SELECT 1 FROM deliveries WHERE digest = ? AND \(condition) LIMIT 1",
        [.text(digest.hex)], to: reading)
      if !rows.isEmpty { return true }
    }
    return false
  }

  /// The roles of documents, as SQL has them in a list. Backups of older formats have none.
  private static var documents: String {
    [DeliveryRequest.Content.metadata, .confirmation].map { "'\($0.rawValue)'" }
      .joined(separator: ", ")
  }

  /// The paths outside the store of all files that are not delivered. O(n).
  static func wantedPaths(in database: inout Database) throws(SpoolError) -> Set<String> {
    let rows = try database.run(
      "SELECT file FROM deliveries WHERE state <> 'delivered' AND file IS NOT NULL", to: reading)
    return Set(rows.compactMap { $0[0].text })
  }

  /// Where the encrypted copy of a delivery lies until it is delivered. Its folder is made.
  package func encryptedPath(of id: Int64) throws(SpoolError) -> String {
    try files.makeFolders(layout.encrypted)
    return "\(layout.encrypted)/\(id)"
  }

  /// Removes the encrypted copy of a delivery, if there is one.
  package func removeEncrypted(of id: Int64) throws(SpoolError) {
    let path = "\(layout.encrypted)/\(id)"
    try doing("remove", path) { () throws(SystemError) in try files.unlinkIfThere(path) }
  }

  /// Removes encrypted copies that nothing sends any more. O(copies).
  func removeEncrypted() throws(SpoolError) {
    let wanted = Set(
      try matching(Query(states: [.waiting, .uploading])).map { String($0.id) })
    for name in FilePath.names(in: layout.encrypted) where !wanted.contains(name) {
      let path = "\(layout.encrypted)/\(name)"
      try doing("remove", path) { () throws(SystemError) in try files.unlinkIfThere(path) }
    }
  }
}

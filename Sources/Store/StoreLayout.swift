internal import Hashing

/// Where in the store's folder everything lies.
struct StoreLayout: Sendable {
  /// The store's folder.
  let root: String

  var artifacts: String { root + "/artifacts" }
  var drafts: String { root + "/drafts" }
  var database: String { root + "/spool.sqlite" }
  var records: String { root + "/records" }
  var backups: String { root + "/backups" }

  /// The folder of the artifacts whose digests begin with the same two digits, so that no folder
  /// grows too long to list.
  func shard(of digest: Digest) -> String { "\(artifacts)/\(digest.hex.prefix(2))" }

  /// The place of one artifact.
  func artifact(_ digest: Digest) -> String { "\(shard(of: digest))/\(digest.hex)" }
}

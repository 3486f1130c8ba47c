internal import Hashing

/// Where in the store's folder everything lies.
struct StoreLayout: Sendable {
  /// The store's folder.
  let root: String

  var artifacts: String { root + "/artifacts" }
  var drafts: String { root + "/drafts" }
  var damaged: String { root + "/damaged" }
  var work: String { root + "/work" }
  var database: String { root + "/spool.sqlite" }
  /// The index of words; see ``SearchIndex``.
  var search: String { root + "/search.sqlite" }
  var records: String { root + "/records" }
  var backups: String { root + "/backups" }
  var ballast: String { root + "/ballast" }
  /// A line for each receipt that was written.
  var receiptLog: String { root + "/receipts.log" }
  /// The signed head of the tree of receipts.
  var receiptHead: String { root + "/receipts.head.json" }
  /// Locked by whoever asks for time stamps.
  var stamping: String { root + "/stamping.lock" }

  /// Whether something that looks like a store is there.
  var isThere: Bool {
    [database, artifacts, records].contains { (try? FileStamp(at: $0)) != nil }
  }

  /// The folder of the artifacts whose digests begin with the same two digits, so that no folder
  /// grows too long to list.
  func shard(of digest: Digest) -> String { "\(artifacts)/\(digest.hex.prefix(2))" }

  /// The place of one artifact.
  func artifact(_ digest: Digest) -> String { "\(shard(of: digest))/\(digest.hex)" }

  /// The folder of the unfinished files of a piece of work. The generation says which, where the
  /// work was begun anew beside a process that had frozen.
  func work(_ work: Digest, generation: Int64) -> String {
    "\(self.work)/\(Self.workName(work.hex, generation: generation))"
  }

  /// Whether `workName` could have given this.
  static func isWorkName(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 2 && parts[0].utf8.count == 32 && parts[0].allSatisfy(\.isHexDigit)
      && Int64(parts[1]) != nil
  }

  /// The name of that folder, for work whose digest has these digits.
  static func workName(_ hex: String, generation: Int64) -> String {
    "\(hex.prefix(32)).\(generation)"
  }
}

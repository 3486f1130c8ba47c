import Glibc
package import Platform

/// The paths of the store's files.
struct StoreLayout: Sendable {
  let root: String

  var artifacts: String { root + "/artifacts" }
  var drafts: String { root + "/drafts" }
  var damaged: String { root + "/damaged" }
  var work: String { root + "/work" }
  /// Copies for destinations that may not read what they keep.
  var encrypted: String { root + "/encrypted" }
  var database: String { "\(root)/\(DiskStore.databaseName)" }
  var backups: String { root + "/backups" }
  var ballast: String { root + "/ballast" }
  /// Artifacts whose records were lost with the database, before and after a repair accepted that.
  var lostRecords: String { root + "/lost-records" }
  var acceptedLoss: String { root + "/lost-records.accepted" }
  /// An empty file; a check that found no damage was the last to touch it.
  var lastCheck: String { root + "/checked" }
  /// What was found damaged, and is still in its place.
  var knownDamage: String { root + "/damage.json" }
  /// An empty file; the last collection that ran by itself touched it.
  var lastCollection: String { root + "/collected" }
  /// The transparency log beside the database.
  var receiptLog: String { root + "/receipts.log" }
  /// Its signed tree head.
  var receiptHead: String { root + "/receipts.head.json" }
  /// The lock of delivering.
  var delivering: String { root + "/delivering.lock" }
  /// The lock of time stamping.
  var stamping: String { root + "/stamping.lock" }

  /// Whether there is something like a store.
  var isThere: Bool {
    [database, artifacts].contains { (try? FileStamp(at: $0)) != nil }
      || FilePath.names(in: root).contains { $0 == "records" || $0.hasPrefix("changes-") }
  }

  /// Why the user may not look into the store's folder; nil if nothing forbids it. A store is made for
  /// its owner alone.
  var refusalToRead: SpoolError? {
    guard let cause = FilePath.obstacle(to: root + "/", R_OK | X_OK),
      SystemError(cause.code).kind == .denied
    else { return nil }
    return SpoolError(
      "read the store", root, reason: cause.words,
      advice: "become the user who owns it, or let that user open it for reading with chmod -R "
        + "a+rX \(ShellWords.line([root])); \(option: .store) names another store",
      kind: .denied)
  }

  /// The folder of artifacts by the first two digits of their digests, which limits its length.
  func shard(of digest: Digest) -> String { "\(artifacts)/\(digest.hex.prefix(2))" }

  func artifact(_ digest: Digest) -> String { "\(shard(of: digest))/\(digest.hex)" }

  /// The folder of unfinished work. The generation changes when the work starts over beside a
  /// stopped process.
  func work(_ work: Digest, generation: Int64) -> String {
    "\(self.work)/\(Self.workName(work.hex, generation: generation))"
  }

  /// Whether `workName` could have made this name.
  static func isWorkName(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 2 && parts[0].utf8.count == 32 && parts[0].allSatisfy(\.isHexDigit)
      && Int64(parts[1]) != nil
  }

  /// The name of that folder, from the digits of the work's digest.
  static func workName(_ hex: String, generation: Int64) -> String {
    "\(hex.prefix(32)).\(generation)"
  }
}

/// Determines the store's path.
package enum StoreLocation {
  /// The `--store` option, else `SPOOL_STORE`, else `spool` in the user's data folder
  /// (`XDG_DATA_HOME`, else `~/.local/share`).
  package static func resolve(option: String?, environment: [String: String]) -> String {
    named(option, environment)
      ?? (UserAccount.dataFolder(environment) ?? "/.local/share") + "/spool"
  }

  /// The store that the user names; nil if none is named.
  private static func named(_ option: String?, _ environment: [String: String]) -> String? {
    if let option, !option.isEmpty { return option }
    return environment["SPOOL_STORE"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Throws where the store's folder would be in the user's home, and the user has none, as in a
  /// container.
  package static func requireHome(
    option: String?, environment: [String: String]
  ) throws(SpoolError) {
    guard named(option, environment) == nil, UserAccount.dataFolder(environment) == nil else {
      return
    }
    throw SpoolError(
      "cannot tell where the store lies",
      reason: "HOME is not set, and the system's list of users has no user \(getuid())",
      advice: "name the store with \(option: .store) or SPOOL_STORE", cause: .environment)
  }
}

extension StoreLayout {
  /// The user who owns the store and could not read what this process, as root's, writes there; nil if
  /// there is none. On a file system that gives root's files to others, all are one user's.
  var ownerBesidesRoot: uid_t? {
    guard geteuid() == 0, let owner = (try? FileStamp(following: database))?.owner, owner != 0,
      let trial = try? FileOperations.uncounted.open(
        root, O_RDWR | __O_TMPFILE | O_DIRECTORY, mode: 0o600),
      (try? trial.stamp)?.owner == 0
    else { return nil }
    return owner
  }

  /// Why root may not write in the store; nil if nothing forbids it.
  fileprivate var refusalToRoot: SpoolError? {
    guard let owner = ownerBesidesRoot else { return nil }
    let user = UserAccount.name(of: owner) ?? "#\(owner)"
    return SpoolError(
      "write in the store", root,
      reason: "it belongs to the user \(user), who could not read what root writes there",
      advice: "run it as that user, with sudo -u '\(user)'; or, if root is to own the store, first "
        + "chown -R root \(ShellWords.line([root]))", kind: .denied)
  }
}

extension FilePath {
  /// Throws if the folder of a store at `path` exists and is not writable. SQLite reports a missing file on
  /// read-only media.
  static func requireWritable(_ path: String) throws(SpoolError) {
    let layout = StoreLayout(root: path)
    if let refusal = layout.refusalToRoot { throw refusal }
    // The slash asks for a folder; `make` reports a file in its place.
    guard let cause = FilePath.obstacle(to: path + "/", W_OK | X_OK) else { return }
    if let refusal = layout.refusalToRead { throw refusal }
    let way: String
    switch cause.code {
    case EROFS: way = "mount it so that it can be written"
    case EACCES, EPERM: way = "check who owns it and its permissions"
    default: return
    }
    throw SpoolError(
      "write in the store", path, reason: cause.words,
      advice: "\(way), or name another store with \(option: .store); "
        + "\(command: .runs), \(command: .check), status and why read this one as it is")
  }
}

import Glibc
import PipelineModel
import Platform

/// The artifacts whose records were lost together with the database and its change log, and are in no
/// backup. What they are is unknown, and the recordings of an inbox may be among them.
///
/// They are listed in a file when another database takes the place of the lost one, so that no
/// later command takes them for files that are not needed. A repair accepts the loss; the list stays
/// until a collection frees them on request.
struct LostRecords: Sendable {
  let layout: StoreLayout
  let files: FileOperations

  /// The listed artifacts. O(n).
  var digests: Set<Digest> {
    Set([layout.lostRecords, layout.acceptedLoss].flatMap(digests))
  }

  /// Whether nothing is lost, or a repair has accepted it.
  var isAccepted: Bool { (try? FileStamp(at: layout.lostRecords)) == nil }

  /// Lists what a new database does not name, durably; that of an earlier loss stays listed.
  /// - Parameters:
  ///   - database: the one that is about to take the place of the old one.
  ///   - isAccepted: whether a check is to call the store sound all the same.
  /// - Returns: how many artifacts it does not name.
  func list(
    unnamedIn database: inout Database, isAccepted: Bool
  ) throws(SpoolError) -> Int {
    var unnamed: Set<Digest> = []
    // A backup of an older format may lack a table; what it names then is listed too.
    let originals = (try? RecordingTable.originals(in: &database)) ?? []
    for file in ArtifactFile.all(in: layout).files {
      if originals.contains(file.digest) { continue }
      if try !CheckpointTable.names(file.digest, in: &database) { unnamed.insert(file.digest) }
    }
    if unnamed.isEmpty { return 0 }
    let path = isAccepted ? layout.acceptedLoss : layout.lostRecords
    let text = unnamed.union(digests(in: path)).sorted().map { $0.hex + "\n" }.joined()
    try doing("list the files without a record in", path) { () throws(SystemError) in
      try files.replace(path, with: Array(text.utf8), draft: path + ".part", mode: 0o644)
      try files.flushFolder(layout.root)
    }
    return unnamed.count
  }

  /// Accepts the loss: the list stays.
  func accept() throws(SpoolError) {
    let text = digests.sorted().map { $0.hex + "\n" }.joined()
    try doing("accept the loss of records in", layout.acceptedLoss) { () throws(SystemError) in
      try files.replace(
        layout.acceptedLoss, with: Array(text.utf8), draft: layout.acceptedLoss + ".part",
        mode: 0o644)
      try files.unlinkIfThere(layout.lostRecords)
      try files.flushFolder(layout.root)
    }
  }

  /// Deletes the list.
  func forget() throws(SpoolError) {
    for path in [layout.lostRecords, layout.acceptedLoss] {
      try doing("delete", path) { () throws(SystemError) in try files.unlinkIfThere(path) }
    }
  }

  private func digests(in path: String) -> [Digest] {
    guard let bytes = try? files.bytes(of: path, limit: Self.byteLimit) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap {
      Digest(hex: String($0))
    }
  }

  /// Room for four million artifacts.
  private static let byteLimit: Int64 = 256 << 20
}

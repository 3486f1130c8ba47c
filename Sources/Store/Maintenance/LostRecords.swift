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

  /// The listed artifacts; all there are if a list is damaged. O(n).
  var digests: Set<Digest> {
    isDamaged
      ? Set(ArtifactFile.all(in: layout).files.map(\.digest))
      : Set(lists.compactMap(list).joined())
  }

  /// Whether a list is not what was written.
  var isDamaged: Bool {
    lists.contains { (try? FileStamp(at: $0)) != nil && list(in: $0) == nil }
  }

  private var lists: [String] { [layout.lostRecords, layout.acceptedLoss] }

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
    let originals = ((try? RecordingTable.originals(in: &database)) ?? []).union(
      (try? DeliveryQueue.wanted(in: &database)) ?? [])
    for file in ArtifactFile.all(in: layout).files {
      if originals.contains(file.digest) { continue }
      if try !CheckpointTable.names(file.digest, in: &database) { unnamed.insert(file.digest) }
    }
    if unnamed.isEmpty { return 0 }
    let path = isAccepted ? layout.acceptedLoss : layout.lostRecords
    let text = Self.text(of: unnamed.union(list(in: path) ?? Array(digests)))
    try doing("list the files without a record in", path) { () throws(SystemError) in
      try files.replace(path, with: Array(text.utf8), draft: path + ".part", mode: 0o644)
      try files.flushFolder(layout.root)
    }
    return unnamed.count
  }

  /// Accepts the loss: the list stays.
  func accept() throws(SpoolError) {
    let text = Self.text(of: digests)
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

  /// A digest on each line, and behind a mark that of all lines before it.
  private static func text(of digests: Set<Digest>) -> String {
    let lines = digests.sorted().map { $0.hex + "\n" }.joined()
    return lines + mark + SHA256.digest(of: lines).hex + "\n"
  }

  /// The digests in a file; none if it is not there, nil if it is not what was written. Earlier versions
  /// wrote no digest of the lines.
  private func list(in path: String) -> [Digest]? {
    guard (try? FileStamp(at: path)) != nil else { return [] }
    guard let bytes = try? files.bytes(of: path, limit: Self.byteLimit) else { return nil }
    var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    if let last = lines.last, last.hasPrefix(Self.mark) {
      lines.removeLast()
      let text = lines.map { $0 + "\n" }.joined()
      guard last == Self.mark + SHA256.digest(of: text).hex else { return nil }
    }
    let digests = lines.compactMap { Digest(hex: $0) }
    return digests.count == lines.count ? digests : nil
  }

  private static let mark = "all "

  /// Room for four million artifacts.
  private static let byteLimit: Int64 = 256 << 20
}

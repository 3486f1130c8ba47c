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

  /// The artifacts that a database does not name. Of a backup of an older format, which may lack a
  /// table, what it names there counts as unnamed too. O(runs + files).
  func unnamed(in database: inout Database) throws(SpoolError) -> Set<Digest> {
    let named = ((try? RecordingTable.originals(in: &database)) ?? [])
      .union((try? DeliveryQueue.wanted(in: &database)) ?? [])
      .union((try? RunTable.permanentArtifacts(in: &database)) ?? [])
    var unnamed: Set<Digest> = []
    for file in ArtifactFile.all(in: layout).files where !named.contains(file.digest) {
      if try !CheckpointTable.names(file.digest, in: &database) { unnamed.insert(file.digest) }
    }
    return unnamed
  }

  /// Lists what a database does not name that is about to take the place of the old one, durably; that of
  /// an earlier loss stays listed.
  /// - Parameter isAccepted: whether a check is to call the store sound all the same.
  func list(_ unnamed: Set<Digest>, isAccepted: Bool) throws(SpoolError) {
    if unnamed.isEmpty { return }
    let path = isAccepted ? layout.acceptedLoss : layout.lostRecords
    try doing("list the files without a record in", path) { () throws(SystemError) in
      try write(unnamed.union(list(in: path) ?? Array(digests)), to: path)
      try files.flushFolder(layout.root)
    }
  }

  /// Those of the unnamed artifacts of a backup that a check reports when it is in the place of the
  /// database: all but those that a repair has accepted if the change log is lost too, else what was lost
  /// before and is not in the backup either.
  func left(of unnamed: Set<Digest>, isLogLost: Bool) -> Set<Digest> {
    let accepted = list(in: layout.acceptedLoss) ?? []
    if isLogLost { return unnamed.subtracting(accepted) }
    if isAccepted { return [] }
    let lost = list(in: layout.lostRecords)
    return unnamed.intersection(lost ?? Array(unnamed)).subtracting(accepted)
  }

  /// Accepts the loss: the list stays.
  /// - Parameter left: those of which a check still says that their records are lost.
  func accept(allBut left: Set<Digest> = []) throws(SpoolError) {
    let accepted = digests.subtracting(left)
    try doing("accept the loss of records in", layout.acceptedLoss) { () throws(SystemError) in
      if !accepted.isEmpty || isDamaged { try write(accepted, to: layout.acceptedLoss) }
      if left.isEmpty {
        try files.unlinkIfThere(layout.lostRecords)
      } else {
        try write(left, to: layout.lostRecords)
      }
      try files.flushFolder(layout.root)
    }
  }

  /// What a check says of the loss until a repair has accepted it; nil if there is nothing to say. An empty
  /// database, or an older one, in the place of the lost one hides it.
  func finding(in database: inout Database) throws(SpoolError) -> InspectionFinding? {
    if isDamaged {
      return InspectionFinding(
        .lostRecords, layout.acceptedLoss,
        problem: "the list of the files without a record is not what was written",
        meaning: "until it is repaired, nothing that is in the store counts as unneeded")
    }
    if isAccepted { return nil }
    let count = try unnamed(in: &database).intersection(list(in: layout.lostRecords) ?? []).count
    let files =
      count == 0 ? "" : ": \(count == 1 ? "a file has" : "\(count) files have") none any more"
    return InspectionFinding(
      .lostRecords, layout.database,
      problem: "records were lost with the database and its change log\(files)",
      meaning:
        "runs and recordings of inboxes may be missing too; all files are kept, for recordings "
        + "may be among them; \(command: .restore) FILE puts a newer backup in place, if there is one"
    )
  }

  /// Deletes the list.
  func forget() throws(SpoolError) {
    for path in [layout.lostRecords, layout.acceptedLoss] {
      try doing("delete", path) { () throws(SystemError) in try files.unlinkIfThere(path) }
    }
  }

  private func write(_ digests: Set<Digest>, to path: String) throws(SystemError) {
    try files.replace(
      path, with: Array(Self.text(of: digests).utf8), draft: path + ".part", mode: 0o644)
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

internal import PipelineModel
package import Platform

/// The damaged artifacts that a verification found and left in their places, kept in a file beside the
/// database: `spool status` names them without reading any artifact. A file that was replaced since is
/// another version, and counts as unknown.
struct KnownDamage: Codable, Sendable {
  private struct Entry: Codable {
    let artifact: String
    let inode: Int64
    let byteCount: Int64
    let modified: Int64
    /// In seconds since 1970.
    let foundAt: Double

    /// Not the time of change: a second name for the file changes that.
    func isOf(_ stamp: FileStamp) -> Bool {
      (inode, byteCount, modified) == (stamp.inode, stamp.byteCount, stamp.modified)
    }
  }

  private var entries: [Entry] = []

  init() {}

  /// What is remembered; empty if that cannot be read.
  init(of layout: StoreLayout) {
    let bytes = try? FileOperations.system.bytes(of: layout.knownDamage)
    let stored = bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    // Earlier versions wrote it without a checksum.
    let text = stored.hasPrefix("{") ? stored : SealedText.open(stored)
    self = text.flatMap { try? StoredJSON.decode($0) } ?? Self()
    entries.removeAll { entry in
      guard let digest = Digest(hex: entry.artifact),
        let stamp = try? FileStamp(at: layout.artifact(digest))
      else { return true }
      return !entry.isOf(stamp)
    }
  }

  var isEmpty: Bool { entries.isEmpty }
  var artifacts: [Digest] { entries.compactMap { Digest(hex: $0.artifact) } }

  /// When an artifact was found damaged, in seconds since 1970; nil if it is not known to be.
  subscript(artifact: Digest) -> Double? {
    entries.last { $0.artifact == artifact.hex }?.foundAt
  }

  mutating func add(_ artifact: Digest, _ stamp: FileStamp, at time: Double) {
    entries.removeAll { $0.artifact == artifact.hex }
    entries.append(
      Entry(
        artifact: artifact.hex, inode: stamp.inode, byteCount: stamp.byteCount,
        modified: stamp.modified, foundAt: time))
  }
}

extension DiskStore {
  /// Remembers which artifacts a check has found damaged: they are read before they are used again, and
  /// ``damagedOriginals()`` names the recordings among them. Does nothing in a store that cannot be
  /// written.
  package func remember(_ report: InspectionReport) {
    var damage = report.isThorough ? KnownDamage() : KnownDamage(of: layout)
    for finding in report.findings where finding.kind == .damagedArtifact {
      guard let digest = finding.subject.flatMap(Digest.init(hex:)),
        let stamp = try? FileStamp(at: layout.artifact(digest))
      else { continue }
      damage.add(digest, stamp, at: now)
    }
    keep(damage)
  }

  /// Remembers that an artifact was found damaged, and is still in its place.
  func remember(_ found: ArtifactDamage) {
    guard let stamp = found.stamp else { return }
    var damage = KnownDamage(of: layout)
    damage.add(found.digest, stamp, at: now)
    keep(damage)
  }

  /// The recordings whose original lies nowhere but in the store and was found damaged there, and when,
  /// in seconds since 1970. Reads no artifact. O(recordings that the store must have).
  package func damagedOriginals() throws(SpoolError) -> [(recording: Recording, foundAt: Double)] {
    let damage = KnownDamage(of: layout)
    if damage.isEmpty { return [] }
    return try withDatabase { (database) throws(SpoolError) in
      var found: [(recording: Recording, foundAt: Double)] = []
      for (recording, artifact) in try RecordingTable.artifacts(in: &database) {
        guard artifact == recording.content.digest, let foundAt = damage[artifact],
          try RecordingTable.releasedFile(of: recording, in: &database) == nil
        else { continue }
        found.append((recording, foundAt))
      }
      return found
    }
  }

  private func keep(_ damage: KnownDamage) {
    guard isWritable else { return }
    guard !damage.isEmpty else {
      return (try? files.unlinkIfThere(layout.knownDamage)) ?? ()
    }
    // A bit may have flipped under the stamp of the last good verification.
    try? withDatabase { (database) throws(SpoolError) in
      for artifact in damage.artifacts { try VerifiedTable.distrust(artifact, in: &database) }
    }
    guard let text = try? StoredJSON.encode(damage, to: "remember damage in") else { return }
    try? files.replace(
      layout.knownDamage, with: Array(SealedText.seal(text).utf8),
      draft: "\(layout.drafts)/\(AbandonedFiles.newName(for: .current))", mode: 0o600)
  }
}

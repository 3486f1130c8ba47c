internal import Hashing
internal import PipelineModel

extension DiskStore {
  /// How long a verification is good for when an artifact is about to be read, in seconds: a medium
  /// can lose bits without any sign in a file's times.
  private static let verificationLifetime = 30.0 * 86_400

  /// Tells what the store has to say of itself (a damaged artifact that was set aside, say), a line
  /// each: all that it has had to say so far at once, and the rest as it comes, on any thread.
  public func listen(_ listener: @escaping @Sendable (String) -> Void) { news.listen(listener) }

  /// Where a sound artifact lies; nil if it is missing. One that turns out to be damaged is set
  /// aside, with all that may have been computed from it, and is missing then.
  /// - Parameter isRead: whether it is about to be read, and not only named.
  func soundPath(of artifact: Artifact, isRead: Bool = false) throws(StoreError) -> String? {
    let age = isRead ? Self.verificationLifetime : nil
    switch try artifacts.look(at: artifact, verifiedWithin: age) {
    case .sound(let path): return path
    case .missing: return nil
    case .damaged(let damage):
      try setAside(damage, kind: artifact.kind)
      return nil
    }
  }

  private func setAside(_ damage: ArtifactDamage, kind: ArtifactKind) throws(StoreError) {
    let what = "the \(kind.rawValue) artifact \(damage.digest.short) in the store is damaged"
    guard isWritable else {
      news.tell("\(what) (\(damage.problem)): it is not used")
      return
    }
    let removal = DamageRemoval(layout: layout, records: records, files: files)
    let (struck, aside) = try withDatabase {
      (database) throws(StoreError) -> (CheckpointTable.Struck, String?) in
      try removal.remove(damage, from: &database)
    }
    guard let aside else { return }
    let count = struck.suspects.count
    let rest =
      count == 0
      ? "" : ", and so \(count == 1 ? "is the stage that" : "are the \(count) stages that") used it"
    news.tell(
      "\(what) (\(damage.problem)): it is kept aside as \(aside) and made again where it is needed"
        + rest)
  }

  /// Says so where something was made again with other bytes than before.
  func tell(_ differences: [RemadeOutput]) {
    for output in differences { news.tell(output.line) }
  }
}

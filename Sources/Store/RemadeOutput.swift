internal import Hashing
internal import PipelineModel

/// What was made again after it was struck, and came out otherwise.
struct RemadeOutput: Hashable, Sendable {
  /// The stage kind.
  let kind: String
  let port: PortName
  let before: Digest
  let now: Digest
  /// Whether the older one may have been made of damaged bytes.
  let wasSuspect: Bool

  /// What is said of it.
  var line: String {
    let what = "\(kind) gave other bytes at its output \(port) than before"
    let digests = "(\(now.short) instead of \(before.short))"
    return wasSuspect
      ? "\(what) \(digests): what was there had been made from a damaged artifact"
      : "\(what) \(digests), although nothing that decides on them has changed: one of the two is "
        + "wrong, and spool check tells whether the store is"
  }
}

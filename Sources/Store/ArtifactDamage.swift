internal import Hashing

/// An artifact's file whose bytes are not those that its name promises.
struct ArtifactDamage: Hashable, Sendable {
  /// The digest that the name promises.
  let digest: Digest
  /// The file as it was looked at; nil where it may have any stamp.
  let stamp: FileStamp?
  /// What is wrong with it: `its bytes are not those that its name promises`.
  let problem: String
}

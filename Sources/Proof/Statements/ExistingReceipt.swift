package import Platform

/// A receipt in the place of a new one: what determines whether it may be replaced, and its
/// subjects. Its statement is not verified.
package struct ExistingReceipt: Sendable {
  package struct File: Hashable, Sendable {
    package let path: String
    /// The SHA-256 of its bytes.
    package let digest: Digest
  }

  /// The SHA-256 of its bytes.
  package let digest: Digest
  /// Its leaf hash in the transparency log.
  package let leaf: Digest
  /// Its subjects in its folder or below it.
  package let files: [File]
  /// The SHA-256 of the pipeline's text; nil if it has none.
  package let pipelineDigest: Digest?

  private let envelope: Envelope

  /// Nil if there is none or it is unreadable.
  package init?(at path: String) {
    guard let bytes = try? SubjectFile.readWhole(path, limit: Envelope.maximumByteCount),
      let envelope = try? Envelope(bytes),
      let statement = try? JSONReader.signedValue(of: envelope.payload)
    else { return nil }
    self.envelope = envelope
    digest = SHA256.digest(of: bytes)
    leaf = MerkleTree.leaf(bytes)
    let folder = ReceiptSearch.folder(of: path)
    files = (statement["subject"]?.list ?? []).compactMap { subject in
      guard let name = subject["name"]?.text, SubjectFile(name: name, in: folder) != nil,
        let digest = subject["digest"]?["sha256"]?.text.flatMap(Digest.init(hex:))
      else { return nil }
      return File(path: folder + name, digest: digest)
    }
    pipelineDigest = statement["predicate"]?["origin"]?["run"]?["pipelineDigest"]?["sha256"]?.text
      .flatMap(Digest.init(hex:))
  }

  package func isSigned(by key: VerifyingKey) -> Bool { envelope.isSigned(by: key) }
}

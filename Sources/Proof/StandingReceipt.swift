public import Hashing
internal import JSONText

/// A receipt that lies where another is to go: what tells whether it may be replaced, and what it
/// vouches for. Whether its statement is whole is not looked at.
public struct StandingReceipt: Sendable {
  /// A file that it vouches for.
  public struct File: Hashable, Sendable {
    /// Its path.
    public let path: String
    /// The SHA-256 of its bytes.
    public let digest: Digest
  }

  /// The SHA-256 of its bytes.
  public let digest: Digest
  /// Its hash as a leaf of the ledger's tree.
  public let leaf: Digest
  /// The files that it vouches for, as far as they lie in its folder or below it.
  public let files: [File]
  /// The SHA-256 of the text of the pipeline that it tells of; nil where it does not say.
  public let pipelineDigest: Digest?

  private let envelope: Envelope

  /// Reads the receipt at a path, byte for byte as it was written; nil where none can be read.
  public init?(at path: String) {
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

  /// Whether a key's owner signed it.
  public func isSigned(by key: VerifyingKey) -> Bool { envelope.isSigned(by: key) }
}

package import Platform

/// A tree head of the transparency log, to be signed and compared with later trees.
package struct TreeHead: Hashable, Sendable {
  /// The media type of a signed head.
  package static let payloadType = "application/vnd.spool.tree-head+json"

  /// Number of leaves.
  package let size: Int
  package let root: Digest
  /// The digest of the paths (``LogFrontier/paths``); nil in a head without one.
  package let paths: Digest?
  /// In seconds since 1970; nil for one that was read.
  package let time: Double?
  /// The signer; nil for one that was not read.
  package let signer: VerifyingKey?

  package init(size: Int, root: Digest, paths: Digest, time: Double) {
    self.size = size
    self.root = root
    self.paths = paths
    self.time = time
    signer = nil
  }

  /// A signed DSSE envelope on one line.
  package func signed(by key: SigningKey) -> String {
    let json = JSONValue.object(leavingOut: [
      "size": .integer(size), "root": .text(root.hex), "paths": paths.map { .text($0.hex) },
      "time": time.map { .text(DateTime.text(of: $0)) },
    ])
    return Envelope(json.bytes, type: Self.payloadType, signedBy: key).text
  }

  ///
  /// - Parameter keys: the keys whose signatures count.
  package init(at path: String, keys: [VerifyingKey]) throws(SpoolError) {
    let bytes = try SubjectFile.readWhole(path, limit: 64 << 10)
    try self.init(String(decoding: bytes, as: UTF8.self), at: path, keys: keys)
  }

  ///
  /// - Parameters:
  /// - path: for messages.
  /// - keys: the keys whose signatures count. Where the signer's is not among them, the error's kind is
  ///   ``SpoolError/Kind/missing``.
  package init(_ text: String, at path: String, keys: [VerifyingKey]) throws(SpoolError) {
    let envelope: Envelope
    do throws(SpoolError) {
      envelope = try Envelope(Array(text.utf8), type: Self.payloadType)
    } catch {
      throw SpoolError("cannot read the tree head \(path)", reason: error.reason, cause: .blocked)
    }
    guard let signer = envelope.signer(among: keys) else {
      // A key that is not known here says nothing of the head.
      let isKnown = keys.contains { $0.id.hex == envelope.keyID }
      throw SpoolError(
        "the tree head \(path) is not used",
        reason: isKnown
          ? "it was changed since key \(envelope.keyID.prefix(16)) signed it"
          : "key \(envelope.keyID.prefix(16)), which signed it, is not trusted here",
        cause: .blocked,
        kind: isKnown ? .broken : .missing)
    }
    guard let json = try? JSONReader.signedValue(of: envelope.payload),
      let size = json["size"]?.integer, size >= 0,
      let root = json["root"]?.text.flatMap(Digest.init(hex:))
    else {
      throw SpoolError(
        "cannot read the tree head \(path)", reason: "it has no size or root", cause: .blocked)
    }
    let paths = json["paths"]?.text.flatMap(Digest.init(hex:))
    guard json["paths"] == nil || paths != nil else {
      throw SpoolError(
        "cannot read the tree head \(path)", reason: "its paths are no digest", cause: .blocked)
    }
    self.size = size
    self.root = root
    self.paths = paths
    self.signer = signer
    time = nil
  }
}

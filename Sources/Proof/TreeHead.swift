public import Hashing
internal import JSONText

/// How the tree of receipts stood: what its owner signs, and whoever keeps it can hold against
/// every later tree.
public struct TreeHead: Hashable, Sendable {
  /// What a signed head is as a media type.
  public static let payloadType = "application/vnd.spool.tree-head+json"

  /// How many receipts were in the tree.
  public let size: Int
  /// The root over them.
  public let root: Digest
  /// The digest over their paths, as a ``PathChain`` has it; nil in a head that says nothing of them.
  public let paths: Digest?
  /// When it stood so, in seconds since 1970; nil for one that was read.
  public let time: Double?
  /// Whose key it is signed with; nil for one that was not read.
  public let signer: VerifyingKey?

  /// Describes a tree's head.
  public init(size: Int, root: Digest, paths: Digest, time: Double) {
    self.size = size
    self.root = root
    self.paths = paths
    self.time = time
    signer = nil
  }

  /// The head, signed: a DSSE envelope on one line.
  public func signed(by key: SigningKey) -> String {
    let json = JSONValue.object(leavingOut: [
      "size": .integer(size), "root": .text(root.hex), "paths": paths.map { .text($0.hex) },
      "time": time.map { .text(UniversalTime.text(of: $0)) },
    ])
    return Envelope(json.bytes, type: Self.payloadType, signedBy: key).text
  }

  /// Reads a signed head from a file.
  /// - Parameter keys: the keys whose signatures count.
  public init(at path: String, keys: [VerifyingKey]) throws(ProofError) {
    let bytes = try SubjectFile.readWhole(path, limit: 64 << 10)
    try self.init(String(decoding: bytes, as: UTF8.self), at: path, keys: keys)
  }

  /// Reads a signed head.
  /// - Parameters:
  ///   - path: where it lies, for what is told.
  ///   - keys: the keys whose signatures count.
  public init(_ text: String, at path: String, keys: [VerifyingKey]) throws(ProofError) {
    let envelope: Envelope
    do throws(ProofError) {
      envelope = try Envelope(Array(text.utf8), type: Self.payloadType)
    } catch {
      throw ProofError("cannot read the tree head \(path)", reason: error.reason)
    }
    guard let signer = envelope.signer(among: keys) else {
      throw ProofError(
        "the tree head \(path) is not used",
        reason: "no key that is trusted here signed it, or it was changed since")
    }
    guard let json = try? JSONReader.signedValue(of: envelope.payload),
      let size = json["size"]?.integer, size >= 0,
      let root = json["root"]?.text.flatMap(Digest.init(hex:))
    else { throw ProofError("cannot read the tree head \(path)", reason: "it has no size or root") }
    let paths = json["paths"]?.text.flatMap(Digest.init(hex:))
    guard json["paths"] == nil || paths != nil else {
      throw ProofError("cannot read the tree head \(path)", reason: "its paths are no digest")
    }
    self.size = size
    self.root = root
    self.paths = paths
    self.signer = signer
    time = nil
  }
}

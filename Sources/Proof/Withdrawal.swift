public import Hashing
internal import JSONText

/// The statement that a receipt and its files were taken away on purpose: a leaf of the ledger like any
/// receipt, which forgets nothing and says why something is not there.
public struct Withdrawal: Hashable, Sendable {
  /// What a withdrawal is as a media type.
  public static let payloadType = "application/vnd.spool.withdrawal+json"
  /// No reason is longer, in bytes.
  public static let greatestReason = 1000

  /// The hash of the receipt as a leaf of the ledger's tree.
  public let receipt: Digest
  /// Where the receipt lay.
  public let path: String
  /// Why it was taken away, in the signer's words; nil where he gave none.
  public let reason: String?
  /// When it was withdrawn, in ISO 8601, UTC.
  public let time: String
  /// Whose key it is signed with; nil for one that was not read.
  public let signer: VerifyingKey?

  /// Describes a withdrawal.
  /// - Parameter time: in seconds since 1970.
  public init(of receipt: Digest, at path: String, reason: String?, time: Double) {
    self.receipt = receipt
    self.path = path
    self.reason = reason
    self.time = UniversalTime.text(of: time)
    signer = nil
  }

  /// The withdrawal, signed: a DSSE envelope on one line.
  public func signed(by key: SigningKey) -> String {
    let json = JSONValue.object(leavingOut: [
      "receipt": .text(receipt.hex), "path": .text(path), "reason": reason.map { .text($0) },
      "time": .text(time),
    ])
    return Envelope(json.bytes, type: Self.payloadType, signedBy: key).text
  }

  /// Reads a signed withdrawal; nil for anything else, and where none of the keys signed it.
  public init?(_ text: String, keys: [VerifyingKey]) {
    guard let envelope = try? Envelope(Array(text.utf8), type: Self.payloadType),
      let signer = envelope.signer(among: keys),
      let json = try? JSONReader.signedValue(of: envelope.payload),
      let receipt = json["receipt"]?.text.flatMap(Digest.init(hex:)),
      let path = json["path"]?.text, let time = json["time"]?.text
    else { return nil }
    self.receipt = receipt
    self.path = path
    self.time = time
    self.signer = signer
    reason = json["reason"]?.text
  }

  /// Whether what the ledger has in the place of a path is a withdrawal: its own text, which lies
  /// nowhere else. The paths of receipts are absolute.
  public static func isStated(in path: String) -> Bool { path.hasPrefix("{") }
}

package import Platform

/// The statement that a receipt and its files were removed on purpose: a leaf of the transparency
/// log.
package struct Withdrawal: Hashable, Sendable {
  /// The media type of a withdrawal.
  package static let payloadType = "application/vnd.spool.withdrawal+json"
  /// Bytes of the longest reason.
  package static let greatestReason = 1000

  /// The receipt's leaf hash.
  package let receipt: Digest
  /// The receipt's path.
  package let path: String
  /// The signer's reason; nil if none was given.
  package let reason: String?
  /// When it was withdrawn, in ISO 8601, UTC.
  package let time: String
  /// The signer; nil for one that was not read.
  package let signer: VerifyingKey?

  ///
  /// - Parameter time: in seconds since 1970.
  package init(of receipt: Digest, at path: String, reason: String?, time: Double) {
    self.receipt = receipt
    self.path = path
    self.reason = reason
    self.time = DateTime.text(of: time)
    signer = nil
  }

  /// A signed DSSE envelope on one line.
  package func signed(by key: SigningKey) -> String {
    let json = JSONValue.object(leavingOut: [
      "receipt": .text(receipt.hex), "path": .text(path), "reason": reason.map { .text($0) },
      "time": .text(time),
    ])
    return Envelope(json.bytes, type: Self.payloadType, signedBy: key).text
  }

  /// Nil for anything else, and if none of the keys signed it.
  package init?(_ text: String, keys: [VerifyingKey]) {
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

  /// Whether a log entry's path is a withdrawal's text. The paths of receipts are absolute.
  package static func isStated(in path: String) -> Bool { path.hasPrefix("{") }
}

internal import FoundationEssentials
package import Platform

/// A DSSE envelope, version 1.0, with one signature.
package struct Envelope: Hashable, Sendable {
  /// The payload type: an in-toto statement as JSON.
  package static let payloadType = "application/vnd.in-toto+json"
  /// Bytes of the longest envelope that is read. A receipt of a thousand stages is a tenth of it.
  package static let maximumByteCount = 16 << 20

  package let type: String
  /// What was signed, byte for byte.
  package let payload: [UInt8]
  /// The signer's key: see ``VerifyingKey/id``.
  package let keyID: String
  package let signature: [UInt8]

  /// Signs a payload.
  package init(_ payload: [UInt8], type: String = payloadType, signedBy key: SigningKey) {
    self.type = type
    self.payload = payload
    keyID = key.verifyingKey.id.hex
    signature = key.signature(of: Self.preauthenticated(payload, type: type))
  }

  /// Reads the canonical form only.
  /// - Parameter type: the required payload type.
  package init(_ bytes: [UInt8], type: String = payloadType) throws(SpoolError) {
    guard bytes.count <= Self.maximumByteCount else {
      throw Self.refusal(
        "it has \(bytes.count) bytes, and none has more than \(Self.maximumByteCount)")
    }
    let line = bytes.last == UInt8(ascii: "\n") ? Array(bytes.dropLast()) : bytes
    let json: JSONValue
    do throws(JSONSyntaxError) { json = try JSONReader.signedValue(of: line) } catch {
      throw Self.refusal("\(error)")
    }
    guard json["payloadType"]?.text == type else {
      throw Self.refusal("its payload is not \(type)")
    }
    guard let payload = json["payload"]?.text.flatMap(Self.decoded),
      let signatures = json["signatures"]?.list, signatures.count == 1,
      let signature = signatures[0]["sig"]?.text.flatMap(Self.decoded),
      let keyID = signatures[0]["keyid"]?.text
    else { throw Self.refusal("it is no DSSE envelope with one signature") }
    self.type = type
    self.payload = payload
    self.keyID = keyID
    self.signature = signature
    guard Array(text.utf8) == bytes else {
      throw Self.refusal(
        "it has fields that no receipt has, base64 in another form, or another end")
    }
  }

  /// Canonical JSON on one line.
  package var text: String {
    JSONValue.object([
      "payload": .text(Data(payload).base64EncodedString()),
      "payloadType": .text(type),
      "signatures": .list([
        .object([
          "keyid": .text(keyID), "sig": .text(Data(signature).base64EncodedString()),
        ])
      ]),
    ]).compact + "\n"
  }

  package func isSigned(by key: VerifyingKey) -> Bool {
    key.isValid(signature, of: Self.preauthenticated(payload, type: type))
  }

  /// The key that it names, if it is among these and its signature is valid.
  func signer(among keys: [VerifyingKey]) -> VerifyingKey? {
    keys.first { $0.id.hex == keyID && isSigned(by: $0) }
  }

  /// DSSE's pre-authentication encoding: `DSSEv1`, then type and payload, each after its length.
  static func preauthenticated(_ payload: [UInt8], type: String) -> [UInt8] {
    Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
  }

  private static func decoded(_ text: String) -> [UInt8]? {
    Data(base64Encoded: text).map { Array($0) }
  }

  private static func refusal(_ reason: String) -> SpoolError {
    SpoolError("cannot read the receipt", reason: reason, cause: .blocked)
  }
}

/// Signed text is canonical JSON by RFC 8785; other texts of the same value are refused.
///
/// Numbers are written and read only in that scheme's digits (``JSONValue``'s `integer` and
/// `decimal`), so the compact text is canonical.
extension JSONValue {
  /// The signed or hashed text, in UTF-8.
  var bytes: [UInt8] { Array(compact.utf8) }
}

extension JSONReader {
  /// Maximum nesting of arrays and objects.
  static let depthLimit = 64

  /// Reads signed text. O(n log n).
  static func signedValue(of bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    try canonicalValue(of: bytes, depthLimit: depthLimit)
  }
}

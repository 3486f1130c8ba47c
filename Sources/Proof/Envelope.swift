internal import FoundationEssentials
internal import Hashing
internal import JSONText

/// A signed statement: a DSSE envelope, version 1.0, with one signature.
public struct Envelope: Hashable, Sendable {
  /// What the payload is: an in-toto statement as JSON.
  public static let payloadType = "application/vnd.in-toto+json"
  /// The longest envelope that is read, in bytes. A receipt of a thousand stages is a tenth of it.
  public static let maximumByteCount = 16 << 20

  /// What the payload is.
  public let type: String
  /// What was signed, byte for byte.
  public let payload: [UInt8]
  /// The name of the key that signed it: see ``VerifyingKey/id``.
  public let keyID: String
  /// The signature.
  public let signature: [UInt8]

  /// Signs a statement, or what else `type` says.
  public init(_ payload: [UInt8], type: String = payloadType, signedBy key: SigningKey) {
    self.type = type
    self.payload = payload
    keyID = key.verifyingKey.id.hex
    signature = key.signature(of: Self.preauthenticated(payload, type: type))
  }

  /// Reads an envelope in the form in which ``text`` writes it; whatever else a reader might make
  /// of it is refused.
  /// - Parameter type: what its payload has to be.
  public init(_ bytes: [UInt8], type: String = payloadType) throws(ProofError) {
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

  /// The envelope as a file: canonical JSON on one line.
  public var text: String {
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

  /// Whether the key's owner signed this payload.
  public func isSigned(by key: VerifyingKey) -> Bool {
    key.isValid(signature, of: Self.preauthenticated(payload, type: type))
  }

  /// The key that it names, if that is among these and its owner signed this payload.
  func signer(among keys: [VerifyingKey]) -> VerifyingKey? {
    keys.first { $0.id.hex == keyID && isSigned(by: $0) }
  }

  /// What is signed, as DSSE's protocol has it: `DSSEv1`, then type and payload, each with its
  /// length before it.
  static func preauthenticated(_ payload: [UInt8], type: String) -> [UInt8] {
    Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
  }

  private static func decoded(_ text: String) -> [UInt8]? {
    Data(base64Encoded: text).map { Array($0) }
  }

  private static func refusal(_ reason: String) -> ProofError {
    ProofError("cannot read the receipt", reason: reason)
  }
}

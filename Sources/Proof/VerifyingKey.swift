public import Hashing

/// An Ed25519 public key: whoever has it can check what its owner signed.
public struct VerifyingKey: Hashable, Sendable {
  /// The 32 bytes of the key.
  public let bytes: [UInt8]

  /// Reads SubjectPublicKeyInfo PEM, as `openssl pkey -pubout` writes it; nil for anything else.
  public init?(pem: String) {
    guard let handle = KeyHandle(pem: SecretBytes(pem.utf8), isPrivate: false) else { return nil }
    self.init(handle)
  }

  init(_ handle: borrowing KeyHandle) { bytes = handle.publicKey }

  /// The prefix of every Ed25519 SubjectPublicKeyInfo in DER: RFC 8410, section 4.
  private static let derPrefix: [UInt8] = [
    0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
  ]

  /// The key's name: the SHA-256 of its DER form, which
  /// `openssl pkey -pubin -in spool.pub -outform DER | sha256sum` prints too.
  public var id: Digest { SHA256.digest(of: Self.derPrefix + bytes) }

  /// SubjectPublicKeyInfo PEM, which `openssl pkey -pubin` reads.
  public var pem: String { KeyHandle(publicKey: bytes)?.publicPEM ?? "" }

  /// Whether this key's owner signed the message.
  public func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == 64, let handle = KeyHandle(publicKey: bytes) else { return false }
    return handle.isValid(signature, of: message)
  }
}

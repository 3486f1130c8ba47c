package import Platform

/// An Ed25519 private key.
package struct SigningKey: Sendable {
  package let verifyingKey: VerifyingKey
  private let seed: SecretBytes

  package init() { self.init(KeyHandle()) }

  /// Reads plain PKCS#8 PEM, as `openssl genpkey -algorithm ed25519` writes it; nil for anything
  /// else.
  package init?(pem: String) { self.init(pem: SecretBytes(pem.utf8)) }

  /// Reads PKCS#8 PEM; nil for anything else, and for a wrong passphrase.
  /// - Parameter passphrase: nil if it is plain.
  package init?(pem: SecretBytes, passphrase: SecretBytes? = nil) {
    guard let handle = KeyHandle(pem: pem, isPrivate: true, passphrase: passphrase) else {
      return nil
    }
    self.init(handle)
  }

  private init(_ handle: consuming KeyHandle) {
    seed = handle.seed
    verifyingKey = VerifyingKey(handle)
  }

  /// Plain PKCS#8 PEM, which `openssl pkey` reads.
  package var pem: String { KeyHandle(seed: seed).pem.text }

  /// PKCS#8 PEM followed by the public key, which is then readable without a passphrase and reveals
  /// a changed private part. `openssl pkey` reads the first of the two.
  /// - Parameter passphrase: nil for plain text.
  package func text(protectedBy passphrase: SecretBytes?) -> SecretBytes {
    let handle = KeyHandle(seed: seed)
    return (passphrase.map { handle.pem(protectedBy: $0) } ?? handle.pem)
      .followed(by: SecretBytes(verifyingKey.pem.utf8))
  }

  /// 64 bytes: RFC 8032, deterministic.
  package func signature(of message: [UInt8]) -> [UInt8] {
    KeyHandle(seed: seed).signature(of: message)
  }
}

/// An Ed25519 public key.
package struct VerifyingKey: Hashable, Sendable {
  package let bytes: [UInt8]

  /// Reads SubjectPublicKeyInfo PEM, as `openssl pkey -pubout` writes it; nil for anything else.
  package init?(pem: String) {
    guard let handle = KeyHandle(pem: SecretBytes(pem.utf8), isPrivate: false) else { return nil }
    self.init(handle)
  }

  init(_ handle: borrowing KeyHandle) { bytes = handle.publicKey }

  /// The DER prefix of every Ed25519 SubjectPublicKeyInfo: RFC 8410, section 4.
  private static let derPrefix: [UInt8] = [
    0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
  ]

  /// The key's name: the SHA-256 of its DER form, as printed by `openssl pkey -pubin -in spool.pub
  /// -outform DER | sha256sum`.
  package var id: Digest { SHA256.digest(of: Self.derPrefix + bytes) }

  /// SubjectPublicKeyInfo PEM, which `openssl pkey -pubin` reads.
  package var pem: String { KeyHandle(publicKey: bytes)?.publicPEM ?? "" }

  package func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == 64, let handle = KeyHandle(publicKey: bytes) else { return false }
    return handle.isValid(signature, of: message)
  }
}

/// An Ed25519 private key: whoever has it can sign.
public struct SigningKey: Sendable {
  /// The public key, by which others check what it signed.
  public let verifyingKey: VerifyingKey
  private let seed: SecretBytes

  /// Makes a new key from the system's random numbers.
  public init() { self.init(KeyHandle()) }

  /// Reads PKCS#8 PEM, as `openssl genpkey -algorithm ed25519` writes it; nil for anything else,
  /// and for what is encrypted.
  public init?(pem: String) { self.init(pem: SecretBytes(pem.utf8)) }

  /// Reads PKCS#8 PEM, encrypted or not; nil for anything else, and where the passphrase is wrong.
  /// - Parameter passphrase: what it is encrypted with; nil where it is not.
  public init?(pem: SecretBytes, passphrase: SecretBytes? = nil) {
    guard let handle = KeyHandle(pem: pem, isPrivate: true, passphrase: passphrase) else {
      return nil
    }
    self.init(handle)
  }

  private init(_ handle: consuming KeyHandle) {
    seed = handle.seed
    verifyingKey = VerifyingKey(handle)
  }

  /// PKCS#8 PEM, which `openssl pkey` reads: the key as it is, open to whoever sees it.
  public var pem: String { KeyHandle(seed: seed).pem.text }

  /// PKCS#8 PEM with the public key after it: for that, nobody has to be asked for a passphrase, and
  /// by it a private part that was changed is found out. `openssl pkey` takes the first of the two.
  /// - Parameter passphrase: what it is encrypted with; nil to leave it as it is.
  public func text(protectedBy passphrase: SecretBytes?) -> SecretBytes {
    let handle = KeyHandle(seed: seed)
    return (passphrase.map { handle.pem(protectedBy: $0) } ?? handle.pem)
      .followed(by: SecretBytes(verifyingKey.pem.utf8))
  }

  /// The signature of a message, 64 bytes: RFC 8032, the same for the same message every time.
  public func signature(of message: [UInt8]) -> [UInt8] {
    KeyHandle(seed: seed).signature(of: message)
  }
}

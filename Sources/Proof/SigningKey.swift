/// An Ed25519 private key: whoever has it can sign.
public struct SigningKey: Sendable {
  /// The public key, by which others check what it signed.
  public let verifyingKey: VerifyingKey
  private let seed: [UInt8]

  /// Makes a new key from the system's random numbers.
  public init() { self.init(KeyHandle()) }

  /// Reads PKCS#8 PEM, as `openssl genpkey -algorithm ed25519` writes it; nil for anything else,
  /// and for what is encrypted.
  public init?(pem: String) {
    guard let handle = KeyHandle(pem: pem, isPrivate: true) else { return nil }
    self.init(handle)
  }

  private init(_ handle: consuming KeyHandle) {
    seed = handle.seed
    verifyingKey = VerifyingKey(handle)
  }

  /// PKCS#8 PEM, which `openssl pkey` reads.
  public var pem: String { KeyHandle(seed: seed).pem(isPrivate: true) }

  /// The signature of a message, 64 bytes: RFC 8032, the same for the same message every time.
  public func signature(of message: [UInt8]) -> [UInt8] {
    KeyHandle(seed: seed).signature(of: message)
  }
}

/// A signing key as it lies in its file: open, or encrypted with a passphrase.
struct ProtectedKey {
  /// The key.
  let key: SigningKey
  /// What its file is encrypted with; nil where it is not.
  let passphrase: SecretBytes?

  /// Reads a key's file.
  /// - Parameters:
  ///   - path: where it lies, for what is told.
  ///   - ask: for the passphrase; asked only if there is one.
  init(
    _ text: SecretBytes, at path: String, _ ask: () throws(ProofError) -> SecretBytes
  ) throws(ProofError) {
    let isProtected = Self.isProtected(text)
    passphrase = isProtected ? try ask() : nil
    guard let key = SigningKey(pem: text, passphrase: passphrase) else {
      throw ProofError(
        "cannot use the signing key \(path)",
        reason: isProtected ? Self.wrongPassphrase : Self.complaint,
        advice: isProtected
          ? "type it again; spool key passphrase changes it, if the old one is known"
          : "put the right file back, or spool key rotate after moving it away")
    }
    self.key = key
    // Any 32 bytes are a private key, and nothing protects what stands beside one.
    if let stated = KeyText.publicPart(of: text), stated != key.verifyingKey {
      throw Self.refusal(
        path, "its private and its public part do not belong together: the file was changed")
    }
    guard KeyText.isWhole(text, of: key, isProtected: isProtected) else {
      throw Self.refusal(path, Self.otherText)
    }
  }

  /// The public key that stands beside an encrypted one; nil where there is none.
  static func publicPart(of text: SecretBytes, at path: String) throws(ProofError) -> VerifyingKey?
  {
    guard KeyText.hasPublicPart(text) else { return nil }
    guard let key = KeyText.publicPart(of: text), KeyText.isWhole(text, of: key) else {
      throw refusal(path, otherText)
    }
    return key
  }

  private static let otherText = "it is not the text that is written for its key: it was changed"

  private static func refusal(_ path: String, _ reason: String) -> ProofError {
    ProofError(
      "cannot use the signing key \(path)", reason: reason,
      advice: "put the right file back, or spool key rotate after moving it away")
  }

  static let complaint = "it is no Ed25519 key as PEM"
  static let wrongPassphrase = "the passphrase is wrong, or the file is damaged"

  /// Whether a key's file is encrypted: as PKCS#8, or in the way that came before it.
  static func isProtected(_ text: SecretBytes) -> Bool {
    text.index(of: "-----BEGIN ENCRYPTED PRIVATE KEY-----") != nil
      || text.index(of: "Proc-Type: 4,ENCRYPTED") != nil
  }
}

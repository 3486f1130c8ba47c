/// Who knows the passphrase of a key: a person at a terminal, or a file.
public protocol PassphraseSource: Sendable {
  /// The passphrase.
  /// - Parameter key: what it protects, as a person is told: `the signing key /keys/signing.pem`.
  /// - Throws: where nobody can be asked, or nobody answers.
  func passphrase(of key: String) throws(ProofError) -> SecretBytes
}

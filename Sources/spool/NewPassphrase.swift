import Proof

/// A passphrase that is chosen now: typed twice, or read from a file.
enum NewPassphrase {
  /// The shortest one that is taken, in bytes. It has to stand against whoever has the key's file
  /// and as much time as he likes.
  private static let minimumByteCount = 8

  /// The passphrase.
  /// - Parameter file: where it is read; nil to ask the person at the terminal.
  static func choose(file: String?) throws(ProofError) -> SecretBytes {
    let chosen: SecretBytes
    if let file { chosen = try read(file) } else { chosen = try typed() }
    guard chosen.count >= minimumByteCount else {
      throw ProofError(
        "this passphrase is not taken",
        reason: "it has \(chosen.count) bytes, and one that is hard to guess has more than "
          + "\(minimumByteCount - 1)",
        advice: "choose several words that nobody else would put together")
    }
    return chosen
  }

  private static func read(_ path: String) throws(ProofError) -> SecretBytes {
    try PassphraseFile(path).passphrase(of: "the signing key")
  }

  private static func typed() throws(ProofError) -> SecretBytes {
    guard let first = try TerminalPassphrase.read("new passphrase of the signing key: "),
      let second = try TerminalPassphrase.read("the same again: ")
    else {
      throw ProofError(
        "a new passphrase cannot be asked for", reason: "there is no terminal",
        advice: "--new-passphrase-file FILE, with a file that only you can read")
    }
    guard first.isSame(as: second) else {
      throw ProofError(
        "the passphrase is not changed", reason: "two different ones were typed",
        advice: "spool key passphrase")
    }
    return first
  }
}

import Proof
import Synchronization

/// Where a passphrase comes from: the file that was named, what systemd gave the service, or the
/// person at the terminal; and never from the environment or an argument, which others can read.
///
/// It is asked for once, however many need it.
final class PassphraseDesk: PassphraseSource {
  private let file: PassphraseFile?
  private let known = Mutex<[String: SecretBytes]>([:])

  /// - Parameter option: the file that was named, if one was.
  init(file option: String?) {
    file =
      option.map { PassphraseFile($0) } ?? PassphraseFile.credential(Environment.variables)
  }

  func passphrase(of key: String) throws(ProofError) -> SecretBytes {
    let answer = known.withLock { known in
      Result { () throws(ProofError) in
        if let passphrase = known[key] { return passphrase }
        let passphrase = try ask(key)
        known[key] = passphrase
        return passphrase
      }
    }
    return try answer.get()
  }

  private func ask(_ key: String) throws(ProofError) -> SecretBytes {
    if let file { return try file.passphrase(of: key) }
    if let typed = try TerminalPassphrase.read("passphrase of \(key): ") { return typed }
    throw ProofError(
      "\(key) is protected by a passphrase",
      reason: "there is no terminal to ask for it, and no file with it was named",
      advice: "--passphrase-file FILE, with a file that only you can read")
  }
}

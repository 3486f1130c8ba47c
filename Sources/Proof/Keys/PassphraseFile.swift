internal import Glibc
package import Platform

/// A file whose first line is a passphrase, as with `openssl -passin file:`; the rest is ignored.
package struct PassphraseFile: PassphraseSource, Hashable {
  /// Bytes of the longest passphrase, as in `openssl`.
  package static let maximumByteCount = 1023

  /// A file, or an open descriptor as `/dev/fd/3`.
  package let path: String
  private let isCredential: Bool

  /// - Parameter isCredential: whether it is a systemd credential, which may be root's, with an ACL
  ///   for the service that looks like group permissions; others must have none. Any other file is
  ///   readable by its owner only: 0600 or less.
  package init(_ path: String, isCredential: Bool = false) {
    self.path = path
    self.isCredential = isCredential
  }

  /// The credential of `LoadCredential=spool-passphrase:…`; nil if there is none.
  package static func credential(_ environment: [String: String]) -> PassphraseFile? {
    guard let folder = environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
      return nil
    }
    let path = folder + "/spool-passphrase"
    return FilePath.exists(path) ? PassphraseFile(path, isCredential: true) : nil
  }

  package func passphrase(of key: String) throws(SpoolError) -> SecretBytes {
    let file = try calling { () throws(SystemError) in try OpenFile(path, O_RDONLY | O_NOCTTY) }
    try checkPrivacy(calling { () throws(SystemError) in try file.stamp })
    // Longer by the line break and one byte that reveals excess.
    return try checked(
      calling { () throws(SystemError) in
        try unsafe SecretBytes(capacity: Self.maximumByteCount + 2) { (room) throws(SystemError) in
          try unsafe file.fill(room)
        }
      })
  }

  private func calling<Result: ~Copyable>(
    _ calls: () throws(SystemError) -> Result
  ) throws(SpoolError) -> Result {
    do { return try calls() } catch { throw failure(error.words) }
  }

  private func checked(_ text: SecretBytes) throws(SpoolError) -> SecretBytes {
    let line = unsafe text.withUnsafeBytes { bytes in
      var end = unsafe bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      // As editors on Windows end lines.
      if end > 0, unsafe bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      return unsafe SecretBytes(bytes[..<end])
    }
    guard line.count > 0 else { throw failure("its first line is empty") }
    guard line.count <= Self.maximumByteCount else {
      throw failure("no passphrase has more than \(Self.maximumByteCount) bytes")
    }
    // openssl would stop at the zero byte.
    guard line.index(of: "\0") == nil else { throw failure("there is a zero byte in it") }
    return line
  }

  private func checkPrivacy(_ stamp: FileStamp) throws(SpoolError) {
    guard stamp.isRegularFile || stamp.isPipe else { throw failure("it is no file") }
    guard stamp.owner == geteuid() || isCredential && stamp.owner == 0 else {
      throw failure("it belongs to another user")
    }
    guard stamp.permissions & (isCredential ? 0o007 : 0o077) == 0 else {
      throw failure(
        "others may have read it: its permissions are \(KeyFile.octal(stamp.permissions))",
        "chmod 600 \(path), and choose another passphrase with \(command: .keyPassphrase)")
    }
  }

  private func failure(
    _ reason: String, _ advice: String = "name another with \(option: .passphraseFile)"
  ) -> SpoolError {
    SpoolError(
      "cannot take a passphrase from \(path)", reason: reason, advice: advice, cause: .blocked)
  }
}

/// A source of passphrases: a terminal or a file.
package protocol PassphraseSource: Sendable {
  ///
  /// - Parameter key: what it protects, in words: `the signing key /keys/signing.pem`.
  /// - Throws: if there is no user to ask, or no answer.
  func passphrase(of key: String) throws(SpoolError) -> SecretBytes
}

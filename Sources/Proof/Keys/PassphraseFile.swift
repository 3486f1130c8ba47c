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
    return unsafe access(path, F_OK) == 0 ? PassphraseFile(path, isCredential: true) : nil
  }

  package func passphrase(of key: String) throws(SpoolError) -> SecretBytes {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard file >= 0 else { throw failure(unsafe String(cString: strerror(errno))) }
    defer { close(file) }
    try checkPrivacy(of: file)
    // Longer by the line break and one byte that reveals excess.
    var isRead = false
    let text = unsafe SecretBytes(capacity: Self.maximumByteCount + 2) { room in
      var filled = 0
      while filled < room.count {
        let count = unsafe read(
          file, room.baseAddress?.advanced(by: filled), room.count - filled)
        if count < 0, errno == EINTR { continue }
        isRead = count >= 0
        guard count > 0 else { break }
        filled += count
      }
      return filled
    }
    guard isRead else { throw failure(unsafe String(cString: strerror(errno))) }
    return try checked(text)
  }

  private func checked(_ text: SecretBytes) throws(SpoolError) -> SecretBytes {
    let line = unsafe text.withUnsafeBytes { bytes in
      let end = unsafe bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
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

  private func checkPrivacy(of file: Int32) throws(SpoolError) {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else {
      throw failure(unsafe String(cString: strerror(errno)))
    }
    guard [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT) else {
      throw failure("it is no file")
    }
    let isOwn = status.st_uid == geteuid()
    guard isOwn || isCredential && status.st_uid == 0 else {
      throw failure("it belongs to another user")
    }
    guard status.st_mode & (isCredential ? 0o007 : 0o077) == 0 else {
      throw failure(
        "others may have read it: its permissions are \(KeyFile.octal(status.st_mode & 0o777))",
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

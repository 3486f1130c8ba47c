import Glibc
package import Platform

/// How the files of a destination are encrypted: by the program `age`, for the owners of some keys, so
/// that neither sound nor names can be read at the destination. https://age-encryption.org/v1
package struct Encryption: Hashable, Sendable {
  /// Public keys: `age1…`, or those of SSH.
  package let recipients: [String]
  /// The file with the private key of one of them, to read what comes back; nil if it is not here.
  package let identity: String?

  /// - Throws: if a text is no public key. A private key is not repeated.
  package init(_ recipients: [String], identity: String? = nil) throws(SpoolError) {
    for recipient in recipients {
      if recipient.uppercased().hasPrefix("AGE-SECRET-KEY") {
        throw SpoolError(
          "encrypt is a private key", advice: "name the public key, which begins with age1")
      }
      let isKey =
        recipient.hasPrefix("age1")
        && recipient.utf8.allSatisfy { $0 >= 0x30 && $0 < 0x7B && $0 != UInt8(ascii: "\\") }
      guard isKey || ["ssh-ed25519 ", "ssh-rsa "].contains(where: recipient.hasPrefix) else {
        throw SpoolError(
          "\(PlainText.line(recipient)) is no public key of age",
          advice: "age-keygen -y FILE prints it; it begins with age1")
      }
    }
    self.recipients = recipients
    self.identity = identity
  }

  /// An encrypted file.
  package struct Copy: Hashable, Sendable, Codable {
    package let byteCount: Int
    /// Of the encrypted bytes.
    package let digest: Digest
  }

  /// The ending of encrypted files.
  package static let ending = ".age"

  /// A name that says nothing: 32 random hexadecimal digits.
  package static func opaqueName() -> String {
    var digits = ""
    while digits.utf8.count < 32 { digits += UploadState().token }
    return digits
  }

  /// Encrypts a file, whose copy appears when it is complete and on the disk. O(its size).
  /// - Parameter mayGoOn: called several times a second; false ends it.
  package func encrypt(
    _ source: String, to path: String, _ environment: [String: String], mayGoOn: () -> Bool
  ) throws(SpoolError) -> Copy {
    try write(
      ["age"] + recipients.flatMap { ["-r", $0] } + [source], to: path, environment, mayGoOn
    ) { complaint in
      SpoolError(
        "encrypt", source, reason: complaint, advice: "check the keys of the destination",
        cause: .blocked, kind: .denied)
    }
  }

  /// Decrypts a file that has come back. O(its size).
  /// - Throws: an error of the kind `broken` if it is not what was encrypted.
  /// - Returns: the digest and the size of what it held.
  package func decrypt(
    _ source: String, to path: String, _ environment: [String: String], mayGoOn: () -> Bool
  ) throws(SpoolError) -> Copy {
    guard let identity else {
      throw SpoolError(
        "decrypt", source, reason: "the destination has no identity",
        advice: "add identity: FILE with age's private key to the destination", cause: .blocked,
        kind: .denied)
    }
    return try write(
      ["age", "-d", "-i", identity, source], to: path, environment, mayGoOn
    ) { complaint in
      // What is wrong with the key is wrong for every file.
      let isOfKey = ["identity", "identities", identity].contains(where: complaint.contains)
      return isOfKey
        ? SpoolError(
          "decrypt", source, reason: complaint, advice: "check the identity of the destination",
          cause: .blocked, kind: .denied)
        : SpoolError("decrypt", source, reason: complaint, cause: .input, kind: .broken)
    }
  }

  /// Writes what `age` prints into a file.
  private func write(
    _ words: [String], to path: String, _ environment: [String: String], _ mayGoOn: () -> Bool,
    failure: (_ complaint: String) -> SpoolError
  ) throws(SpoolError) -> Copy {
    let files = FileOperations.uncounted
    let draft = path + ".new"
    let file = try doing("write", draft) { () throws(SystemError) in
      try files.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
    }
    var hash = SHA256()
    var byteCount = 0
    do throws(SpoolError) {
      let ending = try ProgramRun(words, environment: environment).run(mayGoOn: mayGoOn) {
        (bytes) throws(SpoolError) in
        hash.update(bytes)
        byteCount += bytes.byteCount
        try doing("write", draft) { () throws(SystemError) in
          try unsafe bytes.withUnsafeBytes { (bytes) throws(SystemError) in
            try unsafe files.write(bytes, to: file)
          }
        }
      }
      guard ending.exitCode == 0 else {
        let first = ending.complaints.split(whereSeparator: \.isNewline).first.map(String.init)
        throw failure(PlainText.line(first ?? "age ended with the exit code \(ending.exitCode)"))
      }
      try doing("write", draft) { () throws(SystemError) in
        try files.flush(file)
        try files.rename(draft, to: path)
        try files.flushFolder(FilePath.folder(of: path))
      }
    } catch {
      try? files.unlinkIfThere(draft)
      throw error
    }
    return Copy(byteCount: byteCount, digest: hash.finalize())
  }
}

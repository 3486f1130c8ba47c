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
        Self.isPublicKey(recipient)
        || ["ssh-ed25519 ", "ssh-rsa "].contains(where: recipient.hasPrefix)
      guard isKey else {
        throw SpoolError(
          "\(PlainText.line(recipient)) is no public key of age",
          advice: "age-keygen -y FILE prints it; it begins with age1")
      }
    }
    self.recipients = recipients
    self.identity = identity
  }

  /// Whether a text has the form of age's public keys, in Bech32: `age1` and 58 letters and digits, or
  /// `age1NAME1` and as many as the plugin of that name wants.
  private static func isPublicKey(_ text: String) -> Bool {
    guard let end = text.lastIndex(of: "1") else { return false }
    let (kind, data) = (text[..<end], text[end...].dropFirst())
    guard data.allSatisfy("qpzry9x8gf2tvdw0s3jn54khce6mua7l".contains) else { return false }
    if kind == "age" { return data.utf8.count == 58 }
    let plugin = kind.dropFirst(4)
    return kind.hasPrefix("age1") && data.utf8.count >= 6
      && plugin.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }
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
    let files = FileOperations.uncounted
    let draft = path + ".new"
    let file = try doing("write", draft) { () throws(SystemError) in
      try files.open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
    }
    var hash = SHA256()
    var byteCount = 0
    do throws(SpoolError) {
      let words = ["age"] + recipients.flatMap { ["-r", $0] } + [source]
      let run = ProgramRun(words, environment: environment)
      let ending = try run.run(mayGoOn: mayGoOn) { (bytes) throws(SpoolError) in
        hash.update(bytes)
        byteCount += bytes.byteCount
        try doing("write", draft) { () throws(SystemError) in
          try unsafe bytes.withUnsafeBytes { (bytes) throws(SystemError) in
            try unsafe files.write(bytes, to: file)
          }
        }
      }
      if let complaint = Self.complaint(ending) {
        throw SpoolError(
          "encrypt", source, reason: complaint, advice: "check the keys of the destination",
          cause: .blocked, kind: .denied)
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

  /// Decrypts a file that has come back, as it is read. O(its size).
  /// - Parameters:
  ///   - sealed: is read from its position on.
  ///   - name: the file's, for errors.
  ///   - consume: takes what it held. Only when this returns is it known to be all of it.
  /// - Throws: an error of the kind `broken` if it is not what was encrypted.
  func decrypt(
    _ sealed: borrowing OpenFile, named name: String, _ environment: [String: String],
    mayGoOn: () -> Bool, to consume: (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    guard let identity else {
      throw SpoolError(
        "decrypt", name, reason: "the destination has no identity",
        advice: "add identity: FILE with age's private key to the destination", cause: .blocked,
        kind: .denied)
    }
    let run = ProgramRun(["age", "-d", "-i", identity], environment: environment)
    let ending = try run.run(input: sealed.descriptor, mayGoOn: mayGoOn, to: consume)
    guard let complaint = Self.complaint(ending) else { return }
    // What is wrong with the key is wrong for every file.
    let isOfKey = ["identity", "identities", identity].contains(where: complaint.contains)
    throw isOfKey
      ? SpoolError(
        "decrypt", name, reason: complaint, advice: "check the identity of the destination",
        cause: .blocked, kind: .denied)
      : SpoolError("decrypt", name, reason: complaint, cause: .input, kind: .broken)
  }

  /// What the program said before it failed; nil if it did not.
  private static func complaint(_ ending: ProgramRun.Ending) -> String? {
    if ending.exitCode == 0 { return nil }
    let first = ending.complaints.split(whereSeparator: \.isNewline).first.map(String.init)
    return PlainText.line(first ?? "age ended with the exit code \(ending.exitCode)")
  }
}

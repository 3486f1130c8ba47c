internal import FoundationEssentials
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
      if Self.isPrivateKey(recipient) {
        throw SpoolError(
          "encrypt is a private key", advice: "name the public key, which begins with age1")
      }
      guard Self.isPublicKey(recipient) || Self.isPublicKeyOfSSH(recipient) else {
        throw SpoolError(
          "\(PlainText.line(recipient)) is no public key of age",
          advice: "age-keygen -y FILE prints it; it begins with age1")
      }
    }
    self.recipients = recipients
    self.identity = identity
  }

  /// Whether a text is a private key itself, where a public one or a file's name is wanted.
  static func isPrivateKey(_ text: String) -> Bool { text.uppercased().hasPrefix("AGE-SECRET-KEY") }

  /// Whether a text is one of age's public keys, `age1…`, or one for a plugin, `age1NAME1…`: Bech32 with its
  /// checksum (BIP 173).
  private static func isPublicKey(_ text: String) -> Bool {
    guard let end = text.lastIndex(of: "1"), text.allSatisfy(\.isASCII) else { return false }
    let (kind, data) = (text[..<end], text[end...].dropFirst())
    let digits = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l")
    let values = data.compactMap { digits.firstIndex(of: $0) }
    let isPlugin =
      kind.hasPrefix("age1")
      && kind.dropFirst(4).allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" }
    guard values.count == data.count,
      kind == "age" ? values.count == 58 : isPlugin && values.count >= 6
    else { return false }
    let letters = kind.utf8.map(Int.init)
    let factors = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
    var sum = 1
    for value in letters.map({ $0 >> 5 }) + [0] + letters.map({ $0 & 31 }) + values {
      let top = sum >> 25
      sum = ((sum & 0x1ff_ffff) << 5) ^ value
      for (bit, factor) in factors.enumerated() where (top >> bit) & 1 == 1 { sum ^= factor }
    }
    return sum == 1
  }

  /// Whether a text is a public key as SSH writes it: its kind, and a base64 text of fields, of which the
  /// first one is the kind (RFC 4253, section 6.6).
  private static func isPublicKeyOfSSH(_ text: String) -> Bool {
    let words = text.split(separator: " ")
    guard words.count > 1, ["ssh-ed25519", "ssh-rsa"].contains(words[0]),
      let data = Data(base64Encoded: String(words[1]))
    else { return false }
    var fields: [[UInt8]] = []
    var rest = Array(data)[...]
    while rest.count >= 4 {
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(4)
      guard rest.count >= length else { return false }
      fields.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return rest.isEmpty && fields.first == Array(words[0].utf8)
      && fields.count == (words[0] == "ssh-rsa" ? 3 : 2)
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

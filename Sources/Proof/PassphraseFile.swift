internal import Glibc

/// A file whose first line is a passphrase, as `openssl -passin file:` has it: what comes after the
/// first line break is not read for it.
public struct PassphraseFile: PassphraseSource, Hashable {
  /// Who may read such a file.
  public enum Privacy: Hashable, Sendable {
    /// It is the user's, and nobody else may: 0600 or less.
    case own
    /// systemd laid it there for the service. It may be root's, and an access list that lets the
    /// service alone read it looks like permissions of the group; others may not.
    case credential
  }

  /// The longest passphrase, in bytes: `openssl` reads no longer one.
  public static let maximumByteCount = 1023

  /// Where it is: a file, or an open descriptor as `/dev/fd/3`.
  public let path: String
  private let privacy: Privacy

  /// Names a file, which is read when somebody asks.
  public init(_ path: String, _ privacy: Privacy = .own) {
    self.path = path
    self.privacy = privacy
  }

  /// What systemd's `LoadCredential=spool-passphrase:…` gives a service; nil where it gave none.
  public static func credential(_ environment: [String: String]) -> PassphraseFile? {
    guard let folder = environment["CREDENTIALS_DIRECTORY"], folder.hasPrefix("/") else {
      return nil
    }
    let path = folder + "/spool-passphrase"
    return unsafe access(path, F_OK) == 0 ? PassphraseFile(path, .credential) : nil
  }

  /// The first line of the file.
  public func passphrase(of key: String) throws(ProofError) -> SecretBytes {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard file >= 0 else { throw failure(unsafe String(cString: strerror(errno))) }
    defer { close(file) }
    try checkPrivacy(of: file)
    // Longer than any, by the line break and by one that shows that it is too long.
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

  /// The line, out of what was read.
  private func checked(_ text: SecretBytes) throws(ProofError) -> SecretBytes {
    let line = unsafe text.withUnsafeBytes { bytes in
      let end = unsafe bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      return unsafe SecretBytes(bytes[..<end])
    }
    guard line.count > 0 else { throw failure("its first line is empty") }
    guard line.count <= Self.maximumByteCount else {
      throw failure("no passphrase has more than \(Self.maximumByteCount) bytes")
    }
    // openssl would take what comes before it for all.
    guard line.index(of: "\0") == nil else { throw failure("there is a zero byte in it") }
    return line
  }

  private func checkPrivacy(of file: Int32) throws(ProofError) {
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else {
      throw failure(unsafe String(cString: strerror(errno)))
    }
    guard [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT) else {
      throw failure("it is no file")
    }
    let isOwn = status.st_uid == geteuid()
    guard isOwn || privacy == .credential && status.st_uid == 0 else {
      throw failure("it belongs to another user")
    }
    guard status.st_mode & (privacy == .own ? 0o077 : 0o007) == 0 else {
      throw failure(
        "others may have read it: its permissions are \(KeyFile.octal(status.st_mode & 0o777))",
        "chmod 600 \(path), and choose another passphrase with spool key passphrase")
    }
  }

  private func failure(
    _ reason: String, _ advice: String = "name another with --passphrase-file"
  ) -> ProofError {
    ProofError("cannot take a passphrase from \(path)", reason: reason, advice: advice)
  }
}

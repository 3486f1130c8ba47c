internal import Glibc
internal import Hashing

/// Where a user's keys lie: `signing.pem`, which nobody else may read, and in `known` the public
/// keys of all that are trusted here, the user's own earlier ones among them.
public struct KeyFolder: Sendable {
  /// Where it is.
  public let path: String

  /// Keys in a folder, which need not be there yet.
  public init(_ path: String) { self.path = path }

  /// The folder: the `--keys` option, else `SPOOL_KEYS`, else `spool/keys` in the user's data
  /// folder (`XDG_DATA_HOME`, else `~/.local/share`).
  public static func locate(option: String?, environment: [String: String]) -> String {
    if let option, !option.isEmpty { return option }
    if let named = environment["SPOOL_KEYS"], !named.isEmpty { return named }
    // The specification of XDG_DATA_HOME has relative paths ignored.
    if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/spool/keys" }
    return home(environment) + "/.local/share/spool/keys"
  }

  /// The key to sign with; made, if there is none yet.
  public func signingKey() throws(ProofError) -> SigningKey {
    if let key = try existingSigningKey() { return key }
    let key = SigningKey()
    try prepare()
    try learn(key.verifyingKey)
    // Another process may have made one meanwhile: the first counts.
    let isFirst = try KeyFile.write(key.pem, to: signingPath, replacing: false)
    if isFirst { return key }
    KeyFile.remove(knownPath(key.verifyingKey))
    guard let other = try existingSigningKey() else {
      throw ProofError("the signing key \(signingPath) was taken away while it was made")
    }
    return other
  }

  /// The key to sign with; nil where there is none yet.
  /// - Throws: if others can read it, or it is no key.
  public func existingSigningKey() throws(ProofError) -> SigningKey? {
    guard let pem = try KeyFile.read(signingPath, isSecret: true) else { return nil }
    guard let key = SigningKey(pem: pem) else {
      throw ProofError(
        "cannot use the signing key \(signingPath)", reason: Self.complaint(pem),
        advice: "put the right file back, or spool key rotate after moving it away")
    }
    return key
  }

  /// Every public key that is trusted here, in the order of their names.
  public func knownKeys() throws(ProofError) -> [VerifyingKey] {
    var keys: [VerifyingKey] = []
    for name in KeyFile.names(in: knownFolder) where name.hasSuffix(".pub") {
      guard let pem = try KeyFile.read("\(knownFolder)/\(name)", isSecret: false) else { continue }
      guard let key = VerifyingKey(pem: pem), name == "\(key.id.hex).pub" else {
        throw ProofError(
          "cannot use the public key \(knownFolder)/\(name)",
          reason: "it is not the key that its name says",
          advice: "take it away, and import the right one with spool key import")
      }
      keys.append(key)
    }
    return keys
  }

  /// Makes a new signing key. The old one signs nothing any more and is gone; its public key stays
  /// among those that are trusted, so that what it signed still verifies.
  public func rotate() throws(ProofError) -> (old: VerifyingKey?, new: VerifyingKey) {
    let key = SigningKey()
    return (try adopt(key), key.verifyingKey)
  }

  /// Takes a key from PEM: a private one becomes the signing key, as with `rotate`; a public one is
  /// trusted from now on.
  public func take(_ pem: String) throws(ProofError) -> (key: VerifyingKey, isSigning: Bool) {
    if let key = SigningKey(pem: pem) {
      _ = try adopt(key)
      return (key.verifyingKey, true)
    }
    guard let key = VerifyingKey(pem: pem) else {
      throw ProofError("this is no key", reason: Self.complaint(pem))
    }
    try prepare()
    try learn(key)
    return (key, false)
  }

  /// Writes the signing key to a new file that only the user can read.
  public func exportSigningKey(to path: String) throws(ProofError) {
    guard try KeyFile.write(try signingKey().pem, to: path, replacing: false) else {
      throw ProofError(
        "cannot write the key to \(path)", reason: "something is there already",
        advice: "name a file that is not there yet")
    }
  }

  private func adopt(_ key: SigningKey) throws(ProofError) -> VerifyingKey? {
    let old = try existingSigningKey()?.verifyingKey
    try prepare()
    if let old { try learn(old) }
    try learn(key.verifyingKey)
    _ = try KeyFile.write(key.pem, to: signingPath, replacing: true)
    return old
  }

  private func learn(_ key: VerifyingKey) throws(ProofError) {
    _ = try KeyFile.write(key.pem, to: knownPath(key), replacing: true)
  }

  private func prepare() throws(ProofError) {
    try KeyFile.makeFolder(path)
    try KeyFile.makeFolder(knownFolder)
  }

  private var signingPath: String { path + "/signing.pem" }
  private var knownFolder: String { path + "/known" }
  private func knownPath(_ key: VerifyingKey) -> String { "\(knownFolder)/\(key.id.hex).pub" }

  private static func complaint(_ pem: String) -> String {
    pem.contains("ENCRYPTED")
      ? "it is encrypted with a passphrase; openssl pkey -in FILE -out FILE takes that off"
      : "it is no Ed25519 key as PEM"
  }

  private static func home(_ environment: [String: String]) -> String {
    if let home = environment["HOME"], !home.isEmpty { return home }
    guard let user = unsafe getpwuid(getuid()), let home = unsafe user.pointee.pw_dir else {
      return ""
    }
    return unsafe String(cString: home)
  }
}

internal import Glibc
internal import Hashing

/// Where a user's keys lie: `signing.pem`, which nobody else may read; in `known` the public keys of
/// all that are trusted here, the user's own earlier ones among them; and in `earlier` which those are.
public struct KeyFolder: Sendable {
  /// Where it is.
  public let path: String

  private let passphrases: (any PassphraseSource)?

  /// Keys in a folder, which need not be there yet.
  /// - Parameter passphrases: who knows the passphrase of the signing key, if it has one; asked
  ///   only then.
  public init(_ path: String, passphrases: (any PassphraseSource)? = nil) {
    self.path = path
    self.passphrases = passphrases
  }

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
    let isFirst = try KeyFile.write(
      key.text(protectedBy: nil), to: signingPath, replacing: false)
    if isFirst { return key }
    KeyFile.remove(knownPath(key.verifyingKey))
    guard let other = try existingSigningKey() else {
      throw ProofError("the signing key \(signingPath) was taken away while it was made")
    }
    return other
  }

  /// The key to sign with; nil where there is none yet.
  /// - Throws: if others can read it, it is no key, or its passphrase is not to be had or wrong.
  public func existingSigningKey() throws(ProofError) -> SigningKey? { try opened()?.key }

  /// The public part of the key to sign with; nil where there is none yet. A passphrase is asked for
  /// only where it does not lie beside the private part.
  public func existingVerifyingKey() throws(ProofError) -> VerifyingKey? {
    guard let text = try KeyFile.read(signingPath, isSecret: true) else { return nil }
    try KeyFile.checkFolders([path, knownFolder])
    if ProtectedKey.isProtected(text),
      let key = try ProtectedKey.publicPart(of: text, at: signingPath)
    {
      try checkKnown(key)
      return key
    }
    return try opened(text).key.verifyingKey
  }

  /// Whether there is a key to sign with that a passphrase protects.
  public func isProtected() throws(ProofError) -> Bool {
    try KeyFile.read(signingPath, isSecret: true).map(ProtectedKey.isProtected) ?? false
  }

  /// Every public key that is trusted here, in the order of their names.
  public func knownKeys() throws(ProofError) -> [VerifyingKey] {
    try keys(in: knownFolder)
  }

  /// Those of the known keys that were the signing key here once, in the order of their names: each
  /// that another took the place of.
  public func earlierKeys() throws(ProofError) -> [VerifyingKey] {
    let own = try keys(in: earlierFolder)
    return try knownKeys().filter(own.contains)
  }

  private func keys(in folder: String) throws(ProofError) -> [VerifyingKey] {
    try KeyFile.checkFolders([path, folder])
    var keys: [VerifyingKey] = []
    for name in KeyFile.names(in: folder) where name.hasSuffix(".pub") {
      guard let pem = try KeyFile.read("\(folder)/\(name)", isSecret: false) else { continue }
      guard let key = VerifyingKey(pem: pem.text), name == "\(key.id.hex).pub" else {
        throw ProofError(
          "cannot use the public key \(folder)/\(name)",
          reason: "it is not the key that its name says",
          advice: "take it away, and import the right one with spool key import")
      }
      keys.append(key)
    }
    return keys
  }

  /// Makes a new signing key. The old one signs nothing any more and is gone; its public key stays
  /// among those that are trusted, so that what it signed still verifies. The passphrase of the old
  /// one protects the new one.
  public func rotate() throws(ProofError) -> (old: VerifyingKey?, new: VerifyingKey) {
    let old = try opened()
    let key = SigningKey()
    try adopt(key, insteadOf: old?.key.verifyingKey, protectedBy: old?.passphrase)
    return (old?.key.verifyingKey, key.verifyingKey)
  }

  /// Protects the signing key by another passphrase than before, or by none. It is made, if there is
  /// none yet.
  /// - Parameter choose: asked for the new one when the old one, if there is one, was right.
  public func protect(
    _ choose: () throws(ProofError) -> SecretBytes?
  ) throws(ProofError) -> VerifyingKey {
    let key = try signingKey()
    _ = try KeyFile.write(
      key.text(protectedBy: try choose()), to: signingPath, replacing: true)
    return key.verifyingKey
  }

  /// Takes a key from PEM: a private one becomes the signing key, as with `rotate`, and keeps the
  /// passphrase that it has; a public one is trusted from now on.
  public func take(_ pem: SecretBytes) throws(ProofError) -> (key: VerifyingKey, isSigning: Bool) {
    guard pem.index(of: "PRIVATE KEY-----") != nil else {
      guard let key = VerifyingKey(pem: pem.text) else {
        throw ProofError("this is no key", reason: ProtectedKey.complaint)
      }
      try prepare()
      try learn(key)
      return (key, false)
    }
    var passphrase: SecretBytes?
    if ProtectedKey.isProtected(pem) {
      passphrase = try self.passphrase(of: "the key that is imported")
    }
    guard let key = SigningKey(pem: pem, passphrase: passphrase) else {
      throw ProofError(
        "cannot import this key",
        reason: passphrase == nil ? ProtectedKey.complaint : ProtectedKey.wrongPassphrase)
    }
    try adopt(key, insteadOf: try existingVerifyingKey(), protectedBy: passphrase)
    return (key.verifyingKey, true)
  }

  /// Takes a key from a file, as from its text.
  public func take(fileAt path: String) throws(ProofError) -> (key: VerifyingKey, isSigning: Bool) {
    guard let pem = try KeyFile.read(path, isSecret: false, followsLinks: true) else {
      throw ProofError(
        "cannot read the key \(path)", reason: "there is no such file", advice: "check the path")
    }
    // Whoever could read the file can sign as whoever signs with it from now on.
    if pem.index(of: "PRIVATE KEY-----") != nil {
      _ = try KeyFile.read(path, isSecret: true, followsLinks: true)
    }
    return try take(pem)
  }

  /// Writes the signing key to a new file that only the user can read; one that a passphrase
  /// protects, protected by that.
  public func exportSigningKey(to path: String) throws(ProofError) {
    if try existingVerifyingKey() == nil { _ = try signingKey() }
    guard let text = try KeyFile.read(signingPath, isSecret: true),
      try KeyFile.write(text, to: path, replacing: false)
    else {
      throw ProofError(
        "cannot write the key to \(path)", reason: "something is there already",
        advice: "name a file that is not there yet")
    }
  }

  private func opened() throws(ProofError) -> ProtectedKey? {
    guard let text = try KeyFile.read(signingPath, isSecret: true) else { return nil }
    try KeyFile.checkFolders([path, knownFolder])
    return try opened(text)
  }

  private func opened(_ text: SecretBytes) throws(ProofError) -> ProtectedKey {
    let opened = try ProtectedKey(text, at: signingPath) { () throws(ProofError) in
      try passphrase(of: "the signing key \(signingPath)")
    }
    try checkKnown(opened.key.verifyingKey)
    return opened
  }

  /// Whoever signs is known here since the key was made: a key that is not is a file that was changed.
  private func checkKnown(_ key: VerifyingKey) throws(ProofError) {
    let pem = try KeyFile.read(knownPath(key), isSecret: false)
    guard pem.flatMap({ VerifyingKey(pem: $0.text) }) == key else {
      throw ProofError(
        "cannot use the signing key \(signingPath)",
        reason: "its public part is not in \(knownFolder): one of the two was changed",
        advice: "put the right file back, or move it away and spool key import it from there")
    }
  }

  private func passphrase(of key: String) throws(ProofError) -> SecretBytes {
    guard let passphrases else {
      throw ProofError(
        "\(key) is protected by a passphrase", reason: "nobody is here who could be asked for it",
        advice: "name a file that holds it with --passphrase-file")
    }
    return try passphrases.passphrase(of: key)
  }

  private func adopt(
    _ key: SigningKey, insteadOf old: VerifyingKey?, protectedBy passphrase: SecretBytes?
  ) throws(ProofError) {
    try prepare()
    if let old {
      try learn(old)
      try KeyFile.makeFolder(earlierFolder)
      _ = try KeyFile.write(
        SecretBytes(old.pem.utf8), to: "\(earlierFolder)/\(old.id.hex).pub", replacing: true)
    }
    try learn(key.verifyingKey)
    _ = try KeyFile.write(
      key.text(protectedBy: passphrase), to: signingPath, replacing: true)
  }

  private func learn(_ key: VerifyingKey) throws(ProofError) {
    _ = try KeyFile.write(SecretBytes(key.pem.utf8), to: knownPath(key), replacing: true)
  }

  private func prepare() throws(ProofError) {
    try KeyFile.makeFolder(path)
    try KeyFile.makeFolder(knownFolder)
    try KeyFile.checkFolders([path, knownFolder])
  }

  var signingPath: String { path + "/signing.pem" }
  var knownFolder: String { path + "/known" }
  private var earlierFolder: String { path + "/earlier" }
  private func knownPath(_ key: VerifyingKey) -> String { "\(knownFolder)/\(key.id.hex).pub" }

  private static func home(_ environment: [String: String]) -> String {
    if let home = environment["HOME"], !home.isEmpty { return home }
    guard let user = unsafe getpwuid(getuid()), let home = unsafe user.pointee.pw_dir else {
      return ""
    }
    return unsafe String(cString: home)
  }
}

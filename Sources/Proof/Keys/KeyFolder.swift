import Glibc
package import Platform

/// A user's keys: `signing.pem`, readable by its owner only; in `known` all trusted public keys,
/// the user's earlier ones included; in `earlier` the names of those.
package struct KeyFolder: Sendable {
  package let path: String

  private let passphrases: (any PassphraseSource)?

  /// The folder need not exist yet.
  /// - Parameter passphrases: asked only if the signing key has a passphrase.
  package init(_ path: String, passphrases: (any PassphraseSource)? = nil) {
    self.path = path
    self.passphrases = passphrases
  }

  /// The folder: the `--keys` option, else `SPOOL_KEYS`, else `keys` in the store if it is there, as in
  /// a store that was moved with them, else `spool/keys` in the user's data folder (`XDG_DATA_HOME`,
  /// else `~/.local/share`).
  package static func locate(
    option: String?, environment: [String: String], store: String? = nil
  ) -> String {
    if let option, !option.isEmpty { return option }
    if let named = environment["SPOOL_KEYS"], !named.isEmpty { return named }
    if let own = store.map({ $0 + "/keys" }), (try? FileStamp(following: own))?.isFolder == true {
      return own
    }
    return (UserAccount.dataFolder(environment) ?? "/.local/share") + "/spool/keys"
  }

  /// The signing key, generated if there is none.
  package func signingKey() throws(SpoolError) -> SigningKey {
    if let key = try existingSigningKey() { return key }
    let key = SigningKey()
    try prepare()
    try learn(key.verifyingKey)
    // Another process may have generated one meanwhile: the first counts.
    let isFirst = try KeyFile.write(
      key.text(protectedBy: nil), to: signingPath, replacing: false)
    if isFirst { return key }
    KeyFile.remove(knownPath(key.verifyingKey))
    guard let other = try existingSigningKey() else {
      throw SpoolError(
        "the signing key \(signingPath) was taken away while it was made", cause: .blocked)
    }
    return other
  }

  /// The signing key; nil if there is none.
  /// - Throws: if others can read it, it is invalid, or its passphrase is unavailable or wrong.
  package func existingSigningKey() throws(SpoolError) -> SigningKey? { try opened()?.key }

  /// The signing key's public part; nil if there is none. Asks for a passphrase only if the public
  /// part is not stored beside the private one.
  package func existingVerifyingKey() throws(SpoolError) -> VerifyingKey? {
    guard let text = try KeyFile.read(signingPath, isSecret: true) else { return nil }
    try KeyFile.checkFolders([path, knownFolder])
    guard text.isProtected, text.hasPublicPart else { return try opened(text).key.verifyingKey }
    guard let key = text.publicPart, text.isWhole(of: key) else { throw refusal(Self.otherText) }
    try checkKnown(key)
    return key
  }

  /// Whether the signing key has a passphrase.
  package func isProtected() throws(SpoolError) -> Bool {
    try KeyFile.read(signingPath, isSecret: true)?.isProtected ?? false
  }

  /// The trusted public keys, by name.
  package func knownKeys() throws(SpoolError) -> [VerifyingKey] {
    try keys(in: knownFolder)
  }

  /// The known keys that were signing keys before, by name.
  package func earlierKeys() throws(SpoolError) -> [VerifyingKey] {
    let own = try keys(in: earlierFolder)
    return try knownKeys().filter(own.contains)
  }

  private func keys(in folder: String) throws(SpoolError) -> [VerifyingKey] {
    try KeyFile.checkFolders([path, folder])
    var keys: [VerifyingKey] = []
    for name in FilePath.names(in: folder) where name.hasSuffix(".pub") {
      guard let pem = try KeyFile.read("\(folder)/\(name)", isSecret: false) else { continue }
      guard let key = VerifyingKey(pem: pem.text), name == "\(key.id.hex).pub" else {
        throw SpoolError(
          "cannot use the public key \(folder)/\(name)",
          reason: "it is not the key that its name says",
          advice: "take it away, and import the right one with "
            + "\(command: .keyImport)", cause: .blocked)
      }
      keys.append(key)
    }
    return keys
  }

  /// Generates a new signing key with the old one's passphrase. The old one is removed; its public
  /// key stays trusted, so that its signatures still verify.
  package func rotate() throws(SpoolError) -> (old: VerifyingKey?, new: VerifyingKey) {
    let old = try opened()
    let key = SigningKey()
    try adopt(key, insteadOf: old?.key.verifyingKey, protectedBy: old?.passphrase)
    return (old?.key.verifyingKey, key.verifyingKey)
  }

  /// Changes or removes the signing key's passphrase; generates the key if there is none.
  /// - Parameter choose: called for the new passphrase after the old one, if any, was right.
  package func protect(
    _ choose: () throws(SpoolError) -> SecretBytes?
  ) throws(SpoolError) -> VerifyingKey {
    let key = try signingKey()
    _ = try KeyFile.write(
      key.text(protectedBy: try choose()), to: signingPath, replacing: true)
    return key.verifyingKey
  }

  /// Imports a key from PEM: a private key becomes the signing key, as with `rotate`, and keeps its
  /// passphrase; a public one becomes trusted.
  package func take(_ pem: SecretBytes) throws(SpoolError) -> (key: VerifyingKey, isSigning: Bool) {
    guard pem.index(of: "PRIVATE KEY-----") != nil else {
      guard let key = VerifyingKey(pem: pem.text) else {
        throw SpoolError("this is no key", reason: Self.complaint, cause: .blocked)
      }
      try prepare()
      try learn(key)
      return (key, false)
    }
    var passphrase: SecretBytes?
    if pem.isProtected {
      passphrase = try self.passphrase(of: "the key that is imported")
    }
    guard let key = SigningKey(pem: pem, passphrase: passphrase) else {
      throw SpoolError(
        "cannot import this key",
        reason: passphrase == nil ? Self.complaint : Self.wrongPassphrase,
        cause: .blocked)
    }
    try adopt(key, insteadOf: try existingVerifyingKey(), protectedBy: passphrase)
    return (key.verifyingKey, true)
  }

  package func take(fileAt path: String) throws(SpoolError) -> (key: VerifyingKey, isSigning: Bool)
  {
    guard let pem = try KeyFile.read(path, isSecret: false, followsLinks: true) else {
      throw SpoolError(
        "cannot read the key \(path)", reason: "there is no such file", advice: "check the path",
        cause: .blocked)
    }
    // Readers of the file could sign as this user.
    if pem.index(of: "PRIVATE KEY-----") != nil {
      _ = try KeyFile.read(path, isSecret: true, followsLinks: true)
    }
    return try take(pem)
  }

  /// Writes the signing key to a new file readable by its owner only, with its passphrase, if it
  /// has one.
  package func exportSigningKey(to path: String) throws(SpoolError) {
    if try existingVerifyingKey() == nil { _ = try signingKey() }
    guard let text = try KeyFile.read(signingPath, isSecret: true),
      try KeyFile.write(text, to: path, replacing: false)
    else {
      throw SpoolError(
        "cannot write the key to \(path)", reason: "something is there already",
        advice: "name a file that is not there yet", cause: .blocked)
    }
  }

  /// The signing key, and its passphrase if it has one.
  private typealias Opened = (key: SigningKey, passphrase: SecretBytes?)

  private func opened() throws(SpoolError) -> Opened? {
    guard let text = try KeyFile.read(signingPath, isSecret: true) else { return nil }
    try KeyFile.checkFolders([path, knownFolder])
    return try opened(text)
  }

  private func opened(_ text: SecretBytes) throws(SpoolError) -> Opened {
    let passphrase =
      text.isProtected ? try passphrase(of: "the signing key \(signingPath)") : nil
    guard let key = SigningKey(pem: text, passphrase: passphrase) else {
      throw passphrase == nil
        ? refusal(Self.complaint)
        : refusal(
          Self.wrongPassphrase,
          "give the right one, in its file if it has one; \(command: .keyPassphrase) changes it, if the old "
            + "one is known")
    }
    // Any 32 bytes are a valid private key; only the public part reveals damage.
    if let stated = text.publicPart, stated != key.verifyingKey {
      throw refusal(
        "its private and its public part do not belong together: the file was changed")
    }
    guard text.isWhole(of: key) else { throw refusal(Self.otherText) }
    try checkKnown(key.verifyingKey)
    return (key, passphrase)
  }

  private static let otherText = "it is not the text that is written for its key: it was changed"
  private static let complaint = "it is no Ed25519 key as PEM"
  private static let wrongPassphrase = "the passphrase is wrong, or the file is damaged"

  private func refusal(
    _ reason: String,
    _ advice: String = "put the right file back, or \(command: .keyRotate) after moving it away"
  ) -> SpoolError {
    SpoolError(
      "cannot use the signing key \(signingPath)", reason: reason, advice: advice, cause: .blocked)
  }

  /// A signing key is known since it was generated: an unknown one means a changed file.
  private func checkKnown(_ key: VerifyingKey) throws(SpoolError) {
    let pem = try KeyFile.read(knownPath(key), isSecret: false)
    guard pem.flatMap({ VerifyingKey(pem: $0.text) }) == key else {
      throw SpoolError(
        "cannot use the signing key \(signingPath)",
        reason: "its public part is not in \(knownFolder): one of the two was changed",
        advice: "put the right file back, or move it away and \(command: .keyImport) it from there",
        cause: .blocked)
    }
  }

  private func passphrase(of key: String) throws(SpoolError) -> SecretBytes {
    guard let passphrases else {
      throw SpoolError(
        "\(key) is protected by a passphrase", reason: "nobody is here who could be asked for it",
        advice: "name a file that holds it with \(option: .passphraseFile)", cause: .blocked)
    }
    return try passphrases.passphrase(of: key)
  }

  private func adopt(
    _ key: SigningKey, insteadOf old: VerifyingKey?, protectedBy passphrase: SecretBytes?
  ) throws(SpoolError) {
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

  private func learn(_ key: VerifyingKey) throws(SpoolError) {
    _ = try KeyFile.write(SecretBytes(key.pem.utf8), to: knownPath(key), replacing: true)
  }

  private func prepare() throws(SpoolError) {
    try KeyFile.makeFolder(path)
    try KeyFile.makeFolder(knownFolder)
    try KeyFile.checkFolders([path, knownFolder])
  }

  var signingPath: String { path + "/signing.pem" }
  var knownFolder: String { path + "/known" }
  private var earlierFolder: String { path + "/earlier" }
  private func knownPath(_ key: VerifyingKey) -> String { "\(knownFolder)/\(key.id.hex).pub" }

  /// Stamps of the signing key's file and the folders around it: while they are unchanged, a cached
  /// key is valid and still private.
  package struct Status: Hashable, Sendable {
    private let file: FileStamp?
    private let folders: [[Int64]?]

    package var hasKey: Bool { file != nil }

    fileprivate init(file path: String, folders: [String]) {
      file = try? FileStamp(following: path)
      // Files in them come and go; their owners and permissions matter.
      self.folders = folders.map { folder in
        (try? FileStamp(following: folder)).map {
          [$0.device, $0.inode, Int64($0.permissions), Int64($0.owner)]
        }
      }
    }
  }

  /// The present stamps: three stat calls.
  package var status: Status { Status(file: signingPath, folders: [path, knownFolder]) }

  /// The signing key, as from `signingKey`, and its file's stamps at that time.
  /// - Parameter isHeld: whether it existed before: then none is generated in its place.
  package func standingKey(
    wasThere isHeld: Bool
  ) throws(SpoolError) -> (key: SigningKey, status: Status) {
    var before = status
    while true {
      if isHeld, !before.hasKey {
        throw SpoolError(
          "the signing key \(signingPath) is not there any more",
          reason: "it was taken away while it was in use",
          advice: "put it back; whatever signs makes a new one only when it is started anew",
          cause: .blocked)
      }
      let key = try signingKey()
      let after = status
      if after == before { return (key, after) }
      before = after
    }
  }
}

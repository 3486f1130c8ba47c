import PipelineModel
import Platform
import Proof
import Stages

extension Command {
  /// `spool proof key`: manages the keys that sign and verify receipts.
  static let key = Command(
    name: "proof key", group: "Proof",
    summary: "Show, export, rotate or import the keys of receipts.",
    discussion: """
      show tells the name of the signing key, of those that signed here earlier, and of all others \
      that are trusted here; with FILE, the name of that key. A key's name is the SHA-256 of its public part in DER. The first receipt \
      makes a signing key, and so does export. export prints the public key for others to check \
      with. rotate makes a new signing key; what the old one signed still verifies, but its private \
      part is gone. import trusts another's public key, or signs with a private one from now on. \
      passphrase sets one that the signing key is encrypted with, or another than before; with \
      --remove, it is taken off. It is asked for at the terminal, or read from a file, whenever \
      something is to be signed; nobody can sign without it, and nobody can find it again. Keys are Ed25519 as PEM, which openssl reads and makes too. The \
      signing key is used only if nobody else can read it.
      """,
    positionals: [Options.action, Options.file],
    options: [
      Options.isPrivate, Options.isRemoving, Options.newFile, Options.keys, Options.passphraseFile,
      Options.json,
    ],
    examples: [
      Example("The key for those who check", "spool proof key export > spool.pub"),
      Example("Trust what a colleague signs", "spool proof key import colleague.pub"),
      Example(
        "Keep the private key somewhere safe", "spool proof key export --private safe/spool.pem"),
      Example("Encrypt it with a passphrase", "spool proof key passphrase"),
    ],
    perform: CommandContext.manageKeys)
}

extension Options {
  fileprivate enum Action: String, CaseIterable, ArgumentValue {
    case show, export, rotate, passphrase
    case take = "import"
  }

  fileprivate static let action = Positional<Action?>.optional(
    "ACTION", help: "What to do; left out, show.")
  fileprivate static let file = Positional<String?>.optional(
    "FILE", help: "The key to show or import; where the private key is exported to.",
    completion: .files())
  fileprivate static let isPrivate = Option<Bool>.flag(
    "private", help: "Export the private key, to a new FILE that only you can read.")
  fileprivate static let newFile = Option<String?>.value(
    "new-passphrase-file", "FILE", help: "The file whose first line is the new passphrase.",
    defaultText: "the terminal is asked", completion: .files())
  fileprivate static let isRemoving = Option<Bool>.flag(
    "remove", help: "With passphrase: leave the signing key without one.")
}

extension CommandContext {
  fileprivate func manageKeys() throws(SpoolError) -> ExitCode {
    let folder = keyFolder()
    switch arguments[Options.action] ?? .show {
    case .show: try show(folder)
    case .export: try export(folder)
    case .rotate:
      let (old, new) = try folder.rotate()
      try tell([("signing", new)] + (old.map { [("earlier", $0)] } ?? []), folder)
    case .passphrase: try protect(folder)
    case .take: try take(folder)
    }
    return .done
  }

  private func show(_ folder: KeyFolder) throws(SpoolError) {
    if let path = arguments[Options.file] {
      try requireThere(path)
      return try tell([("key", try VerifyingKey(at: path))], folder)
    }
    let (own, known, earlier) = (
      try folder.existingVerifyingKey(), try folder.knownKeys(), try folder.earlierKeys()
    )
    // An earlier key that is in use again signs.
    let mine = earlier.filter { $0 != own }
    let others = known.filter { $0 != own && !earlier.contains($0) }
    try tell(
      (own.map { [("signing", $0)] } ?? []) + mine.map { ("earlier", $0) }
        + others.map { ("trusted", $0) }, folder)
    if own == nil, !isJSON {
      console.report("no signing key yet in \(folder.path); the first receipt makes one")
    }
  }

  private func export(_ folder: KeyFolder) throws(SpoolError) {
    let path = arguments[Options.file]
    guard arguments[Options.isPrivate] else {
      guard path == nil else {
        throw .usage("the public key is printed, and written to no file", advice: "> FILE")
      }
      if let key = try folder.existingVerifyingKey() { return console.draw(key.pem) }
      return console.draw(try folder.signingKey().verifyingKey.pem)
    }
    guard let path else {
      throw .usage(
        "the private key is written to a file, and never printed",
        advice: "spool proof key export --private FILE")
    }
    try folder.exportSigningKey(to: path)
    let isProtected = try folder.isProtected()
    console.report(
      "whoever has \(path)\(isProtected ? " and its passphrase" : "") can sign as you")
  }

  private func take(_ folder: KeyFolder) throws(SpoolError) {
    guard let path = arguments[Options.file] else {
      throw .usage("spool proof key import takes a file", advice: "spool proof key import FILE")
    }
    try requireThere(path)
    let (key, isSigning) = try folder.take(fileAt: path)
    try tell([(isSigning ? "signing" : "trusted", key)], folder)
  }

  private func protect(_ folder: KeyFolder) throws(SpoolError) {
    let isRemoving = arguments[Options.isRemoving]
    guard !isRemoving || arguments[Options.newFile] == nil else {
      throw .usage(
        "--remove leaves no passphrase, and a new one was named", advice: "one of the two")
    }
    let key = try folder.protect { () throws(SpoolError) in
      isRemoving ? nil : try newPassphrase()
    }
    try tell([("signing", key)], folder)
    if !isJSON {
      console.report(
        isRemoving
          ? "the signing key has no passphrase: whoever has its file can sign as you"
          : "the signing key is encrypted; copies of its file that were made before are not")
    }
  }

  private func tell(
    _ keys: [(role: String, key: VerifyingKey)], _ folder: KeyFolder
  ) throws(SpoolError) {
    let hasPassphrase = try folder.isProtected()
    for (role, key) in keys {
      let isProtected = role == "signing" && hasPassphrase
      answer(
        JSONLine([
          "role": role, "key": key.id.hex, "pem": key.pem, "passphrase": isProtected,
        ]), "\(Format.pad(role, 7))  \(key.id.hex)\(isProtected ? "  passphrase" : "")")
    }
  }

  /// Minimum length of a passphrase in bytes. It must resist an offline attack on the key file.
  private static let minimumByteCount = 8

  /// A new passphrase: read from a file, or typed twice.
  private func newPassphrase() throws(SpoolError) -> SecretBytes {
    let file = arguments[Options.newFile].map { PassphraseFile($0) }
    let chosen =
      if let file { try file.passphrase(of: "the signing key") } else { try Self.typedTwice() }
    let minimumByteCount = Self.minimumByteCount
    guard chosen.count >= minimumByteCount else {
      throw SpoolError(
        "this passphrase is not taken",
        reason: "it has \(chosen.count) bytes, and one that is hard to guess has more than "
          + "\(minimumByteCount - 1)",
        advice: "choose several words that nobody else would put together", cause: .blocked)
    }
    return chosen
  }

  private static func typedTwice() throws(SpoolError) -> SecretBytes {
    guard let first = try TerminalPassphrase.read("new passphrase of the signing key: "),
      let second = try TerminalPassphrase.read("the same again: ")
    else {
      throw SpoolError(
        "a new passphrase cannot be asked for", reason: "there is no terminal",
        advice: "--new-passphrase-file FILE, with a file that only you can read", cause: .blocked)
    }
    guard first.isSame(as: second) else {
      throw SpoolError(
        "the passphrase is not changed", reason: "two different ones were typed",
        advice: "spool proof key passphrase", cause: .blocked)
    }
    return first
  }
}

extension VerifyingKey {
  /// Reads a public key from a file.
  init(at path: String) throws(SpoolError) {
    let text = try TextFile.read("the key", path)
    guard let key = VerifyingKey(pem: text) else {
      throw SpoolError(
        "cannot use the key \(path)", reason: "it is no public Ed25519 key as PEM",
        advice: "spool proof key export prints one, and one lies beside every receipt",
        cause: .blocked)
    }
    self = key
  }
}

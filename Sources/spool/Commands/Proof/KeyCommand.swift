import PipelineModel
import Platform
import Proof
import Stages

/// `spool key`: manages the keys that sign and verify receipts.
struct KeyCommand: Command {
  enum Action: String, CaseIterable, ArgumentValue {
    case show, export, rotate, passphrase
    case take = "import"
  }

  private static let action = Positional<Action?>.optional(
    "ACTION", help: "What to do; left out, show.")
  private static let file = Positional<String?>.optional(
    "FILE", help: "The key to show or import; where the private key is exported to.",
    completion: .files())
  private static let isPrivate = Option<Bool>.flag(
    "private", help: "Export the private key, to a new FILE that only you can read.")

  private static let newFile = Option<String?>.value(
    "new-passphrase-file", "FILE", help: "The file whose first line is the new passphrase.",
    defaultText: "the terminal is asked", completion: .files())
  private static let isRemoving = Option<Bool>.flag(
    "remove", help: "With passphrase: leave the signing key without one.")

  static let declaration = CommandDeclaration(
    name: "key", group: "Proof",
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
    positionals: [action, file],
    options: [
      isPrivate, isRemoving, newFile, Options.keys, Options.passphraseFile, Options.json,
    ],
    examples: [
      Example("The key for those who check", "spool key export > spool.pub"),
      Example("Trust what a colleague signs", "spool key import colleague.pub"),
      Example("Keep the private key somewhere safe", "spool key export --private safe/spool.pem"),
      Example("Encrypt it with a passphrase", "spool key passphrase"),
    ])

  private let arguments: ParsedArguments

  init(arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let folder = CommandContext(console: console).keyFolder(
      at: arguments[Options.keys], passphraseFile: arguments[Options.passphraseFile])
    do throws(CommandContext.Refusal) {
      switch arguments[Self.action] ?? .show {
      case .show: try show(folder, console)
      case .export: try export(folder, console)
      case .rotate:
        let (old, new) = try Self.asking(console) { () throws(SpoolError) in
          try folder.rotate()
        }
        try tell([("signing", new)] + (old.map { [("earlier", $0)] } ?? []), folder, console)
      case .passphrase: try protect(folder, console)
      case .take: try take(folder, console)
      }
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  private func show(_ folder: KeyFolder, _ console: Console) throws(CommandContext.Refusal) {
    if let path = arguments[Self.file] {
      return try tell([("key", try Self.publicKey(at: path, console))], folder, console)
    }
    let (own, known, earlier) = try Self.asking(console) { () throws(SpoolError) in
      (try folder.existingVerifyingKey(), try folder.knownKeys(), try folder.earlierKeys())
    }
    // An earlier key that is in use again signs.
    let mine = earlier.filter { $0 != own }
    let others = known.filter { $0 != own && !earlier.contains($0) }
    try tell(
      (own.map { [("signing", $0)] } ?? []) + mine.map { ("earlier", $0) }
        + others.map { ("trusted", $0) }, folder, console)
    if own == nil, !arguments[Options.json] {
      console.report("no signing key yet in \(folder.path); the first receipt makes one")
    }
  }

  private func export(_ folder: KeyFolder, _ console: Console) throws(CommandContext.Refusal) {
    let path = arguments[Self.file]
    guard arguments[Self.isPrivate] else {
      guard path == nil else {
        throw usage("the public key is printed, and written to no file", "> FILE", console)
      }
      let key = try Self.asking(console) { () throws(SpoolError) in
        if let key = try folder.existingVerifyingKey() { return key }
        return try folder.signingKey().verifyingKey
      }
      return console.draw(key.pem)
    }
    guard let path else {
      throw usage(
        "the private key is written to a file, and never printed",
        "spool key export --private FILE", console)
    }
    try Self.asking(console) { () throws(SpoolError) in try folder.exportSigningKey(to: path) }
    let isProtected = try Self.asking(console) { () throws(SpoolError) in
      try folder.isProtected()
    }
    console.report(
      "whoever has \(path)\(isProtected ? " and its passphrase" : "") can sign as you")
  }

  private func take(_ folder: KeyFolder, _ console: Console) throws(CommandContext.Refusal) {
    guard let path = arguments[Self.file] else {
      throw usage("spool key import takes a file", "spool key import FILE", console)
    }
    let (key, isSigning) = try Self.asking(console) { () throws(SpoolError) in
      try folder.take(fileAt: path)
    }
    try tell([(isSigning ? "signing" : "trusted", key)], folder, console)
  }

  private func protect(_ folder: KeyFolder, _ console: Console) throws(CommandContext.Refusal) {
    let isRemoving = arguments[Self.isRemoving]
    guard !isRemoving || arguments[Self.newFile] == nil else {
      throw usage(
        "--remove leaves no passphrase, and a new one was named", "one of the two", console)
    }
    let key = try Self.asking(console) { () throws(SpoolError) in
      try folder.protect { () throws(SpoolError) in
        isRemoving ? nil : try newPassphrase()
      }
    }
    try tell([("signing", key)], folder, console)
    if !arguments[Options.json] {
      console.report(
        isRemoving
          ? "the signing key has no passphrase: whoever has its file can sign as you"
          : "the signing key is encrypted; copies of its file that were made before are not")
    }
  }

  private func tell(
    _ keys: [(role: String, key: VerifyingKey)], _ folder: KeyFolder, _ console: Console
  ) throws(CommandContext.Refusal) {
    let hasPassphrase = try Self.asking(console) { () throws(SpoolError) in
      try folder.isProtected()
    }
    for (role, key) in keys {
      let isProtected = role == "signing" && hasPassphrase
      console.print(
        arguments[Options.json]
          ? JSONText.of(KeyLine(role: role, key: key, isProtected: isProtected))
          : "\(Format.pad(role, 7))  \(key.id.hex)\(isProtected ? "  passphrase" : "")")
    }
  }

  private struct KeyLine: Encodable {
    private let role: String
    private let key: String
    private let pem: String
    private let passphrase: Bool

    init(role: String, key: VerifyingKey, isProtected: Bool) {
      self.role = role
      self.key = key.id.hex
      pem = key.pem
      passphrase = isProtected
    }
  }

  private func usage(_ what: String, _ next: String, _ console: Console) -> CommandContext.Refusal {
    CommandContext.Refusal(text: "\(console.red("error:")) \(what)\nnext:  \(next)", code: .usage)
  }

  /// Reads a public key from a file.
  static func publicKey(
    at path: String, _ console: Console
  ) throws(CommandContext.Refusal) -> VerifyingKey {
    try asking(console) { () throws(SpoolError) in
      guard let key = VerifyingKey(pem: try keyText(at: path)) else {
        throw SpoolError(
          "cannot use the key \(path)", reason: "it is no public Ed25519 key as PEM",
          advice: "spool key export prints one, and one lies beside every receipt", cause: .blocked)
      }
      return key
    }
  }

  private static func keyText(at path: String) throws(SpoolError) -> String {
    do throws(TextFileError) { return try TextFile.read(path) } catch {
      throw SpoolError(
        "cannot read the key \(path)", reason: error.reason, advice: "check the path",
        cause: .blocked)
    }
  }

  /// Converts an error of `body` into a refusal.
  static func asking<Result>(
    _ console: Console, _ body: () throws(SpoolError) -> Result
  ) throws(CommandContext.Refusal) -> Result {
    do throws(SpoolError) { return try body() } catch {
      throw CommandContext.Refusal(
        text: ErrorText(error).render(console), code: .failed)
    }
  }
}

extension KeyCommand {
  /// Minimum length of a passphrase in bytes. It must resist an offline attack on the key file.
  private static let minimumByteCount = 8

  /// A new passphrase: read from a file, or typed twice.
  private func newPassphrase() throws(SpoolError) -> SecretBytes {
    let file = arguments[Self.newFile].map { PassphraseFile($0) }
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
        advice: "spool key passphrase", cause: .blocked)
    }
    return first
  }
}

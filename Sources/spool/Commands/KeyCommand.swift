import Arguments
import Hashing
import PipelineModel
import Proof
import Stages

/// `spool key`: the keys that receipts are signed and checked with.
struct KeyCommand: Command {
  /// What is to be done.
  enum Action: String, CaseIterable, ArgumentValue {
    case show, export, rotate
    case take = "import"
  }

  private static let action = Positional<Action?>.optional(
    "ACTION", help: "What to do; left out, show.")
  private static let file = Positional<String?>.optional(
    "FILE", help: "The key to show or import; where the private key is exported to.",
    completion: .files())
  private static let isPrivate = Option<Bool>.flag(
    "private", help: "Export the private key, to a new FILE that only you can read.")

  static let declaration = CommandDeclaration(
    name: "key", group: "Proof",
    summary: "Show, export, rotate or import the keys of receipts.",
    discussion: """
      show tells the name of the signing key, and of all keys that are trusted here; with FILE, the \
      name of that key. A key's name is the SHA-256 of its public part in DER. The first receipt \
      makes a signing key, and so does export. export prints the public key for others to check \
      with. rotate makes a new signing key; what the old one signed still verifies, but its private \
      part is gone. import trusts another's public key, or signs with a private one from now on. \
      Keys are Ed25519 as PEM, which openssl reads and makes too. The signing key is used only if \
      nobody else can read it.
      """,
    positionals: [action, file], options: [isPrivate, Options.keys, Options.json],
    examples: [
      Example("The key for those who check", "spool key export > spool.pub"),
      Example("Trust what a colleague signs", "spool key import colleague.pub"),
      Example("Keep the private key somewhere safe", "spool key export --private safe/spool.pem"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let folder = Workbench(console: console).keyFolder(at: arguments[Options.keys])
    do throws(Workbench.Refusal) {
      switch arguments[Self.action] ?? .show {
      case .show: try show(folder, console)
      case .export: try export(folder, console)
      case .rotate:
        let (old, new) = try Self.asking(console) { () throws(ProofError) in
          try folder.rotate()
        }
        tell([("signing", new)] + (old.map { [("earlier", $0)] } ?? []), console)
      case .take: try take(folder, console)
      }
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  private func show(_ folder: KeyFolder, _ console: Console) throws(Workbench.Refusal) {
    if let path = arguments[Self.file] {
      return tell([("key", try Self.publicKey(at: path, console))], console)
    }
    let (own, known) = try Self.asking(console) { () throws(ProofError) in
      (try folder.existingSigningKey()?.verifyingKey, try folder.knownKeys())
    }
    let others = known.filter { $0 != own }
    tell((own.map { [("signing", $0)] } ?? []) + others.map { ("trusted", $0) }, console)
    if own == nil, !arguments[Options.json] {
      console.report("no signing key yet in \(folder.path); the first receipt makes one")
    }
  }

  private func export(_ folder: KeyFolder, _ console: Console) throws(Workbench.Refusal) {
    let path = arguments[Self.file]
    guard arguments[Self.isPrivate] else {
      guard path == nil else {
        throw usage("the public key is printed, and written to no file", "> FILE", console)
      }
      let key = try Self.asking(console) { () throws(ProofError) in try folder.signingKey() }
      return console.draw(key.verifyingKey.pem)
    }
    guard let path else {
      throw usage(
        "the private key is written to a file, and never printed",
        "spool key export --private FILE", console)
    }
    try Self.asking(console) { () throws(ProofError) in try folder.exportSigningKey(to: path) }
    console.report("whoever has \(path) can sign as you")
  }

  private func take(_ folder: KeyFolder, _ console: Console) throws(Workbench.Refusal) {
    guard let path = arguments[Self.file] else {
      throw usage("spool key import takes a file", "spool key import FILE", console)
    }
    let (key, isSigning) = try Self.asking(console) { () throws(ProofError) in
      try folder.take(try Self.keyText(at: path))
    }
    tell([(isSigning ? "signing" : "trusted", key)], console)
  }

  private func tell(_ keys: [(role: String, key: VerifyingKey)], _ console: Console) {
    for (role, key) in keys {
      console.print(
        arguments[Options.json]
          ? JSONText.of(["role": role, "key": key.id.hex, "pem": key.pem])
          : "\(Format.pad(role, 7))  \(key.id.hex)")
    }
  }

  private func usage(_ what: String, _ next: String, _ console: Console) -> Workbench.Refusal {
    Workbench.Refusal(text: "\(console.red("error:")) \(what)\nnext:  \(next)", code: .usage)
  }

  /// The public key in a file.
  static func publicKey(
    at path: String, _ console: Console
  ) throws(Workbench.Refusal) -> VerifyingKey {
    try asking(console) { () throws(ProofError) in
      guard let key = VerifyingKey(pem: try keyText(at: path)) else {
        throw ProofError(
          "cannot use the key \(path)", reason: "it is no public Ed25519 key as PEM",
          advice: "spool key export prints one, and one lies beside every receipt")
      }
      return key
    }
  }

  private static func keyText(at path: String) throws(ProofError) -> String {
    do throws(TextFileError) { return try TextFile.read(path) } catch {
      throw ProofError(
        "cannot read the key \(path)", reason: error.reason, advice: "check the path")
    }
  }

  /// Turns what goes wrong with keys into a refusal.
  static func asking<Result>(
    _ console: Console, _ body: () throws(ProofError) -> Result
  ) throws(Workbench.Refusal) -> Result {
    do throws(ProofError) { return try body() } catch {
      throw Workbench.Refusal(
        text: ErrorText(
          StageError(error.message, reason: error.reason, advice: error.advice)
        ).render(console), code: .failed)
    }
  }
}

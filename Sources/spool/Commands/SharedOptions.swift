import Platform

/// Options that several commands share.
enum Options {
  static let out = Option<String?>.value(
    "out", "DIR", short: "o",
    help: "The folder for the exports; made if there is none, but not those above it.",
    defaultText: "exports", completion: .folder)
  static let store = Option<String?>.value(
    "store", "DIR",
    help: "The store's folder; made if there is none, but not those above one that is named here.",
    defaultText: "$SPOOL_STORE, or ~/.local/share/spool", completion: .folder)
  static let settings = Option<String?>.value(
    "config", "FILE", help: "The settings' file, which says how long things are kept.",
    defaultText: "$SPOOL_CONFIG, or ~/.config/spool/config.yaml, or /etc/spool/config.yaml",
    completion: .files(extensions: ["yaml", "yml"]))
  static let keys = Option<String?>.value(
    "keys", "DIR", help: "The folder of the keys that receipts are signed and checked with.",
    defaultText: "$SPOOL_KEYS, keys in the store, or ~/.local/share/spool/keys", completion: .folder
  )
  static let passphraseFile = Option<String?>.value(
    "passphrase-file", "FILE",
    help: "The file whose first line is the signing key's passphrase; only you can read it.",
    defaultText: "$CREDENTIALS_DIRECTORY/spool-passphrase, else the terminal is asked",
    completion: .files())
  static let plugins = Option<String?>.value(
    "plugins", "DIR", help: "A folder of plugins besides those that are found anyway.",
    defaultText: "$SPOOL_PLUGINS", completion: .folder)
  static let set = Option<[String]>.values(
    "set", "NAME=VALUE",
    help: "Override one of the pipeline's variables: a text as it is, a list or a mapping as YAML.",
    completion: NameKind.variables.hint())
  static let json = Option<Bool>.flag("json", help: "Write JSON on standard output.")
  static let checkpoint = Option<CheckpointPolicy>.value(
    "checkpoint", "WHEN", default: .pass,
    help: "Which sound is kept in the store: where a pass ends, or after every stage.")
  static let replace = Option<Bool>.flag(
    "replace", help: "Replace files of other programs, pipelines or recordings too.")
  static let ignoreRoom = Option<Bool>.flag(
    "ignore-room",
    help: "Begin although it may not fit on the disk; where that gets full, it pauses.")
  static let ignoreMounts = Option<Bool>.flag(
    "ignore-mounts",
    help: "Take the folders as they lie now, though a disk was mounted there before.")
  static let noSandbox = Option<Bool>.flag(
    "no-sandbox",
    help: "Decode recordings in Spool's own process, to look for faults; only those you trust.")
  static let quiet = Option<Bool>.flag("quiet", short: "q", help: "Only say what went wrong.")

  static let pipeline = Positional<String>.required(
    "PIPELINE", help: "The pipeline's file, or a name from spool pipeline list.",
    completion: NameKind.pipelines.hint(orFiles: ["yaml", "yml"]))
  static let inputs = Positional<[String]>.repeated(
    "INPUT", minimum: 0,
    help: "The recordings, in the order of the pipeline's inputs, or as name=path.",
    completion: .files())
}

/// The values of `--checkpoint`.
enum CheckpointPolicy: String, CaseIterable, ArgumentValue {
  case pass
  case every
}

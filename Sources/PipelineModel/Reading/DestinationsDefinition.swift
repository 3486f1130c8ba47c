/// The file of destinations, `~/.config/spool/destinations.yaml`: the second places that recordings go
/// to, by name.
package struct DestinationsDefinition: Hashable, Sendable {
  package var destinations: [Entry] = []

  package init() {}

  /// One destination, as written. Its addresses are not checked yet.
  package struct Entry: Hashable, Sendable {
    package let name: Located<String>
    package let kind: DestinationKind
    /// What stands behind the kind: a path, an address, or the words of a command.
    package let place: Located<[String]>
    /// The other settings that are words, by key.
    package var words: [String: Located<[String]>] = [:]
    package var secrets: [String: SecretDefinition] = [:]
    /// Bytes per second; nil for no limit.
    package var rate: Int?
    /// When files are sent; nil for always.
    package var hours: DailyHours?
    package var isAppendOnly = false

    /// A setting that is one word.
    package func text(_ key: String) -> String? { words[key]?.value.first }
  }
}

/// Where a password or key is found: it never stands in the file itself.
package enum SecretDefinition: Hashable, Sendable {
  case variable(String)
  case file(String)
  case credential(String)
}

/// A kind of destination, and its settings. Reading, the JSON Schema and the example derive from them.
package enum DestinationKind: String, Hashable, Sendable, CaseIterable {
  case folder, webdav, s3, sftp, command

  package struct Setting: Hashable, Sendable {
    package enum Form: Hashable, Sendable {
      case text
      case path
      case secret
      case command
      /// One word or several.
      case words
      case rate
      case hours
      case flag
      case choice([String])
    }

    package let key: String
    package let form: Form
    package var isRequired = false
    package let meaning: String

    init(_ key: String, _ form: Form, _ meaning: String, isRequired: Bool = false) {
      self.key = key
      self.form = form
      self.meaning = meaning
      self.isRequired = isRequired
    }
  }

  /// The setting that names the kind.
  package var place: Setting {
    switch self {
    case .folder: Setting(rawValue, .path, "a folder on another disk; it is never made")
    case .webdav: Setting(rawValue, .text, "the address of a folder: https://HOST/PATH")
    case .s3: Setting(rawValue, .text, "s3://BUCKET/PREFIX")
    case .sftp: Setting(rawValue, .text, "sftp://USER@HOST:PORT/PATH; /~/ is the user's home")
    case .command:
      Setting(rawValue, .command, "the words of a program that sends {file} as {name}")
    }
  }

  /// The other settings, in the order of messages.
  package var settings: [Setting] {
    let certificates = Setting(
      "certificates", .path, "a file of the certificates that are trusted, and not the system's")
    let common = [
      Setting("rate", .rate, "the highest rate of uploads, as 2 MB/s"),
      Setting("hours", .hours, "the time of day in which files are sent, as 22:00-06:00"),
      Setting("append-only", .flag, "true: what has its name there is never renamed or deleted"),
      Setting(
        "encrypt", .words, "public keys of age, as age1…: only their owners can read what is sent"),
      Setting("identity", .path, "the file with age's private key, to fetch what was encrypted"),
    ]
    switch self {
    case .folder: return common
    case .webdav:
      return [
        Setting("user", .text, "the user's name"),
        Setting("password", .secret, "the user's password; without a user, a bearer token"),
        Setting("public", .text, "the address below which anyone can read the files: https://…"),
        certificates,
      ] + common
    case .s3:
      return [
        Setting("endpoint", .text, "the server; without it, Amazon's of the region"),
        Setting("region", .text, "us-east-1 without it"),
        Setting("access-key", .secret, "the key's identifier", isRequired: true),
        Setting("secret-key", .secret, "the key", isRequired: true),
        Setting("session-token", .secret, "the token of a key for a time"),
        Setting("style", .choice(["path", "host"]), "where the bucket's name stands"),
        Setting("storage-class", .text, "the class that objects are stored in"),
        Setting(
          "confirm", .choice(["read", "checksum"]),
          "read: all bytes are read back; checksum: the server's own checksum is believed"),
        certificates,
      ] + common
    case .sftp:
      return [
        Setting("key", .path, "the private key; without it, those of the agent"),
        Setting("passphrase", .secret, "the key's passphrase"),
        Setting("password", .secret, "the user's password"),
        Setting("known-hosts", .path, "the servers' keys; ~/.ssh/known_hosts without it"),
      ] + common
    case .command:
      return [
        Setting(
          "read", .command, "the words of a program that writes {name} out", isRequired: true),
        Setting("remove", .command, "the words of a program that removes the files of a check"),
        Setting(
          "list", .command, "the words of a program that writes all files' paths, one a line"),
      ] + common.filter { $0.key != "rate" }
    }
  }
}

package typealias ParsedDestinations = Parsed<DestinationsDefinition>

extension Parsed where Definition == DestinationsDefinition {
  /// O(n).
  package init(_ text: String) {
    self.init(YAMLDocument(text), empty: DestinationsDefinition()) { $0.destinations($1) }
  }
}

extension DocumentReader {
  private static let destinationFileKeys = Vocabulary(
    ["destinations"], synonyms: ["destination": "destinations", "remotes": "destinations"])
  private static let secretKeys = Vocabulary(
    ["env", "file", "credential"],
    synonyms: ["variable": "env", "environment": "env", "path": "file", "systemd": "credential"])

  fileprivate mutating func destinations(_ root: DocumentNode) -> DestinationsDefinition {
    var definition = DestinationsDefinition()
    // A file of comments says nothing, and is no mistake.
    guard !root.isNull,
      let entries = rootEntries(root, of: "the file", Self.destinationFileKeys)
    else { return definition }
    for entry in entries {
      guard entry.key == "destinations" else {
        reportUnknown(entry, among: Self.destinationFileKeys, of: "this file")
        continue
      }
      let list = self.entries(entry.value, of: entry.key, allowed: "a name and its kind") ?? []
      for item in list {
        checkName(item.key, at: item.location, what: "a destination's name")
        if let destination = destination(item) { definition.destinations.append(destination) }
      }
    }
    return definition
  }

  private mutating func destination(
    _ item: DocumentNode.Entry
  ) -> DestinationsDefinition.Entry? {
    let kinds = DestinationKind.allCases.map(\.rawValue)
    guard
      let entries = entries(
        item.value, of: item.key, allowed: "one of \(kinds.joined(separator: ", ")), and settings")
    else { return nil }
    let named = entries.filter { kinds.contains($0.key) }
    guard let first = named.first, let kind = DestinationKind(rawValue: first.key) else {
      report(
        item.location, "the destination \(item.key) has no kind",
        allowed: kinds.map { "\($0): …" }.joined(separator: ", "),
        suggestion: entries.lazy.compactMap { Problem.nearest(to: $0.key, in: kinds) }.first)
      return nil
    }
    for other in named.dropFirst() {
      report(other.location, "\(item.key) is of two kinds, \(first.key) and \(other.key)")
    }
    guard let place = destinationWords(first, kind.place) else { return nil }
    var destination = DestinationsDefinition.Entry(
      name: Located(item.key, at: item.location), kind: kind, place: place)
    let known = kind.settings
    let keys = Vocabulary(
      known.map(\.key),
      synonyms: [
        "pass": "password", "login": "user", "username": "user", "ca": "certificates",
        "bandwidth": "rate", "limit": "rate", "secret": "secret-key", "identity": "key",
      ])
    var present = Set(entries.map(\.key))
    for entry in entries where !kinds.contains(entry.key) {
      guard let setting = known.first(where: { $0.key == entry.key }) else {
        let meant = reportUnknown(
          entry, among: keys, of: "a \(kind.rawValue) destination", is: "setting")
        if let meant { present.insert(meant) }
        continue
      }
      switch setting.form {
      case .secret: destination.secrets[setting.key] = secret(entry)
      case .rate: destination.rate = rate(entry)
      case .hours: destination.hours = hours(entry)
      case .flag: destination.isAppendOnly = flag(entry.value, of: entry.key) ?? false
      case .text, .path, .command, .words, .choice:
        destination.words[setting.key] = destinationWords(entry, setting)
      }
    }
    for setting in known where setting.isRequired && !present.contains(setting.key) {
      report(
        item.location, "the destination \(item.key) has no \(setting.key)",
        allowed: "\(setting.key): \(setting.meaning)")
    }
    return destination
  }

  private mutating func destinationWords(
    _ entry: DocumentNode.Entry, _ setting: DestinationKind.Setting
  ) -> Located<[String]>? {
    let location = entry.value.location
    switch setting.form {
    case .command:
      let allowed = "a list of words, as [rclone, copyto, \"{file}\", \"box:{name}\"]"
      let words = items(entry.value, of: entry.key, allowed: allowed).compactMap {
        text($0, of: entry.key)
      }
      return words.isEmpty ? nil : Located(words, at: location)
    case .choice(let words):
      return value(
        entry.value, of: entry.key, allowed: words.joined(separator: ", "), words: words
      ) { words.contains($0) ? Located([$0], at: location) : nil }
    case .words where entry.value.isList:
      let words = items(entry.value, of: entry.key, allowed: setting.meaning).compactMap {
        text($0, of: entry.key)
      }
      return words.isEmpty ? nil : Located(words, at: location)
    case .text, .path, .words, .secret, .rate, .hours, .flag:
      guard let text = text(entry.value, of: entry.key, allowed: setting.meaning) else {
        return nil
      }
      if text.isEmpty || text.unicodeScalars.contains(where: { $0.value < 0x20 }) {
        report(
          location, "\(entry.key) is \(text.isEmpty ? "empty" : "no printable text")",
          allowed: setting.meaning)
        return nil
      }
      return Located([text], at: location)
    }
  }

  /// A reference to a secret. The secret itself is refused, without a word of it.
  private mutating func secret(_ entry: DocumentNode.Entry) -> SecretDefinition? {
    let allowed = "{ env: VARIABLE }, { file: PATH } or { credential: NAME }"
    guard case .mapping(let parts) = entry.value.content, let part = parts.first, parts.count == 1
    else {
      report(
        entry.value.location, "\(entry.key) has to say where the secret is, and not the secret",
        allowed: allowed)
      return nil
    }
    guard Self.secretKeys.words.contains(part.key) else {
      report(
        part.location, "\"\(part.key)\" is no place for a secret", allowed: allowed,
        suggestion: Self.secretKeys.nearest(to: part.key))
      return nil
    }
    guard let name = text(part.value, of: part.key), !name.isEmpty else { return nil }
    switch part.key {
    case "env": return .variable(name)
    case "file": return .file(name)
    default: return .credential(name)
    }
  }

  private mutating func rate(_ entry: DocumentNode.Entry) -> Int? {
    let allowed = "a rate such as 500 kB/s or 2 MB/s"
    return value(entry.value, of: entry.key, allowed: allowed) { text in
      let units = ["b/s": 1.0, "kb/s": 1e3, "mb/s": 1e6, "gb/s": 1e9]
      let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      let unit = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
      guard let number = Double(digits), let factor = units[unit] else { return nil }
      return Int(exactly: (number * factor).rounded()).flatMap { $0 >= 1000 ? $0 : nil }
    }
  }

  private mutating func hours(_ entry: DocumentNode.Entry) -> DailyHours? {
    value(entry.value, of: entry.key, allowed: "two times of day, as 22:00-06:00") {
      DailyHours($0)
    }
  }
}

/// A time of every day, by the clock of the machine: `22:00-06:00`.
package struct DailyHours: Hashable, Sendable {
  /// Minutes after midnight, from 0 to 1,439.
  private let start, end: Int

  /// Two times of day; the second one may be on the next day. Nil for another text.
  package init?(_ text: String) {
    let times = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.minutes)
    guard times.count == 2, let start = times[0], let end = times[1], start != end else {
      return nil
    }
    (self.start, self.end) = (start, end % Self.dayMinutes)
  }

  private static let dayMinutes = 24 * 60

  /// The minutes of `22:00`, of `9:30` and of `24:00`.
  private static func minutes(_ text: Substring) -> Int? {
    let text = text.drop { $0 == " " }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { part in
      let digits = part.last == " " ? part.dropLast() : part
      return digits.allSatisfy { $0.isASCII && $0.isNumber } && (1...2).contains(digits.count)
        ? Int(digits) : nil
    }
    guard parts.count == 2, let hour = parts[0], let minute = parts[1], minute < 60,
      hour < 24 || (hour == 24 && minute == 0)
    else { return nil }
    return hour * 60 + minute
  }

  /// Whether a minute of the day lies in it. The first one does, the last one does not.
  package func contains(minute: Int) -> Bool {
    start < end || end == 0
      ? minute >= start && (end == 0 || minute < end) : minute >= start || minute < end
  }

  /// When it begins: `22:00`.
  package var beginning: String {
    func digits(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    return "\(digits(start / 60)):\(digits(start % 60))"
  }
}

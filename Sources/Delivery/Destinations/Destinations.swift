package import PipelineModel
package import Platform

/// The destinations that a file names.
package struct Destinations: Hashable, Sendable {
  /// In the order of the file.
  package private(set) var all: [Destination] = []
  /// The file; nil if there is none.
  package let path: String?

  /// Without a file.
  package init() { path = nil }

  package init(_ all: [Destination], from path: String? = nil) {
    self.all = all
    self.path = path
  }

  /// Checks what a file says, and collects every problem.
  /// - Parameters:
  ///   - path: the file; relative paths in it are beside it.
  ///   - home: the user's home, for paths that begin with `~/`; nil if there is none.
  package init(
    _ parsed: ParsedDestinations, from path: String, home: String?, problems: inout [Problem]
  ) {
    self.path = path
    problems += parsed.problems
    let reader = SettingReader(folder: FilePath.folder(of: path), home: home)
    for entry in parsed.definition.destinations {
      let found = reader.problems(of: entry)
      problems += found
      do throws(SpoolError) {
        all.append(try reader.destination(entry))
      } catch {
        // What the reader of the file has reported is missing here as well.
        if found.isEmpty, parsed.problems.isEmpty {
          problems.append(Problem(at: entry.name.location, error.reason ?? error.message))
        }
      }
    }
    problems = problems.inFileOrder
  }

  /// - Throws: if there is none of that name.
  package func destination(named name: String) throws(SpoolError) -> Destination {
    if let found = all.first(where: { $0.name == name }) { return found }
    let names = all.map(\.name)
    let near = Problem.nearest(to: name, in: names)
    throw SpoolError(
      "there is no destination \(name)",
      reason: path.map { path in
        names.isEmpty
          ? "\(path) names none" : "\(path) has \(names.joined(separator: ", "))"
      } ?? "there is no file of destinations",
      advice: near.map { "did you mean \($0)?" }
        ?? (path == nil
          ? "\(command: .deliverNew) writes one to change" : "add it to that file"),
      cause: .blocked, kind: .missing)
  }
}

/// Makes destinations of what a file says.
private struct SettingReader {
  let folder: String
  let home: String?

  /// What is wrong with the addresses and keys of an entry, each at its place.
  func problems(of entry: DestinationsDefinition.Entry) -> [Problem] {
    var problems: [Problem] = []
    func check(
      _ setting: DestinationKind.Setting, _ words: Located<[String]>?,
      _ body: ([String]) throws(SpoolError) -> Void
    ) {
      guard let words else { return }
      do throws(SpoolError) { try body(words.value) } catch {
        problems.append(
          Problem(
            at: words.location, error.reason ?? error.message,
            allowed: error.advice ?? setting.meaning))
      }
    }
    check(entry.kind.place, entry.place) { (words) throws(SpoolError) in
      let place = words.first ?? ""
      switch entry.kind {
      case .folder where place.contains("://"):
        throw SpoolError("it is an address, and no folder")
      case .folder, .command: break
      case .webdav: _ = try Destination.WebDAV(place)
      case .s3: _ = try Destination.S3.address(place)
      case .sftp: _ = try Destination.SFTP(place, knownHosts: "")
      }
    }
    for setting in entry.kind.settings {
      check(setting, entry.words[setting.key]) { (words) throws(SpoolError) in
        switch setting.key {
        case "endpoint", "public":
          _ = try WebAddress(words.first ?? "", schemes: ["https", "http"])
        case "encrypt": _ = try Encryption(words)
        case "identity" where Encryption.isPrivateKey(words.first ?? ""):
          throw SpoolError(
            "identity is a private key, and not the file with it",
            advice: "put the key into a file of mode 0600, and name that")
        case "identity" where entry.words["encrypt"] == nil:
          throw SpoolError("identity decrypts what encrypt encrypts, and there is no encrypt")
        default: break
        }
      }
    }
    return problems
  }

  func destination(_ entry: DestinationsDefinition.Entry) throws(SpoolError) -> Destination {
    var destination = Destination(
      entry.name.value, try kind(entry), bytesPerSecond: entry.rate)
    destination.hours = entry.hours
    destination.isAppendOnly = entry.isAppendOnly
    if let keys = entry.words["encrypt"]?.value {
      destination.encryption = try Encryption(
        keys, identity: entry.text("identity").map(path))
    }
    return destination
  }

  private func kind(_ entry: DestinationsDefinition.Entry) throws(SpoolError) -> Destination.Kind {
    let place = entry.place.value.first ?? ""
    switch entry.kind {
    case .folder: return .folder(Destination.Folder(path(place)))
    case .webdav:
      var server = try Destination.WebDAV(place)
      server.user = entry.text("user") ?? server.user
      server.password = secret("password", entry)
      server.certificates = entry.text("certificates").map(path)
      if let address = entry.text("public") {
        server.publicAddress = try WebAddress(address, schemes: ["https", "http"])
      }
      return .webDAV(server)
    case .s3:
      guard let accessKey = secret("access-key", entry), let key = secret("secret-key", entry)
      else { throw SpoolError("a key is missing") }
      var bucket = try Destination.S3(place, accessKey: accessKey, secretKey: key)
      if let endpoint = entry.text("endpoint") {
        bucket.endpoint = try WebAddress(endpoint, schemes: ["https", "http"])
      }
      bucket.region = entry.text("region") ?? bucket.region
      bucket.sessionToken = secret("session-token", entry)
      bucket.isPathStyle = entry.text("style") != "host"
      bucket.storageClass = entry.text("storage-class")
      bucket.isChecksumTrusted = entry.text("confirm") == "checksum"
      bucket.certificates = entry.text("certificates").map(path)
      return .s3(bucket)
    case .sftp:
      var server = try Destination.SFTP(
        place, knownHosts: path(entry.text("known-hosts") ?? "~/.ssh/known_hosts"))
      server.key = entry.text("key").map(path)
      server.passphrase = secret("passphrase", entry)
      server.password = secret("password", entry)
      return .sftp(server)
    case .command:
      var command = Destination.Command(
        send: entry.place.value, read: entry.words["read"]?.value ?? [])
      command.remove = entry.words["remove"]?.value
      command.list = entry.words["list"]?.value
      return .command(command)
    }
  }

  private func secret(_ key: String, _ entry: DestinationsDefinition.Entry) -> Secret? {
    switch entry.secrets[key] {
    case .variable(let name): .variable(name)
    case .file(let name): .file(path(name))
    case .credential(let name): .credential(name)
    case nil: nil
    }
  }

  /// An absolute path: `~/` is the home, and what is relative lies beside the file.
  private func path(_ text: String) -> String {
    if text.hasPrefix("~/"), let home { return home + text.dropFirst() }
    return text.hasPrefix("/") ? text : "\(folder)/\(text)"
  }
}

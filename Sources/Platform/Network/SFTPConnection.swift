internal import CCurlLoader

/// A connection to a server's files over SSH. It speaks only to a server whose key the file of known
/// hosts has. One thread at a time uses it.
package struct SFTPConnection: ~Copyable {
  private let settings: Settings
  private var curl: CurlConnection

  package struct Settings: Sendable {
    /// Server and user; the path is a folder, in the user's home if it begins with `~`.
    package let address: WebAddress
    /// The file with the servers' keys.
    package let knownHosts: String
    /// The file with the private key; nil for the keys of the user's agent, unless there is a password.
    package var key: String?
    package var passphrase: String?
    package var password: String?
    /// Seconds until the server has to have accepted the connection.
    package var connectPatience = 20.0
    /// Seconds without a byte in either direction.
    package var stallPatience = 120.0
    /// The highest rate of sending; nil for none.
    package var bytesPerSecond: Int?

    package init(_ address: WebAddress, knownHosts: String) {
      self.address = address
      self.knownHosts = knownHosts
    }
  }

  package init(_ settings: Settings) throws(SpoolError) {
    self.settings = settings
    curl = try CurlConnection()
  }

  /// What is known of a file or folder.
  package struct Found: Hashable, Sendable {
    package let byteCount: Int
    /// Seconds since 1970.
    package let modified: Double?
  }

  /// A change, which is made before what it comes with.
  package enum Change: Sendable {
    /// Makes a folder, unless the name exists.
    case makeFolder([String])
    /// Renames a file. Servers refuse a new name that exists, as version 3 of the protocol demands.
    case rename([String], to: [String])
    case remove([String])
  }

  /// Makes changes, and looks for a file or folder.
  /// - Parameter names: the path beneath the folder of the address.
  /// - Returns: nil if there is nothing.
  package mutating func look(
    _ names: [String], after changes: [Change] = []
  ) throws(SpoolError) -> Found? {
    let outcome = perform(
      names, changes, [.number(CURLOPT_NOBODY, 1), .number(CURLOPT_FILETIME, 1)])
    if outcome.code == CURLE_REMOTE_FILE_NOT_FOUND { return nil }
    try check(outcome, names)
    // libcurl does not tell an empty file from one of unknown length.
    return Found(
      byteCount: max(0, outcome.fileLength),
      modified: outcome.fileTime < 0 ? nil : Double(outcome.fileTime))
  }

  /// Reads a file.
  /// - Parameter mayGoOn: called at least once a second; false ends it.
  /// - Returns: false if there is no file.
  package mutating func read(
    _ names: [String], mayGoOn: () -> Bool,
    to consume: @escaping (RawSpan) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Bool {
    var failure: SpoolError?
    let take: (RawSpan) -> Bool = { bytes in
      do throws(SpoolError) {
        try consume(bytes)
        return true
      } catch {
        failure = error
        return false
      }
    }
    let outcome = perform(names, [], [], take: take, mayGoOn: { _ in mayGoOn() })
    if let failure { throw failure }
    if outcome.code == CURLE_REMOTE_FILE_NOT_FOUND { return false }
    try check(outcome, names)
    return true
  }

  /// What a folder has under a name.
  package struct Entry: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case file, folder, other }

    package let name: String
    package let kind: Kind
    /// Nil if the server does not say it.
    package let byteCount: Int?

    /// Reads a line as servers write it, which is that of `ls -l`: eight fields, and the name.
    /// - Returns: nil for another line.
    init?(_ line: [UInt8]) {
      var rest = line[...]
      var fields: [Substring] = []
      let text = { (bytes: ArraySlice<UInt8>) in String(decoding: bytes, as: UTF8.self)[...] }
      for _ in 0..<8 {
        rest = rest.drop { $0 == UInt8(ascii: " ") }
        let field = rest.prefix { $0 != UInt8(ascii: " ") }
        if field.isEmpty { return nil }
        fields.append(text(field))
        rest = rest.dropFirst(field.count)
      }
      guard rest.popFirst() == UInt8(ascii: " "), !rest.isEmpty,
        let name = String(validating: rest, as: UTF8.self), let mode = fields[0].first,
        fields[0].utf8.count >= 10
      else { return nil }
      self.name = name
      kind = mode == "-" ? .file : mode == "d" ? .folder : .other
      byteCount = Int(fields[4])
    }
  }

  /// Lists a folder.
  /// - Parameters:
  ///   - mayGoOn: called at least once a second; false ends it.
  ///   - consume: takes each entry but `.` and `..`; of one whose name is no UTF-8, or that cannot be
  ///     read, its line.
  /// - Returns: false if there is no such folder.
  package mutating func list(
    _ names: [String], mayGoOn: () -> Bool,
    to consume: @escaping (Entry?, _ line: String) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Bool {
    var failure: SpoolError?
    var lines = LineSplitter()
    let place = description(of: names)
    func take(_ line: [UInt8]) throws(SpoolError) {
      let entry = Entry(line)
      if let entry, [".", ".."].contains(entry.name) { return }
      try consume(entry, String(decoding: line, as: UTF8.self))
    }
    let outcome = perform(names, [], [], isListing: true) { bytes in
      do throws(SpoolError) {
        guard let found = lines.take(bytes) else {
          throw SpoolError(
            "list", place, reason: "the server writes a name of no end", cause: .transient,
            kind: .broken)
        }
        for line in found { try take(line) }
        return true
      } catch {
        failure = error
        return false
      }
    } mayGoOn: { _ in
      mayGoOn()
    }
    if let failure { throw failure }
    if outcome.code == CURLE_REMOTE_FILE_NOT_FOUND { return false }
    try check(outcome, names)
    if let line = lines.last { try take(line) }
    return true
  }

  /// Writes a file, whose folder exists.
  /// - Parameters:
  ///   - file: the descriptor of a file of `byteCount` bytes.
  ///   - offset: the bytes that the file at the server has, which it keeps, as libcurl only appends;
  ///     0 to make it new.
  ///   - mayGoOn: called at least once a second, with the bytes that the server should have; false ends
  ///     it.
  package mutating func write(
    _ names: [String], from file: CInt, byteCount: Int, at offset: Int, after changes: [Change],
    mayGoOn: (Int) -> Bool
  ) throws(SpoolError) {
    var options: [CurlConnection.Option] = [
      .number(CURLOPT_UPLOAD, 1), .offset(CURLOPT_INFILESIZE_LARGE, byteCount),
    ]
    if offset > 0 { options.append(.offset(CURLOPT_RESUME_FROM_LARGE, offset)) }
    if let rate = settings.bytesPerSecond {
      options.append(.offset(CURLOPT_MAX_SEND_SPEED_LARGE, rate))
    }
    let outcome = perform(
      names, changes, options, sending: .file(file, offset: 0, byteCount: byteCount),
      mayGoOn: { sent in mayGoOn(offset + sent) })
    try check(outcome, names)
  }

  /// The place as a user knows it, without the user.
  package func description(of names: [String]) -> String {
    settings.address.appending(names).description
  }
}

extension SFTPConnection {
  private mutating func perform(
    _ names: [String], _ changes: [Change], _ options: [CurlConnection.Option],
    sending body: CurlConnection.Body = .none, isListing: Bool = false,
    take: ((RawSpan) -> Bool)? = nil,
    mayGoOn: (Int) -> Bool = { _ in true }
  ) -> CurlConnection.Outcome {
    let place = settings.address.appending(names)
    // libcurl lists what ends in a slash.
    let path =
      isListing
      ? place.path + (place.names.isEmpty ? "" : "/") : place.names.isEmpty ? "/." : place.path
    var all: [CurlConnection.Option] = [
      .text(CURLOPT_URL, place.origin + path),
      .number(CURLOPT_PATH_AS_IS, 1),
      .text(CURLOPT_PROTOCOLS_STR, "sftp"),
      .text(CURLOPT_SSH_KNOWNHOSTS, settings.knownHosts),
      .knownHostsOnly,
      .number(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, settings.connectPatience * 1000))),
      .number(CURLOPT_LOW_SPEED_LIMIT, 1),
      .number(CURLOPT_LOW_SPEED_TIME, max(1, Int(settings.stallPatience.rounded(.up)))),
      .number(CURLOPT_BUFFERSIZE, 256 << 10),
      .number(CURLOPT_UPLOAD_BUFFERSIZE, 256 << 10),
    ]
    if let user = settings.address.user { all.append(.text(CURLOPT_USERNAME, user)) }
    var ways = 0
    if let key = settings.key {
      ways |= 1 << 0
      all.append(.text(CURLOPT_SSH_PRIVATE_KEYFILE, key))
      if let passphrase = settings.passphrase {
        all.append(.text(CURLOPT_KEYPASSWD, passphrase))
      }
    }
    if let password = settings.password {
      // A password, or the answer to the server's question for one.
      ways |= 1 << 1 | 1 << 3
      all.append(.text(CURLOPT_PASSWORD, password))
    }
    if ways == 0 { ways = 1 << 4 }
    all.append(.number(CURLOPT_SSH_AUTH_TYPES, ways))
    if !changes.isEmpty {
      all.append(
        .list(
          CURLOPT_QUOTE,
          changes.map { [address = settings.address] in Self.command($0, at: address) }))
    }
    let outcome = curl.perform(
      all + options, sending: body, headerLimit: 16 << 10, bodyLimit: 16 << 10, take: take,
      mayGoOn: mayGoOn)
    let harmless = [CURLE_OK, CURLE_REMOTE_FILE_NOT_FOUND, CURLE_QUOTE_ERROR]
    // libcurl takes leave of a broken connection when the next one is opened, and gives that its time.
    if !harmless.contains(outcome.code), let fresh = try? CurlConnection() { curl = fresh }
    return outcome
  }

  private static func command(_ change: Change, at address: WebAddress) -> String {
    switch change {
    // The asterisk: a failure is no error.
    case .makeFolder(let names): "*mkdir \(quoted(address.names + names))"
    case .rename(let names, let target):
      "rename \(quoted(address.names + names)) \(quoted(address.names + target))"
    case .remove(let names): "rm \(quoted(address.names + names))"
    }
  }

  /// A path as libcurl's commands read it.
  private static func quoted(_ names: [String]) -> String {
    let isInHome = names.first == "~"
    let path = (isInHome ? "" : "/") + names.dropFirst(isInHome ? 1 : 0).joined(separator: "/")
    return "\"" + path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  private func check(_ outcome: CurlConnection.Outcome, _ names: [String]) throws(SpoolError) {
    if outcome.code == CURLE_OK { return }
    if outcome.wasEnded { throw .cancelled }
    let place = description(of: names)
    func error(
      _ cause: SpoolError.Cause, _ kind: SpoolError.Kind? = nil, _ advice: String? = nil
    ) -> SpoolError {
      SpoolError("reach", place, reason: outcome.reason, advice: advice, cause: cause, kind: kind)
    }
    if outcome.isFileShort {
      throw SpoolError(
        "cannot send the file", reason: "it has become shorter, or cannot be read", cause: .input,
        kind: .changed)
    }
    switch outcome.code {
    case CURLE_PEER_FAILED_VERIFICATION:
      let (host, file) = (settings.address.server, ShellWords.visible(path: settings.knownHosts))
      let isChanged = spool_curl_was_key_changed() != 0
      throw SpoolError(
        "reach", place,
        reason: isChanged
          ? "\(host) shows another key than \(file) has of it"
          : "\(file) does not have the key of \(host)",
        advice: isChanged
          ? "nothing was sent: another computer may answer in its place; ask who runs it, and only if its "
            + "key was changed replace the one in that file"
          : "nothing was sent: ssh-keyscan\(settings.address.port.map { " -p \($0)" } ?? "") "
            + "\(settings.address.host) prints the server's key; compare it, then add it there",
        cause: .blocked, kind: .denied)
    case CURLE_LOGIN_DENIED:
      throw error(.blocked, .denied, "check the user, and the key or the password")
    case CURLE_REMOTE_FILE_NOT_FOUND: throw error(.environment, .missing)
    case CURLE_REMOTE_ACCESS_DENIED:
      throw error(.environment, nil, "check what the user may do at the destination")
    case CURLE_REMOTE_DISK_FULL:
      throw SpoolError(
        "the disk of \(place) is full", reason: outcome.reason,
        advice: "free some space there, then retry", cause: .fullDisk, kind: .noRoom)
    case CURLE_QUOTE_ERROR, CURLE_SSH: throw error(.transient, .system)
    case CURLE_URL_MALFORMAT: throw error(.input, .invalid)
    case _ where outcome.isAway: throw error(.transient, .unanswered, CurlConnection.awayAdvice)
    default: throw error(.transient)
    }
  }
}

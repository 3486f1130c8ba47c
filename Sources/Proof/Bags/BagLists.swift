/// Reads the manifests and the fetch list of one bag, and their faults.
struct BagLists {
  struct List: Sendable {
    let name: String
    let algorithm: DigestAlgorithm
    let isPayload: Bool
    let entries: [BagManifest.Entry]

    /// The listed paths as bytes: names that look alike may differ.
    let paths: Set<[UInt8]>
  }

  /// Every manifest whose digests can be checked, by name.
  private(set) var all: [List] = []
  /// The paths still to be fetched, as bytes.
  private(set) var awaited: Set<[UInt8]> = []
  private(set) var problems: [(name: String, reason: String)] = []
  /// What cannot be checked, beside what can.
  private(set) var notes: [(name: String, reason: String)] = []

  private let folder: String

  /// The payload manifests.
  var payload: [List] { all.filter(\.isPayload) }

  /// Whether there is a tag manifest, readable or not.
  private(set) var hasTagManifest = false

  init(_ folder: String) {
    self.folder = folder
    let names = KeyFile.names(in: folder)
    if !readAll(of: names, prefix: "manifest-", isPayload: true) {
      problems.append((Bag.manifestName, SubjectFile.Trouble.missing.reason))
    }
    hasTagManifest = readAll(of: names, prefix: "tagmanifest-", isPayload: false)
    checkTagManifests(
      payloadManifests: names.filter { $0.hasPrefix("manifest-") && $0.hasSuffix(".txt") })
    if names.contains(Bag.fetchName) { readFetch() }
  }

  /// Reads all manifests of one kind; false if there is none.
  private mutating func readAll(of names: [String], prefix: String, isPayload: Bool) -> Bool {
    let found = names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".txt") }
    let known = found.filter { Self.algorithm(of: $0, prefix) != nil }
    for name in found {
      guard let algorithm = Self.algorithm(of: name, prefix) else {
        let reason = "it was not checked: its digests are of no kind that is known here"
        // Unchecked is not valid.
        if known.isEmpty { problems.append((name, reason)) } else { notes.append((name, reason)) }
        continue
      }
      read(name, algorithm, isPayload: isPayload)
    }
    return !found.isEmpty
  }

  private mutating func read(_ name: String, _ algorithm: DigestAlgorithm, isPayload: Bool) {
    guard let bytes = bytes(name, limit: BagManifest.maximumByteCount) else { return }
    let manifest = BagManifest(bytes, name: name, by: algorithm, isPayload: isPayload)
    problems += manifest.problems.map { ($0.place, $0.reason) }
    all.append(
      List(
        name: name, algorithm: algorithm, isPayload: isPayload, entries: manifest.entries,
        paths: Set(manifest.entries.map { Array($0.path.utf8) })))
  }

  /// RFC 8493, 2.2.1: a tag manifest names every payload manifest, and no tag manifest.
  private mutating func checkTagManifests(payloadManifests: [String]) {
    for list in all where !list.isPayload {
      for name in payloadManifests where !list.paths.contains(Array(name.utf8)) {
        problems.append((list.name, "it does not name \(name)"))
      }
      if list.entries.contains(where: { $0.path.hasPrefix("tagmanifest-") }) {
        problems.append((list.name, "it names a tag manifest"))
      }
    }
  }

  private mutating func readFetch() {
    guard let bytes = bytes(Bag.fetchName, limit: BagFetch.maximumByteCount) else { return }
    let payload = payload
    let fetch = BagFetch(bytes) { path in
      payload.allSatisfy { $0.paths.contains(Array(path.utf8)) }
    }
    problems += fetch.problems.map { ($0.place, $0.reason) }
    awaited = Set(fetch.paths.map { Array($0.utf8) })
  }

  /// The bytes of a tag file; nil, with a problem, if it is unreadable.
  private mutating func bytes(_ name: String, limit: Int) -> [UInt8]? {
    guard let file = SubjectFile(name: name, in: folder) else { return nil }
    do throws(SubjectFile.Trouble) { return try file.bytes(limit: limit) } catch {
      problems.append((name, error.reason))
      return nil
    }
  }

  private static func algorithm(of name: String, _ prefix: String) -> DigestAlgorithm? {
    DigestAlgorithm(rawValue: name.dropFirst(prefix.count).dropLast(4).lowercased())
  }
}

/// A manifest and its faults. The text is untrusted.
struct BagManifest {
  struct Entry: Hashable {
    /// The path from the bag's folder.
    let path: String
    /// In lower-case hexadecimal digits.
    let digest: String
  }

  /// Bytes of the longest manifest that is read: some half a million files.
  static let maximumByteCount = 64 << 20
  /// Faulty lines that are reported at most.
  private static let mostProblems = 20

  private(set) var entries: [Entry] = []
  /// The faults, by line.
  private(set) var problems: [(place: String, reason: String)] = []

  /// O(n).
  /// - Parameters:
  /// - name: its file name, for messages.
  /// - algorithm: from its name.
  /// - isPayload: whether it lists the payload or the tag files.
  init(
    _ bytes: [UInt8], name: String, by algorithm: DigestAlgorithm, isPayload: Bool
  ) {
    var seen: Set<[UInt8]> = []
    var number = 0
    var wrong = 0
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for line in lines {
      number += 1
      let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if text.isEmpty { continue }
      let reason: String
      switch Self.entry(text, algorithm, isPayload: isPayload) {
      case .success(let entry):
        if seen.insert(Array(entry.path.utf8)).inserted {
          entries.append(entry)
          continue
        }
        reason = "it names \(entry.path) a second time"
      case .failure(let trouble): reason = trouble.reason
      }
      wrong += 1
      if wrong <= Self.mostProblems { problems.append(("\(name), line \(number)", reason)) }
    }
    if wrong > Self.mostProblems {
      problems.append((name, "\(wrong - Self.mostProblems) more of its lines are wrong"))
    }
  }

  private struct Trouble: Error { let reason: String }

  private static func entry(
    _ line: ArraySlice<UInt8>, _ algorithm: DigestAlgorithm, isPayload: Bool
  ) -> Result<Entry, Trouble> {
    guard let end = line.firstIndex(where: BagPath.isSpace),
      let digest = algorithm.digest(line[..<end])
    else {
      return .failure(
        Trouble(reason: "it does not begin with the \(algorithm.digitCount) digits of a digest"))
    }
    var name = line[end...].drop(while: BagPath.isSpace)
    // md5sum and similar tools mark binary mode.
    if name.first == UInt8(ascii: "*") { name = name.dropFirst() }
    guard let path = String(validating: BagPath.decoded(name), as: UTF8.self), !path.isEmpty else {
      return .failure(Trouble(reason: "its path is no UTF-8, or missing"))
    }
    guard SubjectFile(name: path, in: "") != nil else {
      return .failure(Trouble(reason: "\(path) leads out of the bag; it was not looked at"))
    }
    let isInside = path.utf8.starts(with: "\(Bag.payloadFolder)/".utf8)
    guard isInside == isPayload else {
      return .failure(
        Trouble(
          reason: isPayload
            ? "\(path) is not in \(Bag.payloadFolder)/" : "\(path) is payload, and no tag file"))
    }
    return .success(Entry(path: path, digest: digest))
  }
}

/// The files that the receiver of a bag must fetch: RFC 8493, 2.2.3. The text is untrusted; nothing
/// is fetched.
struct BagFetch {
  /// Bytes of the longest list that is read.
  static let maximumByteCount = 64 << 20
  /// Faulty lines that are reported at most.
  private static let mostProblems = 20

  /// The files' paths from the bag's folder.
  private(set) var paths: [String] = []
  /// The faults, by line.
  private(set) var problems: [(place: String, reason: String)] = []

  /// O(n).
  /// - Parameter listed: whether every payload manifest names a path.
  init(_ bytes: [UInt8], listed: (String) -> Bool) {
    var wrong = 0
    var number = 0
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if text.isEmpty { continue }
      let reason: String
      switch Self.path(text) {
      case .success(let path) where listed(path):
        paths.append(path)
        continue
      case .success(let path): reason = "not every manifest names \(path)"
      case .failure(let trouble): reason = trouble.reason
      }
      wrong += 1
      if wrong <= Self.mostProblems {
        problems.append(("\(Bag.fetchName), line \(number)", reason))
      }
    }
    if wrong > Self.mostProblems {
      problems.append((Bag.fetchName, "\(wrong - Self.mostProblems) more of its lines are wrong"))
    }
  }

  private struct Trouble: Error { let reason: String }

  /// The path in a line: `URL LENGTH PATH`.
  private static func path(_ line: ArraySlice<UInt8>) -> Result<String, Trouble> {
    let address = line.prefix { !BagPath.isSpace($0) }
    let rest = line.dropFirst(address.count).drop(while: BagPath.isSpace)
    let length = rest.prefix { !BagPath.isSpace($0) }
    let name = rest.dropFirst(length.count).drop(while: BagPath.isSpace)
    guard isAddress(address) else {
      return .failure(Trouble(reason: "it does not begin with a URL"))
    }
    guard length.elementsEqual("-".utf8) || !length.isEmpty && length.allSatisfy(isDigit) else {
      return .failure(Trouble(reason: "after the URL, it has neither a length nor a hyphen"))
    }
    guard let path = String(validating: BagPath.decoded(name), as: UTF8.self), !path.isEmpty else {
      return .failure(Trouble(reason: "its path is no UTF-8, or missing"))
    }
    guard SubjectFile(name: path, in: "") != nil else {
      return .failure(Trouble(reason: "\(path) leads out of the bag"))
    }
    guard path.utf8.starts(with: "\(Bag.payloadFolder)/".utf8) else {
      return .failure(Trouble(reason: "\(path) is not in \(Bag.payloadFolder)/"))
    }
    return .success(path)
  }

  /// Whether a text begins with a URL scheme: RFC 3986, 3.1.
  private static func isAddress(_ text: ArraySlice<UInt8>) -> Bool {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")), colon + 1 < text.endIndex,
      let first = text.first, isLetter(first)
    else { return false }
    return text[..<colon].allSatisfy { byte in
      isLetter(byte) || isDigit(byte) || "+-.".utf8.contains(byte)
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

import Platform

/// Reads the manifests and the fetch list of one bag, and their faults. The text is untrusted.
struct BagLists {
  struct List: Sendable {
    let name: String
    let algorithm: DigestAlgorithm
    let isPayload: Bool
    /// The paths from the bag's folder, and the digests in lower-case hexadecimal digits.
    let entries: [(path: String, digest: String)]
    /// The listed paths as bytes: names that look alike may differ.
    let paths: Set<[UInt8]>
  }

  /// Bytes of the longest list that is read: a manifest of some half a million files.
  private static let maximumByteCount = 64 << 20
  /// Faulty lines of a list that are reported at most.
  private static let mostProblems = 20

  /// Every manifest whose digests can be checked, by name.
  private(set) var all: [List] = []
  /// The paths still to be fetched, as bytes.
  private(set) var awaited: Set<[UInt8]> = []
  private(set) var problems: [Deviation] = []
  /// What cannot be checked, beside what can.
  private(set) var notes: [Deviation] = []

  private let folder: String

  /// The payload manifests.
  var payload: [List] { all.filter(\.isPayload) }

  /// Whether there is a tag manifest, readable or not.
  private(set) var hasTagManifest = false

  init(_ folder: String) {
    self.folder = folder
    let names = FilePath.names(in: folder)
    if !readAll(of: names, prefix: "manifest-", isPayload: true) {
      problems.append(Deviation(Bag.manifestName, SubjectFile.Trouble.missing.reason))
    }
    hasTagManifest = readAll(of: names, prefix: "tagmanifest-", isPayload: false)
    checkTagManifests(
      payloadManifests: names.filter { $0.hasPrefix("manifest-") && $0.hasSuffix(".txt") })
    if names.contains(Bag.fetchName) { readFetch() }
  }

  /// Reads all manifests of one kind; false if there is none.
  private mutating func readAll(of names: [String], prefix: String, isPayload: Bool) -> Bool {
    let found = names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".txt") }
    let algorithms = found.map {
      DigestAlgorithm(rawValue: $0.dropFirst(prefix.count).dropLast(4).lowercased())
    }
    for (name, algorithm) in zip(found, algorithms) {
      if let algorithm {
        read(name, algorithm, isPayload: isPayload)
        continue
      }
      let remark = Deviation(
        name, "it was not checked: its digests are of no kind that is known here")
      // Unchecked is not valid.
      if algorithms.allSatisfy({ $0 == nil }) {
        problems.append(remark)
      } else {
        notes.append(remark)
      }
    }
    return !found.isEmpty
  }

  private mutating func read(_ name: String, _ algorithm: DigestAlgorithm, isPayload: Bool) {
    var paths: Set<[UInt8]> = []
    let entries = readLines(of: name) { (line) throws(SubjectFile.Trouble) in
      let entry = try Self.entry(line, algorithm, isPayload: isPayload)
      guard paths.insert(Array(entry.path.utf8)).inserted else {
        throw SubjectFile.Trouble(reason: "it names \(entry.path) a second time")
      }
      return entry
    }
    guard let entries else { return }
    all.append(
      List(
        name: name, algorithm: algorithm, isPayload: isPayload, entries: entries, paths: paths))
  }

  /// RFC 8493, 2.2.1: a tag manifest names every payload manifest, and no tag manifest.
  private mutating func checkTagManifests(payloadManifests: [String]) {
    for list in all where !list.isPayload {
      for name in payloadManifests where !list.paths.contains(Array(name.utf8)) {
        problems.append(Deviation(list.name, "it does not name \(name)"))
      }
      if list.entries.contains(where: { $0.path.hasPrefix("tagmanifest-") }) {
        problems.append(Deviation(list.name, "it names a tag manifest"))
      }
    }
  }

  /// The files that the receiver must fetch: RFC 8493, 2.2.3. Nothing is fetched.
  private mutating func readFetch() {
    let payload = payload
    let paths = readLines(of: Bag.fetchName) { (line) throws(SubjectFile.Trouble) in
      let path = try Self.fetchedPath(line)
      guard payload.allSatisfy({ $0.paths.contains(Array(path.utf8)) }) else {
        throw SubjectFile.Trouble(reason: "not every manifest names \(path)")
      }
      return Array(path.utf8)
    }
    awaited = Set(paths ?? [])
  }

  /// The entries of a list, and its faults by line; nil, with a problem, if it is unreadable. O(n).
  private mutating func readLines<Entry>(
    of name: String, _ parse: (ArraySlice<UInt8>) throws(SubjectFile.Trouble) -> Entry
  ) -> [Entry]? {
    guard let file = SubjectFile(name: name, in: folder) else { return nil }
    let bytes: [UInt8]
    do throws(SubjectFile.Trouble) { bytes = try file.bytes(limit: Self.maximumByteCount) } catch {
      problems.append(Deviation(name, error.reason))
      return nil
    }
    var entries: [Entry] = []
    var wrong = 0
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if text.isEmpty { continue }
      do throws(SubjectFile.Trouble) { entries.append(try parse(text)) } catch {
        wrong += 1
        if wrong > Self.mostProblems { continue }
        problems.append(Deviation("\(name), line \(index + 1)", error.reason))
      }
    }
    if wrong > Self.mostProblems {
      problems.append(
        Deviation(name, "\(wrong - Self.mostProblems) more of its lines are wrong"))
    }
    return entries
  }

  /// A line of a manifest: `DIGEST PATH`.
  private static func entry(
    _ line: ArraySlice<UInt8>, _ algorithm: DigestAlgorithm, isPayload: Bool
  ) throws(SubjectFile.Trouble) -> (path: String, digest: String) {
    guard let end = line.firstIndex(where: isSpace), let digest = algorithm.digest(line[..<end])
    else {
      throw SubjectFile.Trouble(
        reason: "it does not begin with the \(algorithm.digitCount) digits of a digest")
    }
    var name = line[end...].drop(while: isSpace)
    // md5sum and similar tools mark binary mode.
    if name.first == UInt8(ascii: "*") { name = name.dropFirst() }
    let path = try path(name, ifItLeadsOut: "leads out of the bag; it was not looked at")
    guard path.utf8.starts(with: "\(Bag.payloadFolder)/".utf8) == isPayload else {
      throw SubjectFile.Trouble(
        reason: isPayload
          ? "\(path) is not in \(Bag.payloadFolder)/" : "\(path) is payload, and no tag file")
    }
    return (path, digest)
  }

  /// The path in a line of the fetch list: `URL LENGTH PATH`.
  private static func fetchedPath(
    _ line: ArraySlice<UInt8>
  ) throws(SubjectFile.Trouble) -> String {
    let address = line.prefix { !isSpace($0) }
    let rest = line.dropFirst(address.count).drop(while: isSpace)
    let length = rest.prefix { !isSpace($0) }
    guard isAddress(address) else {
      throw SubjectFile.Trouble(reason: "it does not begin with a URL")
    }
    guard length.elementsEqual("-".utf8) || !length.isEmpty && length.allSatisfy(isDigit) else {
      throw SubjectFile.Trouble(reason: "after the URL, it has neither a length nor a hyphen")
    }
    let path = try path(
      rest.dropFirst(length.count).drop(while: isSpace), ifItLeadsOut: "leads out of the bag")
    guard path.utf8.starts(with: "\(Bag.payloadFolder)/".utf8) else {
      throw SubjectFile.Trouble(reason: "\(path) is not in \(Bag.payloadFolder)/")
    }
    return path
  }

  private static func path(
    _ name: ArraySlice<UInt8>, ifItLeadsOut refusal: String
  ) throws(SubjectFile.Trouble) -> String {
    guard let path = String(validating: Bag.decoded(name), as: UTF8.self), !path.isEmpty else {
      throw SubjectFile.Trouble(reason: "its path is no UTF-8, or missing")
    }
    guard SubjectFile(name: path, in: "") != nil else {
      throw SubjectFile.Trouble(reason: "\(path) \(refusal)")
    }
    return path
  }

  /// Whether a byte separates the parts of a line.
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
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

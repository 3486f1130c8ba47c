/// The manifests of one bag, and its list of what is to be fetched, read: which files there are to be,
/// and what is wrong with the lists themselves.
struct BagLists {
  /// One manifest.
  struct List: Sendable {
    /// The file's name.
    let name: String
    let algorithm: DigestAlgorithm
    let isPayload: Bool
    let entries: [BagManifest.Entry]

    /// The paths that it names, by their bytes: two that look alike are two.
    let paths: Set<[UInt8]>
  }

  /// Every manifest whose digests can be checked, sorted by name.
  private(set) var all: [List] = []
  /// What is still to be fetched, by the bytes of the paths.
  private(set) var awaited: Set<[UInt8]> = []
  /// What is wrong.
  private(set) var problems: [(name: String, reason: String)] = []
  /// What cannot be checked, beside what can.
  private(set) var notes: [(name: String, reason: String)] = []

  private let folder: String

  /// Those that list the payload.
  var payload: [List] { all.filter(\.isPayload) }

  /// Whether there is a list of the bag's own files, be it one that cannot be read.
  private(set) var hasTagManifest = false

  /// Reads them.
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

  /// Reads all manifests of one kind; false where there is none.
  private mutating func readAll(of names: [String], prefix: String, isPayload: Bool) -> Bool {
    let found = names.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".txt") }
    let known = found.filter { Self.algorithm(of: $0, prefix) != nil }
    for name in found {
      guard let algorithm = Self.algorithm(of: name, prefix) else {
        let reason = "it was not checked: its digests are of no kind that is known here"
        // What nothing else checks is not valid because nobody looked.
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

  /// The bytes of a tag file; nil, with a problem, where there are none.
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

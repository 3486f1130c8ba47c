/// A manifest, read: which files there are to be, and what is wrong with the list itself. It comes
/// from strangers.
struct BagManifest {
  /// One line.
  struct Entry: Hashable {
    /// The path from the bag's folder.
    let path: String
    /// In lower-case hexadecimal digits.
    let digest: String
  }

  /// The longest manifest that is read, in bytes: of some half a million files.
  static let maximumByteCount = 64 << 20
  /// No more than so many wrong lines are named.
  private static let mostProblems = 20

  private(set) var entries: [Entry] = []
  /// What is wrong, by line.
  private(set) var problems: [(place: String, reason: String)] = []

  /// Reads a manifest's bytes. O(n).
  /// - Parameters:
  ///   - name: its file's, for what is told.
  ///   - algorithm: the one in its name.
  ///   - isPayload: whether it is to list the payload, or the tag files.
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
    // md5sum and its kin mark what they read as binary.
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

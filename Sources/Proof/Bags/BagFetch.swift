/// The list of files that whoever received a bag is still to fetch: RFC 8493, 2.2.3. It comes from
/// strangers, and nothing is fetched.
struct BagFetch {
  /// The longest list that is read, in bytes.
  static let maximumByteCount = 64 << 20
  /// No more than so many wrong lines are named.
  private static let mostProblems = 20

  /// Where the files are to lie, from the bag's folder.
  private(set) var paths: [String] = []
  /// What is wrong, by line.
  private(set) var problems: [(place: String, reason: String)] = []

  /// Reads a list's bytes. O(n).
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

  /// Whether a text begins as URLs do, with a scheme: RFC 3986, 3.1.
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

package import Platform

/// A path beneath a destination, which can neither lead upwards nor be absolute.
package struct RemotePath: Hashable, Sendable {
  /// The outermost folder first; the last one is the file's.
  package let names: [String]

  /// Bytes of one name, which file systems hold.
  private static let nameLimit = 255
  /// Bytes of all names. A key of S3 holds 1,024, with its prefix.
  private static let limit = 900
  /// What a part's name has behind its file's. `.part` alone is refused by Nextcloud.
  private static let partMark = ".part-"
  /// What the name of a file begins with that tests a destination.
  private static let probeMark = "spool-check-"

  /// Reads names with slashes between them.
  package init(_ text: String) throws(SpoolError) {
    let names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    if let reason = Self.complaint(about: names, text) {
      throw SpoolError(
        "deliver to the name", text, reason: reason, advice: "choose another name",
        cause: .input, kind: .invalid)
    }
    self.names = names
  }

  private init(names: [String]) { self.names = names }

  private static func complaint(about names: [String], _ text: String) -> String? {
    if text.utf8.count > limit { return "it has more than \(limit) bytes" }
    for name in names {
      if name.isEmpty { return "one of its names is empty" }
      if name == "." || name == ".." { return "it may not have the name \(name)" }
      if name.utf8.count > nameLimit { return "a name in it has more than \(nameLimit) bytes" }
      if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
        return "it has a control character"
      }
    }
    return names.last.flatMap(token) == nil ? nil : "unfinished files have such names"
  }

  /// The token of a part's name; nil for other names.
  private static func token(_ name: String) -> Substring? {
    guard let mark = name.ranges(of: partMark).last else { return nil }
    let token = name[mark.upperBound...]
    return UploadState.isToken(token) ? token : nil
  }

  /// Whether a path is that of a file that is not complete.
  static func isUnfinished(_ text: String) -> Bool {
    text.split(separator: "/").last.flatMap { token(String($0)) } != nil
  }

  /// Where the file lies until it is complete.
  package func part(_ token: String) -> RemotePath {
    var names = names
    // A part's name is longer than its file's.
    var name = names.removeLast()
    while name.utf8.count + Self.partMark.utf8.count + token.utf8.count > Self.nameLimit {
      name.removeLast()
    }
    return RemotePath(names: names + [name + Self.partMark + token])
  }

  /// A file to test a destination with, which may be removed afterwards.
  package static func probe(_ token: String) -> RemotePath {
    RemotePath(names: [probeMark + token])
  }

  /// Whether it is a file that tests a destination.
  package var isProbe: Bool { names.count == 1 && names[0].hasPrefix(Self.probeMark) }
}

extension RemotePath: CustomStringConvertible {
  package var description: String { names.joined(separator: "/") }
}

public import Hashing

/// Files and their digests as `sha256sum -c` reads them.
public enum ChecksumList {
  /// How the name of a receipt's list ends.
  static let ending = ".sha256"

  /// One line for each file, in the order given.
  public static func text(of files: [(name: String, digest: Digest)]) -> String {
    files.map { line($0.name, $0.digest) }.joined()
  }

  // A name with a backslash or a line break is escaped, and its line begins with a backslash: see
  // `info sha256sum`.
  private static func line(_ name: String, _ digest: Digest) -> String {
    guard name.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\n") })
    else { return "\(digest.hex)  \(name)\n" }
    let escaped = name.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return "\\\(digest.hex)  \(escaped)\n"
  }
}

package import Platform

/// The text of the tag files of a bag: RFC 8493, BagIt 1.0.
package enum Bag {
  package static let declarationName = "bagit.txt"
  /// The metadata of the bag.
  package static let informationName = "bag-info.txt"
  /// The digests of the payload.
  package static let manifestName = "manifest-sha256.txt"
  /// The digests of the other tag files.
  package static let tagManifestName = "tagmanifest-sha256.txt"
  /// The files still to be fetched; Spool writes none.
  package static let fetchName = "fetch.txt"
  package static let payloadFolder = "data"

  /// RFC 8493, 2.1.1.
  package static let declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"

  /// The declaration of the bag in whose payload a path lies; nil outside of bags. O(folders).
  package static func declaration(around path: String) -> String? {
    var folder = FilePath.folder(of: path)
    while folder.count > 1, folder != "." {
      let parent = FilePath.folder(of: folder)
      let declaration = "\(parent)/\(declarationName)"
      if folder == "\(parent)/\(payloadFolder)", FilePath.exists(declaration) { return declaration }
      folder = parent
    }
    return nil
  }

  /// A manifest in the order of the names' bytes; RFC 8493, 2.1.3.
  /// - Parameter files: paths from the bag's folder, and digests.
  package static func manifest(_ files: [(path: String, digest: Digest)]) -> String {
    files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
      .map { "\($0.digest.hex)  \(encoded($0.path))\n" }.joined()
  }

  /// bag-info.txt, a line per entry: RFC 8493, 2.2.2. Line breaks in values are replaced.
  package static func information(_ entries: [(label: String, value: String)]) -> String {
    entries.map { "\($0.label): \(oneLine($0.value))\n" }.joined()
  }

  private static func oneLine(_ value: String) -> String {
    let scalars = value.unicodeScalars.map { scalar in
      scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
        || [0x2028, 0x2029].contains(scalar.value) ? " " : Character(scalar)
    }
    return String(scalars).split(separator: " ").joined(separator: " ")
  }
}

/// A path in a manifest, on one line. RFC 8493, 2.1.3: CR, LF and the percent sign are written
/// `%0D`, `%0A` and `%25`, and nothing else is.
extension Bag {
  static func encoded(_ path: String) -> String {
    var result = ""
    for scalar in path.unicodeScalars {
      switch scalar {
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      case "%": result += "%25"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The path of a manifest line. Other text after a percent sign stays: older writers encoded no
  /// percent signs.
  static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var rest = text[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"),
        let meant = meanings[String(decoding: rest.prefix(2), as: UTF8.self).uppercased()]
      else {
        result.append(byte)
        continue
      }
      result.append(meant)
      rest = rest.dropFirst(2)
    }
    return result
  }

  private static let meanings: [String: UInt8] = ["0D": 0x0D, "0A": 0x0A, "25": 0x25]
}

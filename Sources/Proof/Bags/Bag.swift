public import Hashing

/// The text of the tag files of a bag: RFC 8493, BagIt 1.0.
public enum Bag {
  /// The file without which a folder is no bag.
  public static let declarationName = "bagit.txt"
  /// The file with what is to be said of the bag.
  public static let informationName = "bag-info.txt"
  /// The file with the digests of the payload.
  public static let manifestName = "manifest-sha256.txt"
  /// The file with the digests of the other tag files.
  public static let tagManifestName = "tagmanifest-sha256.txt"
  /// The file with what of the payload is still to be fetched: none of those that are written here.
  public static let fetchName = "fetch.txt"
  /// The folder of the payload.
  public static let payloadFolder = "data"

  /// What the declaration says: RFC 8493, 2.1.1.
  public static let declaration = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"

  /// A manifest: every file with its digest, in the order of the names' bytes; RFC 8493, 2.1.3.
  /// - Parameter files: paths from the bag's folder, and what they hold.
  public static func manifest(_ files: [(path: String, digest: Digest)]) -> String {
    files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
      .map { "\($0.digest.hex)  \(BagPath.encoded($0.path))\n" }.joined()
  }

  /// What is to be said of the bag, a line for each: RFC 8493, 2.2.2. A value is one line, whatever
  /// is in it.
  public static func information(_ entries: [(label: String, value: String)]) -> String {
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

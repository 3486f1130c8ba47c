internal import Glibc

/// Finds the receipts, the bags and the quotes in a folder and those below it, which is looked through
/// once; no link is followed.
public struct ReceiptSearch {
  /// How the name of a receipt ends.
  public static let ending = ".receipt.json"

  let folder: String
  /// The paths of all files from the folder.
  let paths: [String]

  /// Looks through a folder. O(n log n) for n files.
  public init(below folder: String) {
    self.folder = folder
    paths = FolderWalk.entries(of: folder).map(\.path)
  }

  /// The paths of all receipts, sorted.
  public var receipts: [String] {
    let ending = Array(Self.ending.utf8)
    return paths.filter { $0.utf8.suffix(ending.count).elementsEqual(ending) }
      .map { Self.join(folder, $0) }
  }

  /// The folders of all bags, sorted: of those, too, that are not whole any more or not yet. What
  /// lies in the payload of one is no bag of its own.
  public var bags: [String] {
    let signs: Set = [Bag.declarationName, Bag.manifestName, Bag.tagManifestName]
    var found: Set<String> = []
    for path in paths {
      let name = Self.name(of: path)
      if signs.contains(name) { found.insert(String(path.dropLast(name.utf8.count + 1))) }
    }
    let outermost = found.filter { path in
      !found.contains { path.hasPrefix(($0.isEmpty ? "" : $0 + "/") + Bag.payloadFolder + "/") }
    }
    return outermost.sorted().map { $0.isEmpty ? folder : Self.join(folder, $0) }
  }

  /// What follows the last slash.
  public static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// What comes before the name, with the slash; empty for a name alone.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(path[...slash])
  }

  private static func join(_ folder: String, _ path: String) -> String {
    folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
  }
}

internal import Glibc

/// Finds the receipts and the bags in a folder and those below it; no link is followed.
public enum ReceiptSearch {
  /// How the name of a receipt ends.
  public static let ending = ".receipt.json"

  /// The paths of all receipts, sorted.
  public static func receipts(below folder: String) -> [String] {
    FolderWalk.entries(of: folder).filter { $0.path.hasSuffix(ending) }
      .map { join(folder, $0.path) }
  }

  /// The folders of all bags, sorted: of those, too, that are not whole any more or not yet. What
  /// lies in the payload of one is no bag of its own.
  public static func bags(below folder: String) -> [String] {
    let signs: Set = [Bag.declarationName, Bag.manifestName, Bag.tagManifestName]
    var found: Set<String> = []
    for (path, _) in FolderWalk.entries(of: folder) {
      let name = path.split(separator: "/").last.map(String.init) ?? ""
      if signs.contains(name) { found.insert(String(path.dropLast(name.utf8.count + 1))) }
    }
    let outermost = found.filter { path in
      !found.contains { path.hasPrefix(($0.isEmpty ? "" : $0 + "/") + Bag.payloadFolder + "/") }
    }
    return outermost.sorted().map { $0.isEmpty ? folder : join(folder, $0) }
  }

  private static func join(_ folder: String, _ path: String) -> String {
    folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
  }
}

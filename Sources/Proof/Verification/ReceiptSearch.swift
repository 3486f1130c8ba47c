internal import Glibc
package import Platform

/// Finds the receipts, bags and quotes below a folder, in one walk without following links.
package struct ReceiptSearch {
  /// The suffix of a receipt's name.
  package static let ending = ".receipt.json"

  let folder: String
  /// The paths of all files from the folder.
  let paths: [String]

  /// O(n log n) for n files.
  package init(below folder: String) {
    self.folder = folder
    paths = FolderWalk.entries(of: folder).map(\.path)
  }

  /// The paths of all receipts, sorted.
  package var receipts: [String] {
    let ending = Array(Self.ending.utf8)
    return paths.filter { $0.utf8.suffix(ending.count).elementsEqual(ending) }
      .map { Self.join(folder, $0) }
  }

  /// The paths of all confirmations of deliveries, sorted.
  package var confirmations: [String] {
    paths.filter { Self.isConfirmation($0) }.map { Self.join(folder, $0) }
  }

  /// Whether a file has the name of a confirmation: `walk.delivered-nas.json`.
  package static func isConfirmation(_ path: String) -> Bool {
    let name = name(of: path)
    return name.hasSuffix(".json") && name.contains(DeliveryConfirmation.mark)
  }

  /// The folders of all bags, incomplete ones included, sorted. A bag's payload is not searched for
  /// bags.
  package var bags: [String] {
    let signs: Set = [Bag.declarationName, Bag.manifestName, Bag.tagManifestName]
    var found: [String] = []
    var known: Set<ExactText> = []
    for path in paths {
      let name = Self.name(of: path)
      guard signs.contains(name) else { continue }
      let bag = String(decoding: path.utf8.dropLast(name.utf8.count + 1), as: UTF8.self)
      if known.insert(ExactText(bag)).inserted { found.append(bag) }
    }
    let outermost = found.filter { path in
      !found.contains {
        path.utf8.starts(with: (($0.isEmpty ? "" : $0 + "/") + Bag.payloadFolder + "/").utf8)
      }
    }
    return outermost.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      .map { $0.isEmpty ? folder : Self.join(folder, $0) }
  }

  /// The receipts in a file's folder, or in the folder of receipts there, that name the file, and the
  /// SHA-256 that each states. Neither signature nor statement is verified. O(their bytes).
  /// - Parameters:
  ///   - path: absolute.
  ///   - files: gives the files that the receipt at a path names.
  package static func receipts(
    covering path: String,
    files: (String) -> [(path: String, digest: Digest)] = { ReceiptFile(at: $0)?.files ?? [] }
  ) -> [(path: String, digest: Digest)] {
    let folder = folder(of: path)
    return [folder, folder + Receipt.ownFolder + "/"].flatMap { place in
      FilePath.names(in: place).filter { $0.hasSuffix(ending) }.compactMap { name in
        let file = files(place + name).first { $0.path == path }
        return file.map { (place + name, $0.digest) }
      }
    }
  }

  /// The text after the last slash.
  package static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// The text up to and including the last slash; empty without one.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(path[...slash])
  }

  /// The folder that names in a receipt start from, up to and including its last slash; empty for the
  /// current one. It is the receipt's own, or the one above if the receipt says that it lies in
  /// ``Receipt/ownFolder``.
  /// - Parameter path: the receipt's.
  static func base(of path: String, _ statement: JSONValue) -> String {
    let own = folder(of: path)
    guard statement.statedName?.hasPrefix(Receipt.ownFolder + "/") == true else { return own }
    let end = Receipt.ownFolder + "/"
    return own == end || own.hasSuffix("/" + end)
      ? String(own.dropLast(end.utf8.count)) : own + "../"
  }

  private static func join(_ folder: String, _ path: String) -> String {
    folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
  }
}

internal import Glibc

/// Finds the receipts in a folder and those below it; no link is followed.
public enum ReceiptSearch {
  /// How the name of a receipt ends.
  public static let ending = ".receipt.json"

  /// The paths of all receipts, sorted.
  public static func receipts(below folder: String) -> [String] {
    var found: [String] = []
    var waiting = [folder]
    while let folder = waiting.popLast() {
      for name in KeyFile.names(in: folder) {
        let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { continue }
        if status.st_mode & S_IFMT == S_IFDIR {
          waiting.append(path)
        } else if name.hasSuffix(ending) {
          found.append(path)
        }
      }
    }
    return found.sorted()
  }
}

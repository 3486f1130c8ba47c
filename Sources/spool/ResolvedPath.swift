import Glibc

/// One file, one name: what is remembered by a path must not begin anew because it was typed from
/// another folder or by a link.
enum ResolvedPath {
  /// The path without links and dots in it; as it is where it leads nowhere.
  static func of(_ path: String) -> String {
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// The absolute path as it was typed, links and all: where somebody put one in the place of a folder,
  /// the folder is still remembered by this.
  static func asTyped(_ path: String) -> String {
    if path.utf8.first == UInt8(ascii: "/") { return tidied(path) }
    // The shell knows by which links one came to the current folder.
    let typed = Environment.variables["PWD"] ?? ""
    let isHere = typed.utf8.first == UInt8(ascii: "/") && of(typed) == of(".")
    return tidied((isHere ? typed : of(".")) + "/" + path)
  }

  private static func tidied(_ path: String) -> String {
    var parts: [Substring.UTF8View] = []
    for part in path.utf8.split(separator: UInt8(ascii: "/")) where !part.elementsEqual(".".utf8) {
      if part.elementsEqual("..".utf8) { _ = parts.popLast() } else { parts.append(part) }
    }
    return parts.map { "/" + String(Substring($0)) }.joined()
  }

  /// A file's path with its folder resolved; a link in the file's own place is not followed.
  static func ofFile(_ path: String) -> String {
    var folders: [Substring: String] = [:]
    return ofFile(path, &folders)
  }

  /// The same for many files: each folder is looked at once.
  static func ofFile(_ path: String, _ folders: inout [Substring: String]) -> String {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { path[..<$0] } ?? "."
    let name = slash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
    let known = folders[folder] ?? of(folder.isEmpty ? "/" : String(folder))
    folders[folder] = known
    return known == "/" ? "/\(name)" : "\(known)/\(name)"
  }
}

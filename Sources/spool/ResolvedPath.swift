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

  /// A folder's path as it was typed, and as it becomes when one link in it after the other is followed,
  /// to the path without any.
  static func ways(to folder: String) -> [String] {
    var ways = [asTyped(folder)]
    // The kernel follows no more either.
    for _ in 0..<40 {
      guard let next = ways.last.flatMap(followingFirstLink) else { break }
      ways.append(next)
    }
    return ways + [of(folder)]
  }

  private static func followingFirstLink(in path: String) -> String? {
    var parent = ""
    var rest = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }[...]
    while let part = rest.popFirst() {
      let here = "\(parent)/\(part)"
      if let target = target(ofLink: here) {
        let start = target.utf8.first == UInt8(ascii: "/") ? target : "\(parent)/\(target)"
        return tidied(([start] + rest).joined(separator: "/"))
      }
      parent = here
    }
    return nil
  }

  private static func target(ofLink path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
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
    let (folder, name) = parts(of: path)
    return join(of(folder), name)
  }

  /// The ways to a file: those to its folder, each looked for once. A link in its own place is not
  /// followed.
  static func ways(toFile path: String, _ folders: inout [String: [String]]) -> [String] {
    let (folder, name) = parts(of: path)
    let known = folders[folder] ?? ways(to: folder)
    folders[folder] = known
    return known.map { join($0, name) }
  }

  private static func parts(of path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let folder = String(path[..<slash])
    return (folder.isEmpty ? "/" : folder, String(path[path.utf8.index(after: slash)...]))
  }

  private static func join(_ folder: String, _ name: String) -> String {
    folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }
}

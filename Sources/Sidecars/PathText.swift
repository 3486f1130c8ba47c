/// Paths as text, cut at bytes: names that look alike may be different files.
package enum PathText {
  /// Everything before the last slash; empty where there is none.
  package static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(path[..<slash])
  }

  /// What follows the last slash.
  package static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// A name without its extension; one that only begins with a dot has none.
  package static func stem(of name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
      return name
    }
    return String(name[..<dot])
  }

  /// What follows the last dot of a name, without it; empty where there is none.
  package static func fileExtension(of name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
      return ""
    }
    return String(name[name.utf8.index(after: dot)...])
  }

  /// A path below a folder; the folder itself where `path` is empty.
  package static func join(_ folder: String, _ path: String) -> String {
    path.isEmpty ? folder : folder.isEmpty ? path : folder == "/" ? "/" + path : folder + "/" + path
  }

  /// The order of their bytes.
  package static func isBefore(_ a: String, _ b: String) -> Bool {
    a.utf8.lexicographicallyPrecedes(b.utf8)
  }
}

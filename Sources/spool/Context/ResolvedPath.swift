import FoundationEssentials
import Glibc
import PipelineModel
import Platform

/// Canonical paths: state stored by path must be found again from another folder or by a link.
enum ResolvedPath {
  /// The path without links and dots; unchanged if it does not exist.
  static func of(_ path: String) -> String { (try? FilePath.resolved(path)) ?? path }

  /// The absolute path as typed, with links: it stays valid when a folder is replaced by a link.
  static func asTyped(_ path: String) -> String {
    if path.utf8.first == UInt8(ascii: "/") { return tidied(path) }
    // The shell's `PWD` keeps the links of the current folder.
    let typed = Environment.variables["PWD"] ?? ""
    let isHere = typed.utf8.first == UInt8(ascii: "/") && of(typed) == of(".")
    return tidied((isHere ? typed : of(".")) + "/" + path)
  }

  /// A folder's path as typed, and after resolving each of its links in turn.
  static func ways(to folder: String) -> [String] {
    var ways = [asTyped(folder)]
    // The kernel's own limit.
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
      if let target = FilePath.target(ofLink: here) {
        let start = target.utf8.first == UInt8(ascii: "/") ? target : "\(parent)/\(target)"
        return tidied(([start] + rest).joined(separator: "/"))
      }
      parent = here
    }
    return nil
  }

  private static func tidied(_ path: String) -> String {
    var parts: [Substring.UTF8View] = []
    for part in path.utf8.split(separator: UInt8(ascii: "/")) where !part.elementsEqual(".".utf8) {
      if part.elementsEqual("..".utf8) { _ = parts.popLast() } else { parts.append(part) }
    }
    return parts.map { "/" + String(Substring($0)) }.joined()
  }

  /// Resolves the folder of a file's path, but not a link in the file's own place.
  static func ofFile(_ path: String) -> String {
    let (folder, name) = parts(of: path)
    return join(of(folder), name)
  }

  /// The absolute path of what may be gone, with its folders: the links of what is there are resolved.
  static func ofAbsent(_ path: String) -> String {
    if let resolved = try? FilePath.resolved(path) { return resolved }
    let (folder, name) = parts(of: path)
    return folder == path ? path : join(ofAbsent(folder), name)
  }

  /// All paths to a file, with its folder's links resolved in turn; `folders` caches them. A link
  /// in the file's own place is not followed.
  static func ways(toFile path: String, _ folders: inout [ExactText: [String]]) -> [String] {
    let (folder, name) = parts(of: path)
    let known = folders[ExactText(folder)] ?? ways(to: folder)
    folders[ExactText(folder)] = known
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

/// The user's folder for exports.
enum OutputFolder {
  /// Checks that files can be written to `path` before hours of work, and creates nothing: a run makes
  /// the folder for its first export. A missing parent is refused as a probable typing mistake.
  /// - Returns: the one path of the folder, since published files are identified by path.
  @discardableResult
  static func check(_ path: String) throws(SpoolError) -> String {
    let path = withoutSlash(path)
    guard let error = FilePath.obstacle(to: path) else {
      try checkTakesFiles(path)
      return ResolvedPath.of(path)
    }
    guard error.code == ENOENT else { throw cannotMake(path, error) }
    // A link to nothing takes the folder's place.
    if (try? FileStamp(at: path)) != nil { try checkTakesFiles(path) }
    let above = FilePath.folder(of: path)
    if let error = FilePath.obstacle(to: above, W_OK | X_OK) { throw cannotMake(path, error) }
    return ResolvedPath.ofFile(path)
  }

  /// Checks as `check`, and creates the folder.
  static func prepare(_ path: String) throws(SpoolError) -> String {
    try check(path)
    let path = withoutSlash(path)
    do throws(SystemError) { try FileOperations.system.makeFolder(path, mode: 0o755) } catch {
      throw cannotMake(path, error)
    }
    return ResolvedPath.of(path)
  }

  private static func withoutSlash(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  private static func cannotMake(_ path: String, _ error: SystemError) -> SpoolError {
    let advice =
      error.code == ENOENT
      ? "make the folder above it, or choose another with --out" : "choose another with --out"
    return SpoolError("make the output folder", path, error, advice: advice)
  }

  private static func checkTakesFiles(_ path: String) throws(SpoolError) {
    guard (try? FileStamp(following: path))?.isFolder == true else {
      throw SpoolError(
        "the output folder \(path) is not a folder", reason: "there is a file of that name",
        advice: "choose another with --out", cause: .environment)
    }
    if let error = FilePath.obstacle(to: path, W_OK | X_OK) {
      throw SpoolError(
        "cannot write into the output folder \(path)", reason: error.words,
        advice: "make it writable, or choose another with --out", cause: .environment)
    }
  }
}

/// Small text files outside the store.
enum TextFile {
  /// Maximum bytes of a pipeline.
  private static let maximumByteCount = 4 << 20

  /// - Parameter what: what the file is, with its article.
  static func read(
    _ what: String, _ path: String, advice: String = "check the path"
  ) throws(SpoolError) -> String {
    let bytes = try doing("read \(what)", path, advice: advice) { () throws(SystemError) in
      try FileOperations.system.bytes(following: path, limit: maximumByteCount)
    }
    guard bytes.count <= maximumByteCount else {
      throw SpoolError(
        "read \(what)", path, reason: "it is longer than any pipeline", advice: advice)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

enum Environment {
  /// The folder for temporary files: `TMPDIR`, or `/tmp`.
  static var temporaryFolder: String {
    variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
  }

  static var variables: [String: String] { ProcessInfo.processInfo.environment }
}

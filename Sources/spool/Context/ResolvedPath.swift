import FoundationEssentials
import Glibc
import PipelineModel
import Platform

/// Canonical paths: state stored by path must be found again from another folder or by a link.
enum ResolvedPath {
  /// The path without links and dots; unchanged if it does not exist.
  static func of(_ path: String) -> String {
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

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

  /// Resolves the folder of a file's path, but not a link in the file's own place.
  static func ofFile(_ path: String) -> String {
    let (folder, name) = parts(of: path)
    return join(of(folder), name)
  }

  /// All paths to a file, with its folder's links resolved in turn; `folders` caches them. A link
  /// in the file's own place is not followed.
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

/// The user's folder for exports.
enum OutputFolder {
  /// Checks that files can be written to `path` before hours of work, and creates the folder. A
  /// missing parent is refused as a probable typing mistake.
  static func prepare(_ path: String) throws(SpoolError) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    if unsafe mkdir(path, 0o755) != 0, errno != EEXIST { throw cannotMake(path) }
    try checkTakesFiles(path)
    // One path for each folder, since published files are identified by path.
    return ResolvedPath.of(path)
  }

  /// Whether `prepare` would succeed; creates nothing.
  static func check(_ path: String) throws(SpoolError) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    if unsafe access(path, F_OK) == 0 { return try checkTakesFiles(path) }
    guard errno == ENOENT else { throw cannotMake(path) }
    let above = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    guard unsafe access(above.isEmpty ? "/" : above, W_OK | X_OK) == 0 else {
      throw cannotMake(path)
    }
  }

  private static func cannotMake(_ path: String) -> SpoolError {
    let advice =
      errno == ENOENT
      ? "make the folder above it, or choose another with --out" : "choose another with --out"
    return refusal("cannot make the output folder \(path)", advice: advice)
  }

  private static func checkTakesFiles(_ path: String) throws(SpoolError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw refusal(
        "the output folder \(path) is not a folder", reason: "there is a file of that name",
        advice: "choose another with --out")
    }
    guard unsafe access(path, W_OK | X_OK) == 0 else {
      throw refusal(
        "cannot write into the output folder \(path)",
        advice: "make it writable, or choose another with --out")
    }
  }

  private static func refusal(
    _ message: String, reason: String = unsafe String(cString: strerror(errno)), advice: String
  ) -> SpoolError {
    SpoolError(message, reason: reason, advice: advice, cause: .environment)
  }
}

/// Small text files outside the store.
enum TextFile {
  /// Maximum bytes of a pipeline.
  private static let maximumByteCount = 4 << 20

  static func read(_ path: String) throws(TextFileError) -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw TextFileError() }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe Glibc.read(descriptor, &block, block.count)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      guard count > 0 else { throw TextFileError() }
      bytes += block[..<count]
      guard bytes.count <= maximumByteCount else {
        throw TextFileError(reason: "it is longer than any pipeline")
      }
    }
  }

  /// Writes a new file; fails if it exists.
  static func create(_ path: String, _ text: String) throws(TextFileError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw TextFileError() }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
      throw TextFileError()
    }
  }
}

/// Why a file could not be read or written, in the system's words.
struct TextFileError: Error {
  let reason: String

  init(reason: String = unsafe String(cString: strerror(errno))) { self.reason = reason }
}

enum Environment {
  static var variables: [String: String] { ProcessInfo.processInfo.environment }

  /// Sets `SPOOL_PLUGINS` for this process and its children. Called first, while there is one
  /// thread.
  static func share(plugins folder: String?) {
    guard let folder, let path = unsafe realpath(folder, nil) else { return }
    defer { unsafe free(path) }
    unsafe setenv("SPOOL_PLUGINS", path, 1)
  }
}

import FoundationEssentials
import Glibc
import Platform

/// The files around a program outside the system's folders that it needs, such as an interpreter's
/// libraries, and no others.
struct ProgramPrefix {
  /// Files and folders, existing or not; never a home folder itself.
  let places: [String]
  /// The same for programs that only the plugin's own links or scripts name. A program run by root
  /// may read only world-readable files there.
  let publicPlaces: [String]

  /// What programs keep beside their `bin`: libraries, the configuration of a Python virtual
  /// environment, pyenv's versions, and what Java and Homebrew add.
  private static let prefixParts = [
    "bin", "lib", "lib32", "lib64", "libexec", "share", "include", "pyvenv.cfg", "version",
    "versions", "conf", "Cellar",
  ]
  /// The same if the folder around `bin` is a home, where other files may have these names.
  private static let homeParts = ["lib", "lib64", "pyvenv.cfg"]

  /// - Parameters:
  ///   - program: its absolute path; its link targets and the interpreter of its first line are
  ///     included.
  ///   - reads: what it may read anyway. A program in one of these folders needs nothing else
  ///     there.
  ///   - homes: the home folders of users.
  init(
    of program: String, in reads: [String], homes: Set<String> = ProgramPrefix.homes
  ) {
    func isOwn(_ path: String) -> Bool {
      // A program that lies in `reads` as a file is not the plugin's own.
      reads.contains { path.hasPrefix("\($0)/") }
    }
    var (places, publicPlaces): ([String], [String]) = ([], [])
    func open(_ program: String, isPlugins: Bool) {
      let found = [program, Self.real(program)].filter { !isOwn($0) }
        .flatMap { Self.places(around: $0, homes) }
      if isPlugins { publicPlaces += found } else { places += found }
    }
    var isPlugins = isOwn(program)
    open(program, isPlugins: isPlugins)
    for interpreter in ScriptLine.interpreters(of: program) {
      // `PATH` is the user's choice, even if a script asks for the lookup.
      isPlugins = !interpreter.line.isSearched && (isPlugins || isOwn(interpreter.program))
      open(interpreter.program, isPlugins: isPlugins)
    }
    (self.places, self.publicPlaces) = (places, publicPlaces)
  }

  /// What a program in a `bin` folder or on `PATH` needs; of other programs, only the file itself.
  private static func places(around program: String, _ homes: Set<String>) -> [String] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    func isPersonal(_ folder: String) -> Bool {
      let parts = folder.pathNames
      // A folder directly below the root holds mostly unrelated files.
      return parts.count < 2 || homes.contains(folder)
        || parts.last == ".local" && homes.contains(parent(of: folder))
        || parts.count == 2 && ["home", "Users"].contains(parts[0]) || folder == "/var/tmp"
    }
    let folder = parent(of: program)
    guard folder.hasSuffix("/bin") || path.split(separator: ":").contains(folder[...]) else {
      return [program]
    }
    let prefix = parent(of: folder)
    let parts = isPersonal(prefix) ? homeParts : prefixParts
    return (isPersonal(folder) ? [program] : [folder]) + parts.map { "\(prefix)/\($0)" }
  }

  /// The home folders of all users in this machine's list, and of this user.
  static var homes: Set<String> {
    let list = FileManager.default.contents(atPath: "/etc/passwd") ?? Data()
    let named = String(decoding: list, as: UTF8.self).split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      return fields.count > 5 ? String(fields[5]) : nil
    }
    let own = ProcessInfo.processInfo.environment["HOME"] ?? "/root"
    return Set(
      (named + [own, "/root"]).map { "/" + $0.pathNames.joined(separator: "/") })
  }

  /// The path without links.
  static func real(_ path: String) -> String {
    URL(filePath: path).resolvingSymlinksInPath().path
  }

  private static func parent(of path: String) -> String {
    let parts = path.pathNames.dropLast()
    return "/" + parts.joined(separator: "/")
  }
}

/// The world-readable files in a folder: root is not bound by permissions, so they are checked
/// here. O(files).
struct PublicFiles {
  /// Files, and folders that are public as a whole.
  private(set) var whole: [String] = []
  /// Folders of which only some files are public.
  private(set) var folders: [String] = []

  /// - Parameters:
  ///   - path: a file or a folder; links are followed.
  ///   - base: a folder known to be public, whatever the folders above it.
  init(of path: String, from base: String = "/") {
    let path = ProgramPrefix.real(path)
    guard Self.isReachable(path, from: base) else { return }
    if visit(path) { whole = [path] }
  }

  /// Whether a file, or everything in a folder, is world-readable.
  static func hold(_ path: String, from base: String = "/") -> Bool {
    let files = PublicFiles(of: path, from: base)
    return !files.whole.isEmpty && files.folders.isEmpty
  }

  /// Whether nothing of it is public.
  var isEmpty: Bool { whole.isEmpty && folders.isEmpty }

  /// Whether the folders above, below `base` if it lies in there, are open to all users.
  static func isReachable(_ path: String, from base: String = "/") -> Bool {
    var folder = ""
    for part in path.pathNames.dropLast() {
      folder += "/\(part)"
      if base == folder || base.hasPrefix("\(folder)/"), path.hasPrefix("\(base)/") { continue }
      guard let stamp = try? FileStamp(following: folder), stamp.permissions & S_IXOTH != 0 else {
        return false
      }
    }
    return true
  }

  private static func isLink(_ path: String) -> Bool { (try? FileStamp(at: path))?.isLink == true }

  /// - Returns: whether all of it is public; otherwise its public parts are recorded.
  private mutating func visit(_ path: String) -> Bool {
    guard let stamp = try? FileStamp(at: path) else { return false }
    // A link's target has its own permissions.
    if stamp.isLink { return true }
    guard stamp.isFolder else { return stamp.permissions & 0o4 != 0 }
    guard stamp.permissions & 0o5 == 0o5,
      let names = try? FileManager.default.contentsOfDirectory(atPath: path)
    else { return false }
    let inner = names.map { "\(path)/\($0)" }.map { (path: $0, isPublic: visit($0)) }
    if inner.allSatisfy(\.isPublic) { return true }
    whole += inner.filter { $0.isPublic && !Self.isLink($0.path) }.map(\.path)
    folders.append(path)
    return false
  }
}

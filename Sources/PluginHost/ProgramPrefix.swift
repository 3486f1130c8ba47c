import FoundationEssentials
import Glibc

/// What a program that is installed outside the system needs of the folders around it, and no more of
/// them: an interpreter its libraries, and nobody what lies beside those.
struct ProgramPrefix {
  /// Files and folders, whether they exist or not; none of which is somebody's home.
  let places: [String]
  /// The same, around programs that only the plugin's own files name: its links, and first lines of its
  /// scripts. They are no word of root's, whose programs read of these what everybody may.
  let publicPlaces: [String]

  /// What programs and interpreters keep beside their `bin`: libraries, what a virtual environment of
  /// Python says of itself, the versions among which pyenv chooses, what Java and Homebrew add.
  private static let prefixParts = [
    "bin", "lib", "lib32", "lib64", "libexec", "share", "include", "pyvenv.cfg", "version",
    "versions", "conf", "Cellar",
  ]
  /// The same where the folder around `bin` is a home, in which much else has such names.
  private static let homeParts = ["lib", "lib64", "pyvenv.cfg"]

  /// - Parameters:
  ///   - program: its absolute path; what it is a link to counts as well, and the interpreter that its
  ///     first line names.
  ///   - reads: what it may read anyway. A program in one of these folders, a plugin's own, has there
  ///     what it needs.
  ///   - homes: folders of people.
  init(
    of program: String, in reads: [String], homes: Set<String> = ProgramPrefix.homes
  ) {
    func isOwn(_ path: String) -> Bool {
      // A program that is read by itself is none of the plugin's own.
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
      // What PATH gives is its user's word, whoever asked for it.
      isPlugins = !interpreter.line.isSearched && (isPlugins || isOwn(interpreter.program))
      open(interpreter.program, isPlugins: isPlugins)
    }
    (self.places, self.publicPlaces) = (places, publicPlaces)
  }

  /// What a program needs that lies in a `bin`, or where `PATH` leads; of others, only they themselves.
  private static func places(around program: String, _ homes: Set<String>) -> [String] {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    func isPersonal(_ folder: String) -> Bool {
      let parts = folder.split(separator: "/")
      // What lies in a folder right below the root is everybody's, and most of it no program's.
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

  /// The homes of all users that this machine's own list names, and of this one.
  static var homes: Set<String> {
    let list = FileManager.default.contents(atPath: "/etc/passwd") ?? Data()
    let named = String(decoding: list, as: UTF8.self).split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      return fields.count > 5 ? String(fields[5]) : nil
    }
    let own = ProcessInfo.processInfo.environment["HOME"] ?? "/root"
    return Set(
      (named + [own, "/root"]).map { "/" + $0.split(separator: "/").joined(separator: "/") })
  }

  /// A path without links.
  static func real(_ path: String) -> String {
    URL(filePath: path).resolvingSymlinksInPath().path
  }

  private static func parent(of path: String) -> String {
    let parts = path.split(separator: "/").dropLast()
    return "/" + parts.joined(separator: "/")
  }
}

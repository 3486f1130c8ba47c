import FoundationEssentials
import Glibc

/// What a program that is installed outside the system needs of the folders around it, and no more of
/// them: an interpreter its libraries, and nobody what lies beside those.
struct ProgramPrefix {
  /// Files and folders, whether they exist or not; none of which is somebody's home.
  let places: [String]

  /// What programs and interpreters keep beside their `bin`: libraries, what a virtual environment of
  /// Python says of itself, the versions among which pyenv chooses, what Java and Homebrew add.
  private static let prefixParts = [
    "bin", "lib", "lib32", "lib64", "libexec", "share", "include", "pyvenv.cfg", "version",
    "versions", "conf", "Cellar",
  ]
  /// The same where the folder around `bin` is a home, in which much else has such names.
  private static let homeParts = ["lib", "lib64", "pyvenv.cfg"]

  /// - Parameters:
  ///   - program: its absolute path; what it is a link to counts as well.
  ///   - reads: what it may read anyway. A program in one of these folders, a plugin's own, has there
  ///     what it needs.
  ///   - homes: folders of people.
  init(
    of program: String, in reads: [String], homes: Set<String> = ProgramPrefix.homes
  ) {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let searched = path.split(separator: ":").map(String.init)
    func isOwn(_ path: String) -> Bool {
      // A program that is read by itself is none of the plugin's own.
      reads.contains { path.hasPrefix("\($0)/") }
    }
    func isPersonal(_ folder: String) -> Bool {
      let parts = folder.split(separator: "/")
      // What lies in a folder right below the root is everybody's, and most of it no program's.
      return parts.count < 2 || homes.contains(folder)
        || parts.last == ".local" && homes.contains(Self.parent(of: folder))
        || parts.count == 2 && ["home", "Users"].contains(parts[0]) || folder == "/var/tmp"
    }
    places = [program, Self.real(program)].filter { !isOwn($0) }.flatMap { path -> [String] in
      let folder = Self.parent(of: path)
      let prefix = Self.parent(of: folder)
      if folder.hasSuffix("/bin") || searched.contains(folder) {
        let parts = isPersonal(prefix) ? Self.homeParts : Self.prefixParts
        return (isPersonal(folder) ? [path] : [folder]) + parts.map { "\(prefix)/\($0)" }
      }
      // What is named by itself is meant by itself.
      let isAlone = isOwn(program) || reads.contains(program) || isPersonal(folder)
      return isAlone ? [path] : [folder]
    }
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

import CConfinement
import FoundationEssentials
import Glibc

/// The files and folders that a program may read and write.
struct ConfinedPlaces {
  /// What it may write, with all that is in there.
  let writable: [String]
  /// What it works with besides the system's folders.
  let own: [String]

  /// What makes programs run.
  private static let system = [
    "/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/etc", "/proc", "/sys/devices/system/cpu",
    "/dev/urandom", "/dev/random", "/dev/zero", "/dev/full",
  ]

  init(of program: ConfinedProgram) {
    writable = [program.folder] + program.writes
    let named =
      writable + program.reads
      + (program.program == "/proc/self/exe"
        ? Self.ownLibraries : Self.folders(of: program.program, in: program.reads))
    // A link may lead to where the plugin would see nothing of the machine's, such as /dev/shm.
    let real = Set(named.map(Self.real)).subtracting(named)
    own = named + real.sorted()
  }

  /// The rules of Landlock that say so; -1 where there can be none.
  func rules(_ version: Int32, hasNetwork: Bool) -> Int32 {
    let rules = confinement_begin_rules(version, hasNetwork)
    guard rules >= 0 else { return -1 }
    func allow(_ path: String, _ access: confinement_access) {
      _ = unsafe confinement_allow(rules, version, path, access)
    }
    for path in Self.system + own {
      // Root owns what nobody else may read.
      guard path == "/etc", geteuid() == 0 else {
        allow(path, confinement_read)
        continue
      }
      let files = PublicFiles(of: path)
      for path in files.whole { allow(path, confinement_read) }
      for path in files.folders { allow(path, confinement_list) }
    }
    // How names become addresses is often said in a file elsewhere, which this one leads to.
    if hasNetwork { allow("/etc/resolv.conf", confinement_read) }
    for path in ["/dev/null", "/dev/shm"] + writable { allow(path, confinement_write) }
    return rules
  }

  /// Where a program that is installed outside the system keeps its libraries: beside its `bin`, or
  /// whatever folder of `PATH` it lies in, or else in its own folder. Of `~/.local`, and of the user's
  /// home itself, no more than `bin` and `lib`.
  ///
  /// A program in one of `reads`, a plugin's own folder, has there what it needs: what lies around that
  /// folder is none of its business.
  static func folders(of program: String, in reads: [String]) -> [String] {
    let variables = ProcessInfo.processInfo.environment
    let home = variables["HOME"] ?? "/root"
    let searched = (variables["PATH"] ?? "").split(separator: ":").map(String.init)
    let personal = [home, "/", "\(home)/.local", "/root", "/home", "/tmp", "/var/tmp"]
    let real = real(program)
    func isOwn(_ path: String) -> Bool {
      // A program that is read by itself is none of the plugin's own.
      reads.contains { path.hasPrefix("\($0)/") }
    }
    return [program, real].filter { !isOwn($0) }.flatMap { path -> [String] in
      let folder = URL(filePath: path).deletingLastPathComponent()
      let prefix = folder.deletingLastPathComponent().path
      if folder.lastPathComponent == "bin" || searched.contains(folder.path) {
        return personal.contains(prefix) ? [folder.path, "\(prefix)/lib"] : [prefix]
      }
      return isOwn(program) || personal.contains(folder.path) ? [path] : [folder.path]
    }
  }

  private static func real(_ path: String) -> String {
    URL(filePath: path).resolvingSymlinksInPath().path
  }

  /// What Spool's own program is made of, where that is what hosts the plugin: it and its libraries
  /// may lie anywhere.
  private static var ownLibraries: [String] {
    guard let maps = FileManager.default.contents(atPath: "/proc/self/maps") else { return [] }
    let paths = String(decoding: maps, as: UTF8.self).split(separator: "\n")
      .compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
    return Array(Set(paths))
  }
}

import CConfinement
import FoundationEssentials
import Glibc

/// The files and folders that a program may read and write.
struct ConfinedPlaces {
  /// What it may write, with all that is in there.
  let writable: [String]
  /// What it works with besides the system's folders.
  let own: [String]

  /// Of these, root's programs read what everybody may: root owns what nobody else may read.
  private let open: [String]

  /// What makes programs run.
  private static let system = [
    "/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/proc", "/sys/devices/system/cpu",
    "/dev/urandom", "/dev/random", "/dev/zero", "/dev/full",
  ]

  init(of program: ConfinedProgram) {
    writable = [program.folder] + program.writes
    let isHost = program.program == "/proc/self/exe"
    let prefix = isHost ? nil : ProgramPrefix(of: program.program, in: program.reads)
    open =
      ["/etc"] + program.publicReads
      + (prefix?.publicPlaces ?? []).filter { place in
        // All of these are open, and they are many files to look at.
        !Self.system.contains { place == $0 || place.hasPrefix("\($0)/") }
      }
    let named = writable + program.reads + (prefix?.places ?? Self.ownLibraries)
    // A link may lead to where the plugin would see nothing of the machine's, such as /dev/shm.
    let real = Set(named.map(ProgramPrefix.real)).subtracting(named)
    own = named + real.sorted()
  }

  /// The rules of Landlock that say so; -1 where there can be none.
  func rules(_ version: Int32, hasNetwork: Bool) -> Int32 {
    let rules = confinement_begin_rules(version, hasNetwork)
    guard rules >= 0 else { return -1 }
    func allow(_ path: String, _ access: confinement_access) {
      _ = unsafe confinement_allow(rules, version, path, access)
    }
    for path in Self.system + own + (geteuid() == 0 ? [] : open) { allow(path, confinement_read) }
    for path in geteuid() == 0 ? open : [] {
      let files = PublicFiles(of: path)
      for path in files.whole { allow(path, confinement_read) }
      for path in files.folders { allow(path, confinement_list) }
    }
    // How names become addresses is often said in a file elsewhere, which this one leads to.
    if hasNetwork { allow("/etc/resolv.conf", confinement_read) }
    for path in ["/dev/null", "/dev/shm"] + writable { allow(path, confinement_write) }
    return rules
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

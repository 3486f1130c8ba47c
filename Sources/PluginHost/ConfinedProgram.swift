import CPosix
import FoundationEssentials
import Glibc

/// A program, and what it may use. Spool's own program reads this from its command line, gives up
/// everything else, and becomes the program.
public struct ConfinedProgram: Codable, Sendable {
  /// The word that stands before it on the command line.
  public static let word = "become-plugin"

  /// The program, an absolute path.
  let program: String
  /// Its arguments.
  let arguments: [String]
  /// The folder that it starts in and may write to.
  let folder: String
  /// Files and folders that it may read.
  let reads: [String]
  /// Files and folders that it may write.
  let writes: [String]
  /// What it may use.
  let limits: PluginManifest.Limits

  /// As one word of a command line.
  var text: String {
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Becomes the program that `text` describes. Returns only where that fails, with the exit code.
  /// What cannot be taken away on this machine is told on standard error, in a form that the
  /// session understands.
  public static func become(_ text: String) -> Int32 {
    guard let order = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
      return 125
    }
    return order.become()
  }

  private func become() -> Int32 {
    // Dies with Spool, whatever ends that.
    _ = posix_die_with_parent()
    posix_limit(
      UInt(limits.memory) << 20, UInt(limits.fileSize) << 20, UInt(Self.processCount() + 128), 256)
    guard unsafe chdir(folder) == 0 else { return fail("cannot enter \(folder)") }
    var missing: [String] = []
    // The limit of processes does not bind root.
    let isCaged = ProcessCage(of: getpid())?.enter() == true
    if !isCaged, geteuid() == 0 { missing.append("starting processes without end") }
    if posix_forbid_new_privileges() != 0 { missing.append("setuid programs") }
    if !confineFiles() { missing.append("files") }
    if !limits.network, posix_forbid_network() != 0 { missing.append("the network") }
    for name in missing { complain("\(Self.notConfined)\(name)") }
    _ = posix_close_from(3)
    let words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
    let variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    unsafe execve(program, words, variables)
    return fail("cannot start \(program)")
  }

  /// What the launcher says on standard error where the machine cannot take something away.
  static let notConfined = "spool: not confined: "

  /// Only what programs need to run at all: no secret of the user's environment goes along.
  private var environment: [String] {
    let names = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LV2_PATH", "LADSPA_PATH"]
    let inherited = names.compactMap { name in
      ProcessInfo.processInfo.environment[name].map { "\(name)=\($0)" }
    }
    return inherited + [
      "HOME=\(folder)", "TMPDIR=\(folder)", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1",
      // A crash is told in a line: what Swift would write of it hides what the plugin wrote.
      "SWIFT_BACKTRACE=enable=no",
    ]
  }

  /// With Landlock: what makes programs run can be read, and the folder and the outputs written.
  private func confineFiles() -> Bool {
    let rules = posix_landlock_begin()
    guard rules >= 0 else { return false }
    defer { close(rules) }
    let system = [
      "/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/etc", "/proc", "/sys/devices/system/cpu",
      "/dev/urandom", "/dev/random", "/dev/zero",
    ]
    for path in system + reads + interpreterFolders + ownLibraries {
      _ = unsafe posix_landlock_allow(rules, path, 0)
    }
    for path in ["/dev/null", "/dev/shm", folder] + writes {
      _ = unsafe posix_landlock_allow(rules, path, 1)
    }
    return posix_landlock_enforce(rules) == 0
  }

  /// Where an interpreter that is installed outside the system keeps its libraries: beside the folder
  /// that it lies in. Of `~/.local`, and of the user's home itself, no more than `bin` and `lib`.
  private var interpreterFolders: [String] {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? "/root"
    let real = URL(filePath: program).resolvingSymlinksInPath().path
    return [program, real].flatMap { path -> [String] in
      let folder = URL(filePath: path).deletingLastPathComponent()
      let prefix = folder.deletingLastPathComponent()
      let isPersonal = [home, "/", "\(home)/.local"].contains(prefix.path)
      return isPersonal ? [folder.path, "\(prefix.path)/lib"] : [prefix.path]
    }
  }

  /// What Spool's own program is made of, where that is what hosts the plugin: its libraries may lie
  /// anywhere.
  private var ownLibraries: [String] {
    guard program == "/proc/self/exe",
      let maps = FileManager.default.contents(atPath: "/proc/self/maps")
    else { return [] }
    let paths = String(decoding: maps, as: UTF8.self).split(separator: "\n")
      .compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
    return Array(Set(paths))
  }

  /// How many processes the user has, for the limit counts them all.
  private static func processCount() -> Int {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return entries.count { $0.first?.isNumber == true }
  }

  private func fail(_ what: String) -> Int32 {
    complain("\(what): \(unsafe String(cString: strerror(errno)))")
    return 126
  }

  private func complain(_ text: String) {
    var line = Array("\(text)\n".utf8)
    _ = unsafe write(STDERR_FILENO, &line, line.count)
  }
}

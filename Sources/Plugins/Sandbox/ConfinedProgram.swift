import CConfinement
import FoundationEssentials
import Glibc

/// A program, and what it may use of the machine.
///
/// There are two layers. Where the kernel permits namespaces, bubblewrap (`bwrap`) shows the program
/// only its own processes, a read-only file system and no network. Inside, or alone, Spool's
/// launcher applies Landlock, a seccomp filter and resource limits and starts the program. The
/// launcher is C (CConfinement): the program `spool-confine` where it is installed, else the start
/// of Spool's own executable, before anything else runs there.
package struct ConfinedProgram {
  /// The command word of Spool's executable that makes it the launcher.
  package static let word = "confine"

  /// An absolute path.
  let program: String
  let arguments: [String]
  /// The working folder, which is writable.
  let folder: String
  /// Files and folders that it may read.
  var reads: [String] = []
  /// Paths from the manifest, of which a program run by root may read only world-readable files.
  var publicReads: [String] = []
  /// Files and folders that it may write.
  var writes: [String] = []
  let limits: PluginManifest.Limits
  /// The path of `bwrap`; nil if it is not installed.
  var bubblewrap = Plugin.find("bwrap")

  /// Becomes the launcher if the command line says so.
  package static func launchIfAsked() {
    let arguments = unsafe UnsafeBufferPointer(
      start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    guard arguments.count > 2, CommandLine.arguments[1] == word else { return }
    exit(
      unsafe confinement_launch(CommandLine.argc - 2, arguments.baseAddress.map { unsafe $0 + 2 }))
  }

  /// The launcher's own environment, which holds no secret of the user.
  static var launcherEnvironment: [String] {
    inherited(programVariables + ["HOME", "LD_LIBRARY_PATH"])
  }

  /// Variables that programs need to run.
  private static let programVariables = [
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LV2_PATH", "LADSPA_PATH",
  ]

  private static func inherited(_ names: [String]) -> [String] {
    let variables = ProcessInfo.processInfo.environment
    return names.compactMap { name in variables[name].map { "\(name)=\($0)" } }
  }

  private var environment: [String] {
    Self.inherited(Self.programVariables) + [
      "HOME=\(folder)", "TMPDIR=\(folder)", "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1",
      // Swift's backtrace of a crash would displace the plugin's own output.
      "SWIFT_BACKTRACE=enable=no",
    ]
  }

  /// What the launcher reads; `confinement_launch` describes the form.
  /// - Parameter spool: the path of Spool's executable for the launcher.
  func order(spool: String) -> [UInt8] {
    // The kernel's limit counts all processes of the user.
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let processes = entries.count { $0.first?.isNumber == true } + 128
    let head = [
      limits.network ? "1" : "0", "\(limits.memory << 20)", "\(limits.fileSize << 20)",
      "\(processes)", folder,
    ]
    let texts = [rules, [isHost ? spool : program] + arguments, environment]
      .reduce(head) { $0 + ["\($1.count)"] + $1 }
    return texts.flatMap { Array($0.utf8) + [0] }
  }

  // MARK: Files

  /// System folders that programs need.
  private static let system = [
    "/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/proc", "/sys/devices/system/cpu",
    "/dev/urandom", "/dev/random", "/dev/zero", "/dev/full",
  ]

  private var writable: [String] { [folder] + writes }

  /// Whether Spool itself hosts the plugin.
  private var isHost: Bool { program == "/proc/self/exe" }

  /// What it may read besides the system's folders, and of what it may read, if root runs it, only
  /// world-readable files.
  private var readable: (own: [String], open: [String]) {
    let prefix = isHost ? nil : ProgramPrefix(of: program, in: reads)
    let open =
      ["/etc"] + publicReads
      + (prefix?.publicPlaces ?? []).filter { place in
        // System folders are world-readable, and have too many files to check.
        !Self.system.contains { place == $0 || place.hasPrefix("\($0)/") }
      }
    let named = reads + (prefix?.places ?? Self.ownLibraries)
    // A link may lead to a path that the sandbox hides, such as /dev/shm.
    return (named + Set((writable + named).map(ProgramPrefix.real)).sorted(), open)
  }

  /// The Landlock rules.
  private var rules: [String] {
    let (own, open) = readable
    var read = Self.system + own
    var listed: [String] = []
    if geteuid() == 0 {
      let files = open.map { PublicFiles(of: $0) }
      read += files.flatMap(\.whole)
      listed = files.flatMap(\.folders)
    } else {
      read += open
    }
    // This link often leads to the resolver configuration outside the allowed folders.
    if limits.network { read.append("/etc/resolv.conf") }
    return read.map { "r\($0)" } + listed.map { "l\($0)" }
      + (["/dev/null", "/dev/shm"] + writable).map { "w\($0)" }
  }

  /// Spool's executable and its libraries, if Spool itself hosts the plugin.
  private static var ownLibraries: [String] {
    guard let maps = FileManager.default.contents(atPath: "/proc/self/maps") else { return [] }
    let paths = String(decoding: maps, as: UTF8.self).split(separator: "\n")
      .compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
    return Array(Set(paths))
  }

  // MARK: Namespaces

  /// Commands of bubblewrap that start a command in namespaces, the strictest first; empty if it is
  /// not installed. Root needs no user namespace, unless it lacks the capabilities; and in a
  /// container the kernel may refuse a new `/proc`, or an address in a new network. Without a network
  /// of its own, a program that has none is kept from sockets by the filter of system calls.
  var enclosures: [(command: [String], hasOwnNetwork: Bool)] {
    guard let bubblewrap else { return [] }
    func options(_ words: [String]) -> [String] { ["--" + words[0]] + words.dropFirst() }
    let spaces = [["unshare-pid"], ["unshare-ipc"], ["ro-bind", "/", "/"], ["dev", "/dev"]]
    let memory = [
      ["size", "\(limits.memory << 20)"], ["perms", "1777"], ["tmpfs", "/dev/shm"],
    ]
    let folders = writable.map(ProgramPrefix.real)
    // Parents before children, which they would hide.
    let hidden = readable.own.map(ProgramPrefix.real).filter { $0.hasPrefix("/dev/shm/") }
      .sorted { $0.utf8.count < $1.utf8.count }
    let binds =
      hidden.map { ["ro-bind-try", $0, $0] } + folders.map { ["bind-try", $0, $0] }
    // The mounts below `/dev` must be there before, and stay writable.
    // The launcher reaps processes itself. Root must read recordings that their owner protects.
    let rest =
      [["remount-ro", "/dev"], ["as-pid-1"]]
      + (geteuid() == 0 ? [["cap-add", "CAP_DAC_OVERRIDE"]] : [])
    let users = geteuid() == 0 ? [[], [["unshare-user"]]] : [[["unshare-user"]]]
    let processes = [[["proc", "/proc"], ["remount-ro", "/proc"]], []]
    let networks = limits.network ? [[]] : [[["unshare-net"]], []]
    return networks.flatMap { network in
      processes.flatMap { processes in
        users.map { users in
          let all = spaces + network + users + processes + memory + binds + rest
          return ([bubblewrap] + all.flatMap(options), !network.isEmpty)
        }
      }
    }
  }
}

/// The launcher's reports on the confined program, sent over the lifeline. The program cannot write
/// there.
struct LauncherReport {
  /// What is in force; nil until the program is confined.
  private(set) var confinement: Confinement?
  /// Why the program could not be started; nil if it was.
  private(set) var trouble: String?
  /// The program's status, as waitpid gives it; nil until it has ended.
  private(set) var status: Int32?
  /// The number of processes that could not be ended.
  private(set) var left = 0

  private var rest: [UInt8] = []

  /// Parses the next bytes.
  mutating func take(_ bytes: some Sequence<UInt8>) {
    rest += bytes
    while let end = rest.firstIndex(of: 10) {
      let line = String(decoding: rest[..<end], as: UTF8.self)
      rest.removeSubrange(...end)
      guard let space = line.firstIndex(of: " ") else { continue }
      let text = String(line[line.index(after: space)...])
      switch line[..<space] {
      case "confined": confinement = Confinement(text)
      case "failed": trouble = text
      case "ended": status = Int32(text)
      case "left": left = Int(text) ?? 0
      default: break
      }
    }
  }

  /// Describes the processes still running; nil if there are none.
  var remnant: String? {
    guard left > 0 else { return nil }
    return left == 1
      ? "1 process that it started could not be ended, and may run on"
      : "\(left) processes that it started could not be ended, and may run on"
  }

  /// How the user finds them.
  static let adviceForRemnant =
    "ps -u \"$USER\" -o pid,ppid,etime,args shows them; end them with kill"
}

/// What is in force around a program, as its launcher reports it.
struct Confinement {
  /// Those of bubblewrap.
  private let hasNamespaces: Bool
  /// The version of Landlock; 0 if none.
  private let landlock: Int
  private let filtersCalls: Bool
  private let dropsPrivileges: Bool
  private let hidesProcesses: Bool
  private let countsProcesses: Bool

  init?(_ text: String) {
    let numbers = text.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 6 else { return nil }
    hasNamespaces = numbers[0] == 1
    landlock = numbers[1]
    filtersCalls = numbers[2] == 1
    dropsPrivileges = numbers[3] == 1
    hidesProcesses = numbers[4] == 1
    countsProcesses = numbers[5] == 1
  }

  /// `namespaces: bubblewrap, landlock: 7, seccomp: on`.
  var state: String {
    "namespaces: \(hasNamespaces ? "bubblewrap" : "none"), "
      + "landlock: \(landlock == 0 ? "none" : "\(landlock)"), "
      + "seccomp: \(filtersCalls ? "on" : "none")"
  }

  /// Names what the program is not kept from; nil if it is confined as it should be.
  /// - Parameters:
  ///   - hasNetwork: whether it may use the network.
  ///   - hasOwnNetwork: whether it is in a network namespace of its own, which holds nothing.
  func warning(of name: String, hasNetwork: Bool, hasOwnNetwork: Bool) -> String? {
    let missing = missing(isNetworkOpen: !hasNetwork && !hasOwnNetwork && !filtersCalls)
    guard !missing.isEmpty else { return nil }
    return "\(name) is not confined as far as it should be: this machine cannot keep it from "
      + missing.joined(separator: ", ") + " (\(state))"
  }

  private func missing(isNetworkOpen: Bool) -> [String] {
    var missing = isNetworkOpen ? ["the network"] : []
    // The process limit does not apply to root.
    if !countsProcesses, geteuid() == 0 { missing.append("starting processes without end") }
    if !dropsPrivileges { missing.append("setuid programs") }
    if landlock == 0 {
      missing.append(hasNamespaces ? "reading other files" : "other files")
    } else if !hasNamespaces {
      missing.append("changing permissions and times of other files")
    }
    if !filtersCalls {
      missing.append("system calls that reach around its confinement")
      if !hasNamespaces {
        missing.append("slowing down what else runs, leaving shared memory")
      }
    }
    // A program that can kill its launcher can leave processes behind.
    if !hasNamespaces, landlock < 6 {
      missing.append("ending other processes of the user, and leaving some behind")
    }
    if !hidesProcesses { missing.append("seeing what else runs") }
    if !hasNamespaces { missing.append("leaving files in /dev/shm") }
    return missing
  }
}

import CConfinement
import CPosix
import FoundationEssentials
import Glibc

/// A program and its limits. Spool's launcher decodes this from its command line, confines itself,
/// and starts the program.
///
/// There are two layers. Where the kernel permits namespaces, the program sees only its own
/// processes, a read-only file system and no network. Landlock, a seccomp filter and resource
/// limits apply with or without namespaces.
///
/// The launcher waits for the program's end and for Spool's. With namespaces, a second process is
/// the first of the PID namespace; when it exits, the kernel kills all others. Both are
/// single-threaded, so that code after a fork is safe.
package struct ConfinedProgram: Codable, Sendable {
  /// The command word that precedes it.
  package static let word = "become-plugin"
  /// The launcher's end of the socket pair to Spool, which Spool keeps open while the program may
  /// run. It signals Spool's end to the launcher and carries the launcher's reports. The program
  /// does not inherit it.
  static let lifeline: Int32 = 3

  /// An absolute path.
  let program: String
  let arguments: [String]
  /// The working folder, which is writable.
  let folder: String
  /// Files and folders that it may read.
  let reads: [String]
  /// Paths from the manifest, of which a program run by root may read only world-readable files.
  let publicReads: [String]
  /// Files and folders that it may write.
  let writes: [String]
  let limits: PluginManifest.Limits

  /// As one command-line argument.
  var text: String {
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Starts the program that `text` describes and exits as it exits. Returns only on failure, with
  /// the exit code. Limits that this machine cannot enforce are reported on the lifeline.
  package static func become(_ text: String) -> Int32 {
    guard let order = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
      report(.failed("its launcher was told nothing that it can read"))
      return 125
    }
    return order.become()
  }

  private func become() -> Int32 {
    confinement_await_children()
    // Counted before the process namespace hides them; the group is joined while it is still
    // writable.
    let processes = UInt(Self.processCount() + 128)
    let isCaged = ProcessCage(of: getpid())?.enter() == true
    var ending: [Int32] = [-1, -1]
    guard unsafe posix_make_pipe(&ending) == 0 else { return fail("cannot make a pipe") }
    let isEnclosed = confinement_unshare(limits.network)
    let child = confinement_fork()
    guard child >= 0 else { return fail("cannot start a process") }
    guard child == 0 else {
      close(ending[1])
      confinement_leave_pipes()
      confinement_hide_memory()
      var left: Int32 = 0
      let status = unsafe confinement_supervise(child, Self.lifeline, &left)
      if left > 0 { Self.report(.left(Int(left))) }
      confinement_end_as(isEnclosed ? confinement_reported(ending[0], status) : status)
    }
    _ = confinement_die_with_parent()
    // Detaches from the user's terminal.
    setsid()
    let confinement = Confinement(of: self, isEnclosed: isEnclosed, isCounted: isCaged)
    guard unsafe chdir(folder) == 0 else { return fail("cannot enter \(folder)") }
    for name in confinement.missing { Self.report(.missing(name)) }
    _ = confinement_close_from(3)
    if isEnclosed {
      confinement_hide_memory()
      let plugin = confinement_fork()
      guard plugin >= 0 else { return fail("cannot start a process") }
      if plugin > 0 {
        confinement_leave_pipes()
        close(Self.lifeline)
        confinement_rule(plugin, ending[1])
      }
    }
    confinement_limit(
      UInt(limits.memory) << 20, UInt(limits.fileSize) << 20, processes, 256)
    confinement_take_signals()
    let words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
    let variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    unsafe execve(program, words, variables)
    return fail("cannot start \(program)")
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

  /// The number of the user's processes, since the limit counts all of them.
  private static func processCount() -> Int {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return entries.count { $0.first?.isNumber == true }
  }

  private func fail(_ what: String) -> Int32 {
    Self.report(.failed("\(what): \(unsafe String(cString: strerror(errno)))"))
    return 126
  }

  /// Reports to Spool, which may have ended.
  private static func report(_ notice: LauncherReport.Notice) {
    let line = notice.line
    _ = unsafe send(lifeline, line, line.count, Int32(MSG_NOSIGNAL))
  }
}

/// Confines this process and its descendants, and records what could not be enforced.
struct Confinement {
  /// What the program is not kept from; each completes the sentence "cannot keep it from".
  private(set) var missing: [String] = []

  /// - Parameters:
  ///   - isEnclosed: whether this is the first process of its own namespaces.
  ///   - isCounted: whether a control group counts its processes.
  init(of program: ConfinedProgram, isEnclosed: Bool, isCounted: Bool) {
    // The process limit does not apply to root.
    if !isCounted, geteuid() == 0 { missing.append("starting processes without end") }
    let places = ConfinedPlaces(of: program)
    let version = confinement_landlock_version()
    let isClosed = isEnclosed && Self.close(places)
    let hasOwnMemory = isEnclosed && Self.ownMemory(places, megabytes: program.limits.memory)
    let hasOwnProcesses = isEnclosed && confinement_own_processes()
    // Landlock rules need the folders open, which the steps below close.
    let rules = version > 0 ? places.rules(version, hasNetwork: program.limits.network) : -1
    if confinement_drop_privileges() != 0 { missing.append("setuid programs") }
    let hasRules = rules >= 0 && confinement_enforce_rules(rules) == 0
    let hasFilter =
      confinement_filter_calls(
        program.limits.network, !isClosed && version < 3, !isEnclosed) == 0

    if !hasRules { missing.append(isClosed ? "reading other files" : "other files") }
    if hasRules, !isClosed { missing.append("changing permissions and times of other files") }
    if !hasFilter {
      missing.append("system calls that reach around its confinement")
      if !isEnclosed {
        if !program.limits.network { missing.append("the network") }
        missing.append("slowing down what else runs, leaving shared memory")
      }
    }
    // A program that can kill its launcher can leave processes behind.
    if !isEnclosed, !hasRules || version < 6 {
      missing.append("ending other processes of the user, and leaving some behind")
    }
    if !hasOwnProcesses { missing.append("seeing what else runs") }
    if !hasOwnMemory { missing.append("leaving files in /dev/shm") }
  }

  private static func close(_ places: ConfinedPlaces) -> Bool {
    unsafe withTexts(places.writable) { writable in unsafe confinement_close_mounts(writable) }
  }

  private static func ownMemory(_ places: ConfinedPlaces, megabytes: Int) -> Bool {
    // Parents before children, which they would hide.
    let kept = places.own.sorted { $0.utf8.count < $1.utf8.count }
    return unsafe withTexts(kept) { kept in
      unsafe confinement_own_shared_memory(UInt(megabytes), kept)
    }
  }

  /// Passes texts to C as null-terminated strings.
  private static func withTexts(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Bool
  ) -> Bool {
    let copies = unsafe texts.map { unsafe strdup($0) }
    defer { unsafe copies.forEach { unsafe free($0) } }
    let pointers = unsafe copies.map { unsafe UnsafePointer($0) } + [nil]
    return unsafe pointers.withUnsafeBufferPointer { buffer in
      unsafe buffer.baseAddress.map { unsafe body($0) } ?? false
    }
  }
}

/// The files and folders that a program may read and write.
struct ConfinedPlaces {
  /// Writable paths, with everything in them.
  let writable: [String]
  /// Paths other than the system's folders.
  let own: [String]

  /// Those of `own` of which a program run by root may read only world-readable files.
  private let open: [String]

  /// System folders that programs need.
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
        // System folders are world-readable, and have too many files to check.
        !Self.system.contains { place == $0 || place.hasPrefix("\($0)/") }
      }
    let named = writable + program.reads + (prefix?.places ?? Self.ownLibraries)
    // A link may lead to a path that the sandbox hides, such as /dev/shm.
    let real = Set(named.map(ProgramPrefix.real)).subtracting(named)
    own = named + real.sorted()
  }

  /// The Landlock ruleset; -1 if it cannot be made.
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
    // This link often leads to the resolver configuration outside the allowed folders.
    if hasNetwork { allow("/etc/resolv.conf", confinement_read) }
    for path in ["/dev/null", "/dev/shm"] + writable { allow(path, confinement_write) }
    return rules
  }

  /// Spool's executable and its libraries, if Spool itself hosts the plugin.
  private static var ownLibraries: [String] {
    guard let maps = FileManager.default.contents(atPath: "/proc/self/maps") else { return [] }
    let paths = String(decoding: maps, as: UTF8.self).split(separator: "\n")
      .compactMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
    return Array(Set(paths))
  }
}

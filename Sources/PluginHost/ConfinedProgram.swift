import CConfinement
import CPosix
import FoundationEssentials
import Glibc

/// A program, and what it may use. Spool's own program reads this from its command line, gives up
/// everything else, and starts the program.
///
/// There are two walls. Namespaces of the kernel show the program a machine of its own, where the
/// kernel gives them: no processes but those that it starts, files that can only be read, no network. And
/// rules (Landlock), a filter of system calls (seccomp) and limits refuse what it must not do, with
/// namespaces or without.
///
/// Two processes go with it: the launcher, which waits for its end and for Spool's, and the first one of
/// its namespace, with which all that it started ends. Both have one thread, so that what they do after
/// a fork is as safe as before it.
public struct ConfinedProgram: Codable, Sendable {
  /// The word that stands before it on the command line.
  public static let word = "become-plugin"
  /// The descriptor of the launcher that ties it to Spool: one of a pair of sockets, the other one of which Spool
  /// holds while the program may run. It tells the launcher of Spool's end, and Spool what the launcher
  /// reports. The program does not have it.
  static let lifeline: Int32 = 3

  /// The program, an absolute path.
  let program: String
  /// Its arguments.
  let arguments: [String]
  /// The folder that it starts in and may write to.
  let folder: String
  /// Files and folders that it may read.
  let reads: [String]
  /// Files and folders that its manifest names, of which root's may read what everybody may.
  let publicReads: [String]
  /// Files and folders that it may write.
  let writes: [String]
  /// What it may use.
  let limits: PluginManifest.Limits

  /// As one word of a command line.
  var text: String {
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Starts the program that `text` describes, and ends as it ends. Returns only where that fails, with
  /// the exit code. What cannot be taken away on this machine is reported on the lifeline.
  public static func become(_ text: String) -> Int32 {
    guard let order = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
      report(.failed("its launcher was told nothing that it can read"))
      return 125
    }
    return order.become()
  }

  private func become() -> Int32 {
    confinement_await_children()
    // Counted while all processes can be seen, and the group is joined while it can be written to.
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
    // Out of reach of the user's terminal.
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

  /// What the launcher itself gets of the user's variables: no secret is in its memory, either.
  static var launcherEnvironment: [String] {
    inherited(programVariables + ["HOME", "LD_LIBRARY_PATH"])
  }

  /// What programs need to run at all.
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
      // A crash is told in a line: what Swift would write of it hides what the plugin wrote.
      "SWIFT_BACKTRACE=enable=no",
    ]
  }

  /// How many processes the user has, for the limit counts them all.
  private static func processCount() -> Int {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return entries.count { $0.first?.isNumber == true }
  }

  private func fail(_ what: String) -> Int32 {
    Self.report(.failed("\(what): \(unsafe String(cString: strerror(errno)))"))
    return 126
  }

  /// Tells Spool, which may be gone.
  private static func report(_ notice: LauncherReport.Notice) {
    let line = notice.line
    _ = unsafe send(lifeline, line, line.count, Int32(MSG_NOSIGNAL))
  }
}

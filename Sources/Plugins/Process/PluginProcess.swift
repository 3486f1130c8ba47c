import CPosix
import FoundationEssentials
import Glibc
import PipelineModel
import Platform

/// A running plugin process with its three pipes and its folder.
///
/// The launcher (Spool's own program) confines and starts the plugin and exits when it exits. A
/// socket pair, the lifeline, connects the launcher to Spool: when Spool closes it or dies, the
/// launcher kills every process of the plugin and then itself. The launcher sends its reports over
/// the lifeline, too.
final class PluginProcess {
  /// The plugin's standard input.
  private(set) var input: Int32
  /// The plugin's standard output.
  let output: Int32
  /// The plugin's standard error.
  let complaints: Int32
  /// The launcher's process, which is also the process group.
  private let process: pid_t
  /// Spool's end of the socket pair.
  private let lifeline: Int32
  /// The launcher's reports so far.
  private var told = LauncherReport()
  private var status: Int32?

  /// Starts a program behind its confinement.
  init(_ order: ConfinedProgram, launcher: String) throws(SpoolError) {
    // A broken pipe shows as a failed write, and must not end Spool.
    signal(SIGPIPE, SIG_IGN)
    func pipes() throws(SpoolError) -> (read: Int32, write: Int32) {
      var ends: [Int32] = [0, 0]
      guard unsafe posix_make_pipe(&ends) == 0 else { throw Self.trouble("make a pipe", errno) }
      return (ends[0], ends[1])
    }
    let (theirInput, ourInput) = try pipes()
    let (ourOutput, theirOutput) = try pipes()
    let (ourComplaints, theirComplaints) = try pipes()
    var ties: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ties) == 0 else {
      throw Self.trouble("make a pair of sockets", errno)
    }
    let (theirLifeline, ourLifeline) = (ties[0], ties[1])
    defer {
      for end in [theirInput, theirOutput, theirComplaints, theirLifeline] { close(end) }
    }
    lifeline = ourLifeline
    input = ourInput
    output = ourOutput
    complaints = ourComplaints
    do throws(SpoolError) {
      process = try Self.spawn(
        [launcher, ConfinedProgram.word, order.text],
        [
          (theirInput, STDIN_FILENO), (theirOutput, STDOUT_FILENO),
          (theirComplaints, STDERR_FILENO), (theirLifeline, ConfinedProgram.lifeline),
        ])
    } catch {
      for end in [ourInput, ourOutput, ourComplaints, ourLifeline] { close(end) }
      throw error
    }
    for end in [ourInput, ourOutput, ourComplaints] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    // The largest size that users may set, so that a whole block fits.
    for end in [ourInput, ourOutput] { _ = fcntl(end, 1031, 1 << 20) }  // F_SETPIPE_SZ
  }

  private static func trouble(_ action: String, _ code: Int32) -> SpoolError {
    SpoolError(
      "cannot \(action) for a plugin", reason: unsafe String(cString: strerror(code)),
      cause: .environment)
  }

  private static func spawn(
    _ words: [String], _ ends: [(own: Int32, its: Int32)]
  ) throws(SpoolError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for end in ends { unsafe posix_spawn_file_actions_adddup2(&actions, end.own, end.its) }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var noSignals = sigset_t()
    unsafe sigemptyset(&noSignals)
    unsafe posix_spawnattr_setsigmask(&attributes, &noSignals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK))
    let texts = unsafe words.map { unsafe strdup($0) } + [nil]
    let variables =
      unsafe ConfinedProgram.launcherEnvironment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (texts + variables).forEach { unsafe free($0) } }
    var process: pid_t = 0
    let status = unsafe posix_spawn(&process, words[0], &actions, &attributes, texts, variables)
    guard status == 0 else { throw trouble("start \(words[0])", status) }
    return process
  }

  /// Closes the plugin's standard input.
  func closeInput() {
    guard input >= 0 else { return }
    close(input)
    input = -1
  }

  /// Whether the program and every process that it started have ended.
  var hasEnded: Bool { status != nil || reap(WNOHANG) }

  /// The launcher's reports so far.
  var report: LauncherReport {
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe recv(lifeline, &piece, piece.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return told }
      told.take(piece.prefix(count))
    }
  }

  /// Ends the program and everything that it started.
  /// - Returns: how it ended, or why it was not started; nil if it exited with 0.
  @discardableResult func end(within grace: Duration = .zero) -> String? {
    closeInput()
    let deadline = ContinuousClock.now + grace
    // After it is reaped, its number may be reused.
    while !hasEnded {
      guard ContinuousClock.now >= deadline else {
        usleep(2000)
        continue
      }
      cutLifeline()
      let last = ContinuousClock.now + Self.patience
      while !reap(WNOHANG) {
        // Without isolation, a plugin can stop its launcher.
        if ContinuousClock.now >= last { kill(-process, SIGKILL) }
        usleep(500)
      }
    }
    return report.trouble ?? status.flatMap(Self.text)
  }

  /// How long a launcher may take: twice the time that it needs to kill thousands of processes.
  private static let patience = Duration.seconds(20)

  private func cutLifeline() { shutdown(lifeline, Int32(SHUT_WR)) }

  private func reap(_ options: Int32) -> Bool {
    var found: Int32 = 0
    let answer = unsafe waitpid(process, &found, options)
    guard answer == process || answer < 0 && errno != EINTR else { return false }
    status = found
    // The cage still holds the processes of a launcher that was killed.
    ProcessCage(of: process)?.end()
    return true
  }

  /// How a program ended; nil if it exited with 0.
  private static func text(of status: Int32) -> String? {
    let signal = status & 0x7f
    if signal != 0 { return name(ofSignal: signal) }
    let code = status >> 8 & 0xff
    return code == 0 ? nil : "it ended with exit code \(code)"
  }

  /// Explains the signal that ended the program.
  private static func name(ofSignal signal: Int32) -> String {
    let crashes = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP]
    let text = unsafe strsignal(signal).map { unsafe String(cString: $0) } ?? "signal \(signal)"
    return crashes.contains(signal) ? "it crashed (\(text))" : "it was ended (\(text))"
  }

  deinit {
    end()
    for end in [output, complaints, lifeline] { close(end) }
  }
}

/// The end of a program's standard error.
struct StderrTail {
  private var bytes: [UInt8] = []
  private static let kept = 8192

  /// Reads what is available.
  /// - Returns: whether more may come.
  @discardableResult mutating func drain(_ descriptor: Int32) -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    // A program that writes faster than this reads must not block the reader.
    for _ in 0..<64 {
      let count = unsafe read(descriptor, &piece, piece.count)
      guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
      bytes += piece.prefix(count)
      if bytes.count > 4 * Self.kept { bytes.removeFirst(bytes.count - Self.kept) }
    }
    return true
  }

  /// The lines after the last splitter.
  var lines: [String] {
    let all = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    let begin = all.lastIndex(of: StderrSplitter.line).map { $0 + 1 } ?? 0
    return Array(all[begin...])
  }

  /// The last lines joined, for an error's reason; empty if there are none.
  var reason: String {
    // Repeated lines appear once.
    let told = lines.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
    let tail = told.suffix(6).map { String($0.prefix(400)) }.joined(separator: " | ")
    return tail.isEmpty ? "" : "; the end of what it wrote: \(tail)"
  }
}

/// Divides the standard error of a host process by the library that it concerns.
package enum StderrSplitter {
  /// The line that a host writes before it opens the next library.
  package static let line = "spool: of another one from here on"
}

/// The launcher's reports on the confined program, sent over the lifeline. The program cannot write
/// there.
struct LauncherReport {
  /// One report.
  enum Notice: Codable, Equatable {
    /// A limit that the machine cannot enforce; completes the sentence "cannot keep it from".
    case missing(String)
    /// Why the program could not be started.
    case failed(String)
    /// The number of processes that could not be ended.
    case left(Int)

    /// As a line of JSON.
    var line: [UInt8] {
      ((try? JSONEncoder().encode(self)).map { Array($0) } ?? []) + [10]
    }
  }

  /// Limits that the machine could not enforce.
  private(set) var missing: [String] = []
  /// Why the program could not be started; nil if it was.
  private(set) var trouble: String?
  /// The number of processes still running.
  private(set) var left = 0

  private var rest: [UInt8] = []

  /// Parses the next bytes.
  mutating func take(_ bytes: some Sequence<UInt8>) {
    rest += bytes
    while let end = rest.firstIndex(of: 10) {
      let notice = try? JSONDecoder().decode(Notice.self, from: Data(rest[..<end]))
      rest.removeSubrange(...end)
      switch notice {
      case .missing(let name): missing.append(name)
      case .failed(let reason): trouble = reason
      case .left(let count): left = count
      case nil: break
      }
    }
  }

  /// Warnings about the program, under this name.
  func warnings(of name: String) -> [String] {
    guard !missing.isEmpty else { return [] }
    return [
      "\(name) is not confined as far as it should be: this machine's kernel cannot keep it from "
        + missing.joined(separator: ", ")
    ]
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

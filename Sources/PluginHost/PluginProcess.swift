import CPosix
import Glibc
import PipelineModel

/// A plugin's program while it runs, its three pipes, and its folder.
///
/// It is started by Spool's own program, the launcher, which takes away what the plugin must not have,
/// starts it, and ends as it ends. A pair of sockets ties the two: when Spool says no more on it, or dies
/// in whatever way, the launcher ends all that the plugin started, and then itself. What the launcher
/// has to tell comes by it, too.
final class PluginProcess {
  /// What is written to it.
  private(set) var input: Int32
  /// What it writes.
  let output: Int32
  /// What it complains.
  let complaints: Int32
  /// The launcher, which is also the number of its group.
  private let process: pid_t
  /// What keeps it from ending the plugin, and what it tells by.
  private let lifeline: Int32
  /// What it has told.
  private var told = LauncherReport()
  private var status: Int32?

  /// Starts a program behind its confinement.
  init(_ order: ConfinedProgram, launcher: String) throws(StageError) {
    // A program that reads no more is found out by its answer, and ends nobody else.
    signal(SIGPIPE, SIG_IGN)
    func pipes() throws(StageError) -> (read: Int32, write: Int32) {
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
    do throws(StageError) {
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
    // As large as users may make it, so that a block fits into it whole.
    for end in [ourInput, ourOutput] { _ = fcntl(end, 1031, 1 << 20) }  // F_SETPIPE_SZ
  }

  private static func trouble(_ action: String, _ code: Int32) -> StageError {
    StageError(
      "cannot \(action) for a plugin", reason: unsafe String(cString: strerror(code)),
      cause: .environment)
  }

  private static func spawn(
    _ words: [String], _ ends: [(own: Int32, its: Int32)]
  ) throws(StageError) -> pid_t {
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

  /// Tells the program that nothing more comes.
  func closeInput() {
    guard input >= 0 else { return }
    close(input)
    input = -1
  }

  /// Whether the program has ended, and with it all that it started.
  var hasEnded: Bool { status != nil || reap(WNOHANG) }

  /// What the launcher has told by now.
  var report: LauncherReport {
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe recv(lifeline, &piece, piece.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return told }
      told.take(piece.prefix(count))
    }
  }

  /// Ends the program and everything that it started.
  /// - Returns: how it ended, for people, or why it was not started; nil where it ended well.
  @discardableResult func end(within grace: Duration = .zero) -> String? {
    closeInput()
    let deadline = ContinuousClock.now + grace
    // Once it has been reaped, its number may be another's.
    while !hasEnded {
      guard ContinuousClock.now >= deadline else {
        usleep(2000)
        continue
      }
      cutLifeline()
      let last = ContinuousClock.now + Self.patience
      while !reap(WNOHANG) {
        // Where nothing keeps them apart, a plugin can hold its launcher up.
        if ContinuousClock.now >= last { kill(-process, SIGKILL) }
        usleep(500)
      }
    }
    return report.trouble ?? status.flatMap(Self.text)
  }

  /// How long a launcher may take: twice of what it takes itself to end thousands of processes.
  private static let patience = Duration.seconds(20)

  private func cutLifeline() { shutdown(lifeline, Int32(SHUT_WR)) }

  private func reap(_ options: Int32) -> Bool {
    var found: Int32 = 0
    let answer = unsafe waitpid(process, &found, options)
    guard answer == process || answer < 0 && errno != EINTR else { return false }
    status = found
    // What a launcher that was killed has left is still in the cage, where there is one.
    ProcessCage(of: process)?.end()
    return true
  }

  /// How a program ended; nil where it ended well.
  private static func text(of status: Int32) -> String? {
    let signal = status & 0x7f
    if signal != 0 { return name(ofSignal: signal) }
    let code = status >> 8 & 0xff
    return code == 0 ? nil : "it ended with exit code \(code)"
  }

  /// What a signal tells of the program that it ended.
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

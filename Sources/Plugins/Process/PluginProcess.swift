import CPosix
import FoundationEssentials
import Glibc
import PipelineModel
import Platform
import Synchronization

/// A running confined program with its three pipes.
///
/// The launcher confines and starts the program and exits after it. A socket pair, the lifeline,
/// connects the launcher to Spool: when Spool closes it or dies, the launcher kills every process
/// of the program and then itself. The launcher sends its reports over the lifeline, too.
final class PluginProcess {
  /// The program's standard input.
  private(set) var input: Int32 = -1
  /// The program's standard output.
  private(set) var output: Int32 = -1
  /// The program's standard error.
  private(set) var complaints: Int32 = -1
  /// The process of the launcher, or of bubblewrap around it, which is also the process group.
  private var process: pid_t = -1
  /// Spool's end of the socket pair.
  private var lifeline: Int32 = -1
  /// The launcher's reports so far.
  private var told = LauncherReport()
  private var status: Int32?
  /// Whether it was killed because it did not end in time.
  private(set) var wasKilled = false
  private let cage = ProcessCage()
  private let hasNetwork: Bool
  private var hasOwnNetwork = false

  /// Starts a program behind its confinement.
  /// - Parameters:
  ///   - launcher: Spool's executable.
  ///   - memory: what earlier starts showed of bubblewrap.
  init(
    _ program: ConfinedProgram, launcher: String, memory: EnclosureMemory = .ofThisProcess
  ) throws(SpoolError) {
    // A broken pipe shows as a failed write, and must not end Spool.
    signal(SIGPIPE, SIG_IGN)
    hasNetwork = program.limits.network
    var theirs: [Int32] = []
    defer { for end in theirs { close(end) } }
    defer { cage?.closeEntrance() }
    func pipes() throws(SpoolError) -> (read: Int32, write: Int32) {
      var ends: [Int32] = [0, 0]
      guard unsafe posix_make_pipe(&ends) == 0 else { throw Self.trouble("make a pipe", errno) }
      return (ends[0], ends[1])
    }
    let spool = try Self.open(launcher)
    let separate = Self.separateLauncher(beside: launcher)
    let executable = try Self.open(separate ?? launcher)
    // The launcher, and bubblewrap, have another /proc/self/exe.
    let order: OpenFile
    do throws(SystemError) {
      order = try OpenFile(
        inMemory: "order", holding: program.order(spool: "/proc/self/fd/\(spool.descriptor)"))
    } catch { throw Self.trouble("write to memory", error.code) }
    let (theirInput, ourInput) = try pipes()
    (input, theirs) = (ourInput, theirs + [theirInput])
    let (ourOutput, theirOutput) = try pipes()
    (output, theirs) = (ourOutput, theirs + [theirOutput])
    let (ourComplaints, theirComplaints) = try pipes()
    (complaints, theirs) = (ourComplaints, theirs + [theirComplaints])
    for end in [input, output, complaints] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    // The largest size that users may set, so that a whole block fits.
    for end in [input, output] { _ = fcntl(end, 1031, 1 << 20) }  // F_SETPIPE_SZ

    let enclosures = program.enclosures
    guard let first = memory.first(of: enclosures.count, hasNetwork: hasNetwork) else {
      throw SpoolError(
        "cannot confine a plugin",
        reason: "bubblewrap (bwrap) confined earlier ones, and is not on PATH any more",
        advice: "install bubblewrap again; plugins go on as before then", cause: .environment)
    }
    for attempt in first...enclosures.count {
      var ties: [Int32] = [0, 0]
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
      guard unsafe socketpair(AF_UNIX, kind, 0, &ties) == 0 else {
        throw Self.trouble("make a pair of sockets", errno)
      }
      let theirLifeline = ties[1]
      lifeline = ties[0]
      let isEnclosed = attempt < enclosures.count
      do {
        defer { close(theirLifeline) }
        let ends = [
          order.descriptor, theirLifeline, theirInput, theirOutput, theirComplaints,
          cage?.entrance ?? -1,
        ]
        let words =
          ["/proc/self/fd/\(executable.descriptor)"]
          + (separate == nil ? [ConfinedProgram.word] : [])
          + ends.map(String.init) + [isEnclosed ? "1" : "0"]
        process = try Self.spawn(
          (isEnclosed ? enclosures[attempt].command : []) + words,
          passing: ends + [executable.descriptor, spool.descriptor])
      }
      guard isEnclosed else { return }
      let start = awaitStart()
      if start == .begun {
        hasOwnNetwork = enclosures[attempt].hasOwnNetwork
        memory.didWork(attempt, hasNetwork: hasNetwork)
        return
      }
      while waitpid(process, nil, 0) < 0, errno == EINTR {}
      close(lifeline)
      (process, lifeline) = (-1, -1)
      guard
        memory.mayGoOn(
          after: attempt, of: enclosures.count, hasNetwork: hasNetwork, isSilent: start == .silent)
      else {
        throw SpoolError(
          "cannot confine a plugin", reason: "bubblewrap worked before, and did not start now",
          advice: "try again when the machine has fewer processes and more memory; if bubblewrap "
            + "(bwrap) is damaged, install it again",
          cause: .transient)
      }
    }
  }

  /// How the start of a launcher in an enclosure went.
  private enum Start {
    case begun
    case refused
    /// It took too long, and was killed.
    case silent
  }

  /// Waits for the launcher's first report.
  private func awaitStart() -> Start {
    while told.confinement == nil, told.trouble == nil {
      var end = [pollfd(fd: lifeline, events: Int16(POLLIN), revents: 0)]
      guard unsafe poll(&end, 1, 10_000) != 0 else {
        kill(-process, SIGKILL)
        return .silent
      }
      guard hear(0) else { return .refused }
    }
    return .begun
  }

  private static func trouble(_ action: String, _ code: Int32) -> SpoolError {
    SpoolError(
      "cannot \(action) for a plugin", reason: unsafe String(cString: strerror(code)),
      cause: .environment)
  }

  /// The launcher as a program of its own, which starts much faster than Spool's executable: beside
  /// it, or where packages install it. Nil if it is not there.
  private static func separateLauncher(beside spool: String) -> String? {
    let folder = ProgramPrefix.real(spool).pathNames.dropLast().map { "/\($0)" }
      .joined()
    return ["\(folder)/spool-confine", "\(folder)/../lib/spool/spool-confine"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Opens a program to start it later, whatever has become of its path by then.
  private static func open(_ path: String) throws(SpoolError) -> OpenFile {
    do throws(SystemError) { return try OpenFile(path, posix_path_only()) } catch {
      throw trouble("start \(path)", error.code)
    }
  }

  private static func spawn(
    _ words: [String], passing ends: [Int32]
  ) throws(SpoolError) -> pid_t {
    do throws(SystemError) {
      return try SpawnedProcess(
        words, passing: ends, variables: ConfinedProgram.launcherEnvironment
      ).number
    } catch { throw trouble("start \(words[0])", error.code) }
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
    while hear(Int32(MSG_DONTWAIT)) {}
    return told
  }

  /// Warnings about the confinement of the program, under this name.
  func warnings(of name: String) -> [String] {
    report.confinement?.warning(
      of: name, hasNetwork: hasNetwork, hasOwnNetwork: hasOwnNetwork
    ).map { [$0] } ?? []
  }

  /// Takes what the launcher has sent; false if there is nothing.
  private func hear(_ options: Int32) -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    let count = unsafe recv(lifeline, &piece, piece.count, options)
    guard count > 0 else { return count < 0 && errno == EINTR }
    told.take(piece.prefix(count))
    return true
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
      wasKilled = true
      cutLifeline()
      let last = ContinuousClock.now + Self.patience
      while !reap(WNOHANG) {
        // Without isolation, a plugin can stop its launcher.
        if ContinuousClock.now >= last { kill(-process, SIGKILL) }
        usleep(500)
      }
    }
    let report = report
    return report.trouble ?? (report.status ?? status).flatMap(Self.text)
  }

  /// How long a launcher may take: twice the time that it needs to kill thousands of processes.
  private static let patience = Duration.seconds(20)

  private func cutLifeline() { shutdown(lifeline, Int32(SHUT_WR)) }

  private func reap(_ options: Int32) -> Bool {
    var found: Int32 = 0
    let answer = unsafe waitpid(process, &found, options)
    guard answer == process || answer < 0 && errno != EINTR else { return false }
    status = found
    // Of a launcher or bubblewrap that was killed, processes may be left.
    cutLifeline()
    cage?.end()
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
    if process > 0 { end() } else { cage?.end() }
    for end in [input, output, complaints, lifeline] where end >= 0 { close(end) }
  }
}

/// What earlier starts of programs showed of bubblewrap, so that none starts in a weaker enclosure, or
/// in none, once a stronger one has worked: what makes it fail then may be a plugin's doing.
final class EnclosureMemory: Sendable {
  static let ofThisProcess = EnclosureMemory()

  private struct Known {
    /// The strictest enclosure that has worked; nil if none has.
    var proven: Int?
    /// Whether this machine refused all of them before any had worked.
    var areRefused = false
  }

  /// By whether the programs have the network: the others need one more namespace.
  private let known = Mutex<[Bool: Known]>([:])

  /// The number of the enclosure to begin with, `count` for none; nil if there are none any more.
  func first(of count: Int, hasNetwork: Bool) -> Int? {
    known.withLock { known in
      guard count > 0 || known.values.allSatisfy({ $0.proven == nil }) else { return nil }
      let own = known[hasNetwork] ?? Known()
      return own.areRefused ? count : min(own.proven ?? 0, count)
    }
  }

  /// An enclosure has worked.
  func didWork(_ number: Int, hasNetwork: Bool) {
    known.withLock { known in
      known[hasNetwork, default: Known()].proven = min(
        known[hasNetwork]?.proven ?? number, number)
    }
  }

  /// Whether the next weaker enclosure, or none behind the last, may be tried.
  /// - Parameter isSilent: whether it was not refused, but took too long.
  func mayGoOn(after number: Int, of count: Int, hasNetwork: Bool, isSilent: Bool) -> Bool {
    known.withLock { known in
      if let proven = known[hasNetwork]?.proven, isSilent || number >= proven { return false }
      if number + 1 < count { return true }
      guard known.values.allSatisfy({ $0.proven == nil }) else { return false }
      // The kernel or its configuration refuses namespaces, now and later.
      known[hasNetwork, default: Known()].areRefused = true
      return true
    }
  }
}

/// The end of a program's standard error.
struct StderrTail {
  /// The line that a host process writes before it opens the next library.
  static let splitter = "spool: of another one from here on"

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
    let begin = all.lastIndex(of: Self.splitter).map { $0 + 1 } ?? 0
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

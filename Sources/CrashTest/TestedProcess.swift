import Glibc

/// One start of the run in a process of its own, and the clock by which its reports arrive.
///
/// Lines are read and timed by whoever waits, on one thread: nothing lies between the pipe and the
/// clock. A process that is dropped is killed.
final class TestedProcess {
  /// How a process ended.
  enum Ending: Equatable {
    /// By itself, with this exit code.
    case exited(Int32)
    /// By a signal.
    case signalled(Int32)
  }

  /// Why waiting came to an end.
  enum Wake: Equatable {
    case ended
    case timedOut
    case stopped
  }

  /// The longest sleep, in milliseconds: how late a request to stop may be seen.
  private static let nap = 50.0

  /// What it reported so far.
  private(set) var trace = Trace()
  private let process: pid_t
  private let output: Int32
  private let beginning = ContinuousClock.now
  private var line: [UInt8] = []
  private var ending: Ending?

  /// Starts a command; `environment` is added to this process's own.
  init(
    _ command: [String], errors: String, environment: [String: String]
  ) throws(CrashTestError) {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { throw .system("start", command[0]) }
    output = ends[0]
    // Neither end may reach any other process: a pipe ends when its last writer does.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(output, F_SETFL, O_NONBLOCK)
    let result = Spawning.start(
      command, output: ends[1], errors: errors, environment: environment)
    close(ends[1])
    switch result {
    case .success(let number): process = number
    case .failure(let error):
      close(output)
      throw error
    }
  }

  deinit {
    if ending == nil { kill() }
    close(output)
  }

  /// Seconds since the start.
  var age: Double { beginning.duration(to: .now) / .seconds(1) }

  /// Takes reports until the process ends, is `age` seconds old, or `shouldStop` says so.
  func watch(untilAge limit: Double, shouldStop: () -> Bool) -> Wake {
    while true {
      if readAll() || hasEnded() { return .ended }
      if shouldStop() { return .stopped }
      let rest = (limit - age) * 1000
      if rest <= 0 { return .timedOut }
      var poll = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      // Short rests are waited for to the end, so that moments do not fall on whole milliseconds.
      if rest < 1 {
        usleep(UInt32(rest * 1000))
      } else {
        _ = unsafe Glibc.poll(&poll, 1, Int32(min(Self.nap, rest.rounded(.down))))
      }
    }
  }

  /// Kills it with SIGKILL, if it is still there, and takes what it had reported before.
  /// - Returns: how it ended in truth: it may have been quicker.
  @discardableResult
  func kill() -> Ending {
    if ending == nil { Glibc.kill(process, SIGKILL) }
    return end()
  }

  /// Waits for the process to end, and takes the last of its reports.
  func end() -> Ending {
    while true {
      if let ending { return ending }
      var status: Int32 = 0
      let number = unsafe waitpid(process, &status, 0)
      if number == process || errno != EINTR { note(status) }
    }
  }

  /// Whether it has ended. Its output may stay open behind it, where it started others.
  private func hasEnded() -> Bool {
    var status: Int32 = 0
    guard unsafe waitpid(process, &status, WNOHANG) == process else { return false }
    note(status)
    return true
  }

  private func note(_ status: Int32) {
    _ = readAll()
    // Glibc's macros for this (WIFEXITED, WEXITSTATUS, WTERMSIG) are not imported.
    let signal = status & 0x7F
    ending = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
  }

  /// Takes all that has arrived. - Returns: whether that was the last.
  private func readAll() -> Bool {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe read(output, &piece, piece.count)
      if count > 0 {
        take(piece[..<count])
      } else if count == 0 {
        return true
      } else if errno != EINTR {
        return errno != EAGAIN
      }
    }
  }

  private func take(_ bytes: ArraySlice<UInt8>) {
    let now = age
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      line += rest[..<end]
      if let report = Report(line: line) { trace.note(report, at: now) }
      line.removeAll(keepingCapacity: true)
      rest = rest[(end + 1)...]
    }
    line += rest
  }
}

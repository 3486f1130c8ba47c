import Audio
import Glibc

/// A program that runs, to be timed: its end is waited for once.
///
/// What the kernel reports as its peak memory is never below what this process had resident when
/// it started the other, so it is started before anything here grows.
struct ChildProcess: ~Copyable {
  private let id: pid_t
  private let name: String
  private let outputPath: String
  private let start: ContinuousClock.Instant

  /// Starts the program at `path`, in a small environment that is always the same. What it writes
  /// goes to the file `outputPath`.
  init(
    _ path: String, _ arguments: [String], outputPath: String = "/dev/null"
  ) throws(BenchmarkError) {
    name = path
    self.outputPath = outputPath
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    let flags = O_WRONLY | O_CREAT | O_TRUNC
    unsafe posix_spawn_file_actions_addopen(&actions, 1, outputPath, flags, 0o644)
    unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
    let environment = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"]
    var argv = unsafe Self.pointers([path] + arguments)
    var variables = unsafe Self.pointers(environment)
    defer { unsafe (argv + variables).forEach { unsafe free($0) } }
    var id = pid_t()
    let now = ContinuousClock.now
    let status = unsafe posix_spawn(&id, path, &actions, nil, &argv, &variables)
    guard status == 0 else {
      throw BenchmarkError("cannot start \(path)", unsafe String(cString: strerror(status)))
    }
    self.id = id
    start = now
  }

  /// Waits for its end, and throws unless that was a success.
  consuming func wait() throws(BenchmarkError) -> ProcessUsage {
    while true {
      if let usage = try end(waiting: true) { return usage }
    }
  }

  /// Waits for its end, looking 50 times a second at the processor time of its threads.
  consuming func waitAndWatch() throws(BenchmarkError) -> (ProcessUsage, ThreadTimes) {
    var times = ThreadTimes()
    while true {
      times.look(at: id)
      if let usage = try end(waiting: false) { return (usage, times) }
      usleep(20_000)
    }
  }

  /// What it took, once it has ended; nil before.
  private func end(waiting: Bool) throws(BenchmarkError) -> ProcessUsage? {
    var status: Int32 = 0
    var usage = rusage()
    let ended = unsafe wait4(id, &status, waiting ? 0 : WNOHANG, &usage)
    let wall = (ContinuousClock.now - start) / .seconds(1)
    if ended == 0 || (ended < 0 && errno == EINTR) { return nil }
    guard ended == id else {
      throw BenchmarkError("cannot wait for \(name)", unsafe String(cString: strerror(errno)))
    }
    guard status == 0 else {
      throw BenchmarkError("\(name) failed with status \(status)", "see \(outputPath)")
    }
    // Linux reports kilobytes.
    return ProcessUsage(
      wall: Seconds(wall), cpu: Seconds(usage.ru_utime.seconds + usage.ru_stime.seconds),
      peakMemory: usage.ru_maxrss * 1024)
  }

  /// C strings to be freed, with a null at the end.
  private static func pointers(_ words: [String]) -> [UnsafeMutablePointer<CChar>?] {
    var pointers = unsafe words.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    return unsafe pointers
  }
}

extension timeval {
  fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}

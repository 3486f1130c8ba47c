import Glibc

/// A program that was started, in a process group of its own, so that signals of a terminal do not
/// reach it. Its standard streams are `/dev/null`, but for those that are given.
package struct SpawnedProcess: Hashable, Sendable {
  package let number: Int32

  /// Starts a program.
  /// - Parameters:
  ///   - words: its path and its arguments.
  ///   - ends: the descriptors that it inherits, besides its standard streams.
  ///   - variables: its environment, as `NAME=VALUE`.
  ///   - input: the descriptor for its standard input.
  ///   - output: the descriptor for its standard output.
  ///   - errors: the file for its standard error, which is truncated.
  ///   - errorOutput: the descriptor for its standard error.
  package init(
    _ words: [String], passing ends: [Int32], variables: [String], input: Int32? = nil,
    output: Int32? = nil, errors: String? = nil, errorOutput: Int32? = nil
  ) throws(SystemError) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for end in 0..<3 {
      unsafe posix_spawn_file_actions_addopen(&actions, Int32(end), "/dev/null", O_RDWR, 0)
    }
    if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    if let errorOutput {
      unsafe posix_spawn_file_actions_adddup2(&actions, errorOutput, STDERR_FILENO)
    }
    if let errors {
      unsafe posix_spawn_file_actions_addopen(
        &actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    // A copy to the same number takes its close-on-exec flag.
    for end in ends where end >= 0 {
      unsafe posix_spawn_file_actions_adddup2(&actions, end, end)
    }
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
    let values = unsafe variables.map { unsafe strdup($0) } + [nil]
    defer { unsafe (texts + values).forEach { unsafe free($0) } }
    var number: pid_t = 0
    let status = unsafe posix_spawn(&number, words[0], &actions, &attributes, texts, values)
    guard status == 0 else { throw SystemError(status) }
    self.number = number
  }

  /// One that was started, by its number.
  package init(number: Int32) { self.number = number }

  /// Kills it and waits for its end, which frees its number.
  package func end() {
    kill(number, SIGKILL)
    wait()
  }

  /// Kills it and all that it started, and waits for its end, which frees its number.
  package func endGroup() {
    kill(-number, SIGKILL)
    wait()
  }

  /// Its exit code, once, if it has ended, which frees its number; for one that a signal ended, 128 and
  /// the signal's number. Nil while it runs.
  package var exitCode: Int? {
    var status: Int32 = 0
    guard unsafe waitpid(number, &status, WNOHANG) == number else { return nil }
    let signal = status & 0x7F
    return Int(signal == 0 ? status >> 8 & 0xFF : 128 + signal)
  }

  /// Waits for its end, which frees its number.
  package func wait() {
    while waitpid(number, nil, 0) < 0, errno == EINTR {}
  }
}

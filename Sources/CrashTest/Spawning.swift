import Glibc

/// Starts processes, which on Linux takes `posix_spawn` and C's way with strings.
enum Spawning {
  /// Starts a command in a process group of its own: what is typed at the terminal is for the crash
  /// test alone.
  /// - Parameters:
  ///   - output: what becomes its standard output.
  ///   - errors: the file that takes its standard error, made anew.
  ///   - environment: added to this process's own.
  static func start(
    _ command: [String], output: Int32, errors: String, environment: [String: String]
  ) -> Result<pid_t, CrashTestError> {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    unsafe posix_spawn_file_actions_addopen(
      &actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var noSignals = sigset_t()
    unsafe sigemptyset(&noSignals)
    unsafe posix_spawnattr_setsigmask(&attributes, &noSignals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP) | Int16(POSIX_SPAWN_SETSIGMASK))

    let words = unsafe strings(command)
    let variables = unsafe strings(
      inherited(but: environment.keys) + environment.map { "\($0)=\($1)" })
    defer { unsafe (words + variables).forEach { unsafe free($0) } }
    var process: pid_t = 0
    let status = unsafe posix_spawn(
      &process, command[0], &actions, &attributes, words, variables)
    return status == 0
      ? .success(process) : .failure(.system("start", command[0], code: status))
  }

  /// This process's variables as `NAME=value`.
  private static func inherited(but names: some Collection<String>) -> [String] {
    var list: [String] = []
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      if !names.contains(where: { text.hasPrefix($0 + "=") }) { list.append(text) }
      unsafe next += 1
    }
    return list
  }

  /// Copies for C, with the nil that ends them. The caller frees each.
  private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    unsafe texts.map { unsafe strdup($0) } + [nil]
  }
}

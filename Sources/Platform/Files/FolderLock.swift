import Glibc

/// The lock of a folder; the kernel releases it when its holder dies. Users of a store share the
/// lock; replacing its database needs it exclusively.
package struct FolderLock: ~Copyable, Sendable {
  private let folder: OpenFile

  /// Opens the folder without locking it. Needs no write permission.
  package init(_ path: String) throws(SpoolError) {
    folder = try doing("use the folder", path) { () throws(SystemError) in
      try OpenFile(path, O_RDONLY | O_DIRECTORY)
    }
  }

  /// Takes or downgrades to the shared lock, without waiting.
  /// - Returns: false if it is held exclusively.
  package func tryShared() -> Bool { folder.tryLock(LOCK_SH) }

  /// Takes the exclusive lock, without waiting. On failure a shared lock is lost.
  /// - Returns: false if it is held.
  package func tryAlone() -> Bool { folder.tryLock(LOCK_EX) }

  /// Calls `attempt` until it succeeds.
  /// - Parameter patience: in milliseconds.
  /// - Returns: false if it did not succeed in that time.
  package func wait(patience: Int, _ attempt: (borrowing FolderLock) -> Bool) -> Bool {
    let deadline = Clock.monotonic() + Int64(patience) * 1_000_000
    while true {
      if attempt(self) { return true }
      if Clock.monotonic() > deadline { return false }
      usleep(10_000)
    }
  }

  /// The other processes that hold the lock, in words: `process 2710 (spool run …)`.
  package var otherHolders: [String] { holders.filter { $0 != getpid() }.map(Self.words) }

  /// The holders of the lock, in words for an error.
  package var holdersInWords: String {
    let numbers = holders
    return numbers.isEmpty ? "another process" : numbers.map(Self.words).joined(separator: ", ")
  }

  /// The process numbers of the holders, from the kernel's list: see proc_locks(5).
  private var holders: [pid_t] {
    guard let stamp = try? folder.stamp, let text = SmallFile.text(at: "/proc/locks") else {
      return []
    }
    var found: Set<pid_t> = []
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 5, fields[1] == "FLOCK", let number = pid_t(fields[4]), number > 0,
        fields[5].split(separator: ":").last == "\(stamp.inode)"
      else { continue }
      found.insert(number)
    }
    return found.sorted()
  }

  private static func words(_ number: pid_t) -> String {
    let command = SmallFile.text(at: "/proc/\(number)/cmdline")?
      .split(separator: "\0").map { $0.pathNames.last ?? String($0) }.joined(separator: " ")
    guard let command, !command.isEmpty else { return "process \(number)" }
    let short = command.count > 60 ? command.prefix(59) + "…" : command[...]
    return "process \(number) (\(short))"
  }
}

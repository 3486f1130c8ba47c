import Glibc
internal import PipelineModel

/// The lock of a folder, which the system gives back when its holder dies. Those who work in a store
/// share its folder's lock; whoever replaces its database has it alone.
struct FolderLock: ~Copyable, Sendable {
  private let folder: OpenFile

  /// Opens the folder; the lock is not taken yet. It leaves no trace, and needs no permission to
  /// write.
  init(_ path: String) throws(StoreError) {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreError("use the folder", path: path, .last) }
    folder = OpenFile(descriptor: descriptor, path: path)
  }

  /// Takes the lock together with others, without waiting. A lock held alone is loosened.
  /// - Returns: false if somebody has it alone.
  func tryShared() -> Bool { take(LOCK_SH) }

  /// Takes the lock alone, without waiting. If that fails, a lock that was shared is lost.
  /// - Returns: false if anybody else has it.
  func tryAlone() -> Bool { take(LOCK_EX) }

  /// Calls `attempt` until it succeeds.
  /// - Parameter patience: for how long, in milliseconds.
  /// - Returns: false if it did not succeed in that time.
  func wait(patience: Int, _ attempt: (borrowing FolderLock) -> Bool) -> Bool {
    let deadline = Clock.monotonic() + Int64(patience) * 1_000_000
    while true {
      if attempt(self) { return true }
      if Clock.monotonic() > deadline { return false }
      usleep(10_000)
    }
  }

  /// The processes that hold the folder's lock, this one not counted, in words: `process 2710
  /// (spool run …)`.
  var otherHolders: [String] { holders.filter { $0 != getpid() }.map(Self.words) }

  /// Whoever holds the lock, in words for an error.
  var holdersInWords: String {
    let numbers = holders
    return numbers.isEmpty ? "another process" : numbers.map(Self.words).joined(separator: ", ")
  }

  private func take(_ operation: CInt) -> Bool {
    while flock(folder.descriptor, operation | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      // A file system without locks must not stop anybody.
      return errno != EWOULDBLOCK
    }
    return true
  }

  /// Every holder's process number, from the kernel's own list: see proc_locks(5).
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
      .split(separator: "\0").map { $0.split(separator: "/").last ?? $0 }.joined(separator: " ")
    guard let command, !command.isEmpty else { return "process \(number)" }
    let short = command.count > 60 ? command.prefix(59) + "…" : command[...]
    return "process \(number) (\(short))"
  }
}

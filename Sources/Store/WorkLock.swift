import Glibc
internal import PipelineModel
internal import Synchronization

/// The lock by which a process holds a work folder. The system gives it back when the process dies,
/// so a free lock says at once that nobody is at work.
final class WorkLock: Sendable {
  /// Nil once it was given back.
  private let file: Mutex<OpenFile?>

  /// What came of trying to take a lock.
  enum Answer {
    case taken(WorkLock)
    /// Another process, or another claim of this one, holds it.
    case held
    /// The folder was removed meanwhile.
    case gone
  }

  private init(_ file: consuming OpenFile) { self.file = Mutex(file) }

  deinit { release() }

  /// Tries to take the lock in the file at `path`, and makes that file if there is none.
  static func take(_ path: String, files: FileOperations) throws(SystemError) -> Answer {
    do throws(SystemError) {
      let file = try files.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
      guard try files.lock(file) else { return .held }
      // Whoever held it before may have removed it before letting go.
      guard try file.stamp.hasName else { return .gone }
      return .taken(WorkLock(file))
    } catch {
      if error.code == ENOENT { return .gone }
      throw error
    }
  }

  /// Whether the lock is still held.
  var isHeld: Bool { file.withLock { $0 != nil } }

  /// Gives the lock back. Doing it twice does nothing.
  func release() {
    file.withLock { (file) in
      if let held = file.take() { held.unlock() }
    }
  }
}

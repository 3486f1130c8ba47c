import Glibc
internal import PipelineModel
import Platform
internal import Synchronization

/// The lock of a work folder. The kernel releases it when its holder dies, so a free lock means no
/// live holder.
final class WorkLock: Sendable {
  private let file: Mutex<OpenFile?>

  /// The result of a lock attempt.
  enum Answer {
    case taken(WorkLock)
    /// Another process, or another claim of this one, holds it.
    case held
    /// The folder was removed meanwhile.
    case gone
  }

  private init(_ file: consuming OpenFile) { self.file = Mutex(file) }

  deinit { release() }

  /// Tries to lock the file at `path`; makes it if needed.
  static func take(_ path: String, files: FileOperations) throws(SystemError) -> Answer {
    do throws(SystemError) {
      let file = try files.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
      guard try files.lock(file) else { return .held }
      // The previous holder may have removed the file before unlocking it.
      guard try file.stamp.hasName else { return .gone }
      return .taken(WorkLock(file))
    } catch {
      if error.code == ENOENT { return .gone }
      throw error
    }
  }

  var isHeld: Bool { file.withLock { $0 != nil } }

  /// Idempotent.
  func release() {
    file.withLock { (file) in
      if let held = file.take() { held.unlock() }
    }
  }
}

import Glibc
import Platform
@testable import Store
import Synchronization

/// Watches the calls by which a store touches the disk, and makes chosen ones fail.
final class FileProbe: Sendable {
  /// Which calls fail.
  enum Fault: Sendable {
    /// None.
    case none
    /// The n-th, counted from 1, and no other.
    case once(Int, code: CInt)
    /// The n-th and all that need room or a sound disk after it; removing files still works.
    case from(Int, code: CInt)
    /// The n-th and all after it, as if the process had died.
    case deadFrom(Int)
  }

  private let log = Mutex<[FileOperation]>([])
  private let failed = Mutex<[FileOperation]>([])
  private let fault: Fault

  init(_ fault: Fault = .none) { self.fault = fault }

  /// Everything that was tried, in order.
  var operations: [FileOperation] { log.withLock { $0 } }

  /// What was made to fail.
  var failures: [FileOperation] { failed.withLock { $0 } }

  /// The calls to give to a store.
  var files: FileOperations {
    FileOperations { (operation) throws(SystemError) in
      let number = self.log.withLock { log in
        log.append(operation)
        return log.count
      }
      guard let code = self.code(for: operation, number) else { return }
      self.failed.withLock { $0.append(operation) }
      throw SystemError(code)
    }
  }

  private func code(for operation: FileOperation, _ number: Int) -> CInt? {
    switch fault {
    case .none: return nil
    case .once(let n, let code): return number == n ? code : nil
    case .from(let n, let code):
      switch operation {
      case .unlink, .removeFolder, .lock: return nil
      default: return number >= n ? code : nil
      }
    case .deadFrom(let n): return number >= n ? EIO : nil
    }
  }
}

extension FileOperations {
  /// The system's calls, but for those that fail with these codes: `["clone": EOPNOTSUPP]`.
  static func lacking(_ codes: [String: CInt]) -> FileOperations {
    FileOperations { (operation) throws(SystemError) in
      let kind = "\(operation)".prefix { $0 != "(" }
      if let code = codes[String(kind)] { throw SystemError(code) }
    }
  }
}

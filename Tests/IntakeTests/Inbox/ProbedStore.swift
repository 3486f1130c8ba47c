import Platform
@testable import Store

/// A store whose calls to the disk a test can see and make fail.
///
/// It lies in a file of its own because the store's inner types have names that the inbox's have
/// too.
enum ProbedStore {
  /// Opens a store.
  /// - Parameters:
  ///   - clock: the time in nanoseconds since 1970.
  ///   - fault: called before each call that the store makes, with the call's name in words; gives
  ///     the error number that takes its place, or nil.
  static func open(
    at path: String, clock: @escaping @Sendable () -> Int64,
    fault: @escaping @Sendable (String) -> CInt? = { _ in nil }
  ) throws -> DiskStore {
    let files = FileOperations { (operation) throws(SystemError) in
      if let code = fault("\(operation)") { throw SystemError(code) }
    }
    return try DiskStore(at: path, files: files, clock: clock)
  }
}

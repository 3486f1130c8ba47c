internal import PipelineModel
internal import Synchronization

/// The store's database, which one thread uses at a time.
final class SharedDatabase: Sendable {
  private let database: Mutex<Database>

  init(_ database: consuming sending Database) { self.database = Mutex(database) }

  /// Calls `body` with the database, which no other thread uses meanwhile.
  func with<Result>(
    _ body: (inout sending Database) throws(StoreError) -> sending Result
  ) throws(StoreError) -> Result {
    try database.withLock { (database) throws(StoreError) in
      try database.flushCommits(to: "use")
      return try body(&database)
    }
  }

  /// Likewise, but commits reach the disk with the next one that is flushed.
  func withDeferredFlush<Result>(
    to action: String,
    _ body: (inout sending Database) throws(StoreError) -> sending Result
  ) throws(StoreError) -> sending Result {
    try database.withLock { (database) throws(StoreError) in
      try database.deferFlushes(to: action)
      return try body(&database)
    }
  }
}

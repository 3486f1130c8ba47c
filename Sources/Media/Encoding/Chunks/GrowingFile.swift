import Glibc
internal import Platform
internal import Synchronization

/// A file of which every prefix is valid, so that written data stays usable.
final class GrowingFile: EncodingSurvival {
  let file: OpenFile
  private let reached = Mutex(EncodingExtent())
  private let flushed = FlushOutcome()

  /// The file's length when it was opened.
  let byteCountAtStart: Int

  /// Opens or creates the file at `path`, with its content.
  init(path: String) throws(SpoolError) {
    file = try OpenFile(path: path, O_RDWR | O_CREAT)
    byteCountAtStart = try file.byteCount
  }

  var extent: EncodingExtent { reached.withLock { $0 } }

  /// Records how much the system has taken over.
  func reach(_ extent: EncodingExtent) { reached.withLock { $0 = extent } }

  func flush() throws(SpoolError) {
    try flushed.unlessFailed { () throws(SpoolError) in try file.flush() }
  }
}

/// A flush that fails for good after its first failure: after a write error, the system drops the
/// data and a later flush would succeed.
final class FlushOutcome: Sendable {
  private let failure = Mutex<SpoolError?>(nil)

  /// Runs a flush, unless one has failed before. Concurrent callers wait for its completion.
  func unlessFailed(_ flush: () throws(SpoolError) -> Void) throws(SpoolError) {
    try failure.withLock { (failure) throws(SpoolError) in
      if let failure { throw failure }
      do throws(SpoolError) { try flush() } catch {
        failure = error
        throw error
      }
    }
  }
}

import Glibc
public import Hashing
public import PipelineModel

extension DiskStore {
  /// Puts a file in a user's folder: `write` fills a temporary name beside it, which is flushed,
  /// renamed to `path`, and remembered under `content`.
  ///
  /// A file that is at `path` already is replaced only if this store published it, of the same
  /// recording, and nobody has changed it since, or if `isReplacing`. One that holds the very bytes that were written is
  /// taken as published. In all other cases this throws, and it stays as it is. Whenever this
  /// throws, the temporary file is gone.
  /// - Returns: the length of the file in bytes.
  public func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity? = nil, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(StageError) -> Void
  ) throws(StageError) -> Int {
    let path = FilePath.absolute(path)
    let publication = try asStageError { () throws(StoreError) in
      try Publication(at: path, in: self)
    }
    do throws(StageError) {
      try write(publication.temporaryPath)
      return try asStageError { () throws(StoreError) in
        try publication.finish(
          CustodyTables.Published(content: content, recording: recording),
          isReplacing: isReplacing)
      }
    } catch {
      publication.abandon()
      throw error
    }
  }

  private func asStageError<Result: ~Copyable>(
    _ work: () throws(StoreError) -> Result
  ) throws(StageError) -> Result {
    do throws(StoreError) {
      return try work()
    } catch {
      throw StageError(error)
    }
  }
}

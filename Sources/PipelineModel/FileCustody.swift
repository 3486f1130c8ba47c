public import Hashing

/// The files at the edges of the store: recordings that come in and exports that go out. Every
/// method may be called from any thread.
public protocol FileCustody: Sendable {
  /// The digest of a user's file. A file whose length, times and inode are those of an earlier
  /// look is not read again.
  func digest(ofFile path: String) throws(StoreError) -> Digest

  /// Whether `path` holds, unchanged since, what `publish` put there under this `content` name.
  func isPublished(_ content: Digest, at path: String) throws(StoreError) -> Bool

  /// The recording of which the file at `path` was made, if it was published by this store and has
  /// not changed since; nil where that is not known.
  func recording(ofPublished path: String) throws(StoreError) -> RecordingIdentity?

  /// Bytes of the file at `path`, if it was published by this store and has not changed since; nil
  /// where that is not known.
  func byteCount(ofPublished path: String) -> Int?

  /// Takes a file at `path` as published here again, though it was moved away and back, copied or
  /// touched, if it holds what somebody knows that was published there. It stays that of the recording
  /// that the last one at `path` was made of.
  /// - Parameter digest: of the bytes that were published.
  /// - Returns: whether it holds them.
  func recognize(_ path: String, holding digest: Digest) throws(StoreError) -> Bool

  /// Puts a file in a user's folder: `write` fills a temporary name beside it, which is flushed,
  /// renamed to `path`, and remembered under `content`. The folder must exist.
  ///
  /// A file that is already at `path` is replaced only if it was published by this store and has
  /// not changed since, or if `isReplacing`; otherwise this throws, and it stays as it is.
  /// Nor is one replaced that was made of another recording than this one, unless `isReplacing`.
  /// - Parameter recording: what the file is made of; nil where that is not one recording.
  /// - Returns: the length of the file in bytes.
  func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity?, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(StageError) -> Void
  ) throws(StageError) -> Int

  /// Whether two paths lead to one file, by whatever names; false where one leads nowhere.
  func isSameFile(_ path: String, _ other: String) -> Bool

  /// Whether what is kept here and what goes into `folder` take room from the same disk.
  func sharesDisk(with folder: String) -> Bool

  /// Bytes free for files in a user's folder.
  func freeByteCount(at folder: String) throws(StoreError) -> Int

  /// Makes sure that there is a folder in a user's folder, and those above it, durably.
  func makeFolder(_ path: String) throws(StoreError)

  /// Takes a file out of a user's folder, durably; nothing happens where none is. One that this
  /// store did not publish, or that was changed since, stays there, and this throws, unless
  /// `isReplacing`.
  func withdraw(_ path: String, isReplacing: Bool) throws(StoreError)

  /// Copies a file, sharing its blocks where the file system can.
  func copyFile(from source: String, to destination: String) throws(StoreError)
}

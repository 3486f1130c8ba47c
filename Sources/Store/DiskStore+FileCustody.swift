import Glibc
public import Hashing
public import PipelineModel

extension DiskStore: FileCustody {
  /// How long a file must have been left alone before its stamp is trusted: two writes within one
  /// tick of the file system's clock leave the same stamp, and the coarsest ticks last 2 s.
  private static let settlingTime: Int64 = 2_000_000_000

  /// The digest of a user's file: reads all of it, except where it was read before and has not
  /// changed since. Throws if it cannot be read, is no file, or changes meanwhile.
  public func digest(ofFile path: String) throws(StoreError) -> Digest {
    let path = FilePath.absolute(path)
    // Without O_NONBLOCK, opening a pipe waits for somebody to write into it.
    let file = try doing("read", path) { () throws(SystemError) in
      try files.open(path, O_RDONLY | O_NONBLOCK)
    }
    let stamp = try doing("read", path) { () throws(SystemError) in try file.stamp }
    if let complaint = stamp.complaint {
      throw StoreError("read", path: path, reason: complaint, advice: "name a sound file")
    }
    let known = try withDatabase { (database) throws(StoreError) in
      try CustodyTables.digest(ofFile: path, stamp: stamp, in: &database)
    }
    if let known { return known }

    let isSettled = isSettled(stamp)
    let (digest, _) = try doing("read", path) { () throws(SystemError) in
      try files.digest(of: file)
    }
    let stampAfter = try doing("read", path) { () throws(SystemError) in try file.stamp }
    guard stampAfter.hasSameBytes(as: stamp) else {
      throw StoreError(
        "read", path: path, reason: "it changed while it was being read",
        advice: "wait until it is complete, and try again")
    }
    if isSettled, stampAfter == stamp {
      // Only saves reading the file again.
      try withDeferringDatabase(to: "remember a digest in") { (database) throws(StoreError) in
        try CustodyTables.remember(digest, ofFile: path, stamp: stamp, in: &database)
      }
    }
    return digest
  }

  /// Whether any later write would leave another stamp. A time of writing in the future was set
  /// by a program, and says nothing.
  private func isSettled(_ stamp: FileStamp) -> Bool {
    let now = clock()
    return now - stamp.changed >= Self.settlingTime
      && !(0..<Self.settlingTime).contains(now - stamp.modified)
  }

  /// Whether `path` holds, unchanged since, what `publish` put there under this `content` name.
  /// Takes one look at the file, and does not read it.
  public func isPublished(_ content: Digest, at path: String) throws(StoreError) -> Bool {
    try published(at: FilePath.absolute(path))?.content == content
  }

  /// The recording of which the file at `path` was made, if this store published it and it has not
  /// changed since.
  public func recording(ofPublished path: String) throws(StoreError) -> RecordingIdentity? {
    try published(at: FilePath.absolute(path))?.recording
  }

  /// Bytes of the file at `path`, if this store published it and it has not changed since.
  public func byteCount(ofPublished path: String) -> Int? {
    let path = FilePath.absolute(path)
    guard (try? published(at: path)) != nil, let stamp = try? FileStamp(at: path) else {
      return nil
    }
    return Int(stamp.byteCount)
  }

  /// What was published at an absolute path, if it is still there and unchanged.
  func published(at path: String) throws(StoreError) -> CustodyTables.Published? {
    guard let stamp = try? FileStamp(at: path), stamp.isRegularFile else { return nil }
    return try withDatabase { (database) throws(StoreError) in
      try CustodyTables.published(at: path, stamp: stamp, in: &database)
    }
  }

  /// Takes a file as published again, if it is no link and holds these bytes.
  public func recognize(_ path: String, holding digest: Digest) throws(StoreError) -> Bool {
    let path = FilePath.absolute(path)
    guard let stamp = try? FileStamp(at: path), stamp.isRegularFile,
      try self.digest(ofFile: path) == digest, (try? FileStamp(at: path)) == stamp
    else { return false }
    try withDatabase { (database) throws(StoreError) in
      try CustodyTables.recognize(digest, at: path, stamp: stamp, in: &database)
    }
    return true
  }

  /// Copies a file's bytes, sharing its blocks where the file system can, and else inside the
  /// kernel where it can. What is at `destination` is overwritten; if the copy fails, it is
  /// removed. Does not flush.
  public func copyFile(from source: String, to destination: String) throws(StoreError) {
    try FileCopy(files: files).copy(from: source, to: destination)
  }
}

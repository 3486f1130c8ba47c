import Glibc
package import PipelineModel
package import Platform

extension DiskStore: ExportFolder {
  /// How long a file must be unchanged before its stamp is trusted: two writes within one tick of
  /// the file system's clock leave the same stamp, and the coarsest ticks last 2 s.
  private static let settlingTime: Int64 = 2_000_000_000

  /// The digest of a user's file; cached until the file changes. Throws if it cannot be read, is
  /// not a regular file, or changes meanwhile, and what `reading` throws.
  package func digest(
    ofFile path: String, reading: (_ done: Int, _ of: Int) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Digest {
    let path = FilePath.absolute(path)
    // Without O_NONBLOCK, opening a pipe blocks until it has a writer.
    let file = try doing("read", path) { () throws(SystemError) in
      try files.open(path, O_RDONLY | O_NONBLOCK)
    }
    let stamp = try doing("read", path) { () throws(SystemError) in try file.stamp }
    if let complaint = stamp.complaint {
      throw SpoolError("read", path, reason: complaint, advice: "name a sound file")
    }
    let known = try withDatabase { (database) throws(SpoolError) in
      try KnownFileTables.digest(ofFile: path, stamp: stamp, in: &database)
    }
    if let known { return known }

    let isSettled = isSettled(stamp)
    try reading(0, Int(stamp.byteCount))
    var done = 0
    var refusal: SpoolError?
    let (digest, _) = try doing("read", path) { () throws(SystemError) in
      try files.digest(of: file) { count in
        done += count
        do throws(SpoolError) { try reading(done, Int(stamp.byteCount)) } catch { refusal = error }
        return refusal == nil
      }
    }
    if let refusal { throw refusal }
    let stampAfter = try doing("read", path) { () throws(SystemError) in try file.stamp }
    guard stampAfter.hasSameBytes(as: stamp) else {
      throw SpoolError(
        "read", path, reason: "it changed while it was being read",
        advice: "wait until it is complete, and try again")
    }
    if isSettled, stampAfter == stamp {
      // Only saves reading the file again.
      try withDeferringDatabase(to: "remember a digest in") { (database) throws(SpoolError) in
        try KnownFileTables.remember(digest, ofFile: path, stamp: stamp, in: &database)
      }
    }
    return digest
  }

  /// Whether any later write would change the stamp. A modification time in the future was set by a
  /// program and is ignored.
  private func isSettled(_ stamp: FileStamp) -> Bool {
    let now = clock()
    return now - stamp.changed >= Self.settlingTime
      && !(0..<Self.settlingTime).contains(now - stamp.modified)
  }

  /// Publishes a file in a user's folder: `write` fills a temporary file beside it, which is
  /// flushed, renamed to `path`, and recorded under `content`.
  ///
  /// Replaces an existing file only if this store published it, it is unchanged and there is no
  /// `refusal`, or if `isReplacing`. A file with the same bytes counts as published. Throws
  /// otherwise, and keeps it. On error the temporary file is removed.
  /// - Returns: the length of the file in bytes.
  package func publish(
    _ content: Digest, at path: String, of source: ExportSource = ExportSource(),
    isReplacing: Bool,
    write: (_ temporaryPath: String) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Int {
    let path = FilePath.absolute(path)
    let publication = try Publication(at: path, in: self)
    do throws(SpoolError) {
      try write(publication.temporaryPath)
      return try publication.finish(content, of: source, isReplacing: isReplacing)
    } catch {
      publication.abandon()
      throw error
    }
  }

  /// Whether `path` holds, unchanged, what `publish` put there under this `content` name. Checks
  /// the stamp only.
  package func isPublished(_ content: Digest, at path: String) throws(SpoolError) -> Bool {
    try published(at: FilePath.absolute(path))?.content == content
  }

  /// The recording from which the file at `path` was made, if this store published it and it is
  /// unchanged.
  package func recording(ofPublished path: String) throws(SpoolError) -> RecordingIdentity? {
    try published(at: FilePath.absolute(path))?.recording
  }

  /// Why an export may not replace the file at `path`; nil if it may, and if nothing is known of the
  /// file. Where the store lacks a recording, pipeline or receipt, it refuses nothing.
  package func refusal(
    toReplace path: String, with source: ExportSource
  ) throws(SpoolError) -> SpoolError? {
    let path = FilePath.absolute(path)
    guard var before = try published(at: path) else { return nil }
    let earlier = ExportSource(before.recording, sounds: before.sounds)
    if let refusal = source.refusal(toReplace: path, of: earlier) { return refusal }
    if let other = before.pipeline, let own = source.pipeline, own != other {
      guard let copy = try copy(at: path, of: own, not: other) else {
        return SpoolError(path, madeBy: other, not: own, naming: source.naming)
      }
      before = copy
    }
    guard let receipt = before.receipt, FilePath.exists(receipt) else { return nil }
    return source.receipts.contains(receipt) ? nil : SpoolError(path, coveredBy: receipt)
  }

  /// Records of which recordings published files were made.
  package func attribute(
    _ paths: [String], to sounds: [RecordingIdentity]
  ) throws(SpoolError) {
    let paths = paths.map(FilePath.absolute)
    try withDeferringDatabase(to: "record a published file in") {
      (database) throws(SpoolError) in
      try KnownFileTables.attribute(paths, to: sounds, in: &database)
    }
  }

  /// Whether the file at `path` has the length of what was published there, or nothing was.
  package func mayBeCopy(_ path: String) -> Bool {
    let path = FilePath.absolute(path)
    guard let stamp = try? FileStamp(at: path), stamp.isRegularFile else { return false }
    let known = try? withDatabase { (database) throws(SpoolError) in
      try KnownFileTables.byteCount(ofPublished: path, in: &database)
    }
    return known == nil || known == .some(stamp.byteCount)
  }

  /// Why no file may be written over the one at `path`: a run took it in, under this path or another
  /// one, or it is a device or a pipe. Nil for others, and for an unchanged export. O(runs).
  package func refusal(
    toReplaceRecording path: String
  ) throws(SpoolError) -> SpoolError? {
    let path = FilePath.absolute(path)
    guard let stamp = try? FileStamp(following: path), try published(under: path) == nil else {
      return nil
    }
    guard stamp.isRegularFile || stamp.isFolder else {
      return SpoolError(
        "write", path, reason: "it is a device or a pipe, which a file would take the place of",
        advice: "choose another name or folder")
    }
    let isRecording = try runs.inputPaths().contains { input in
      input == path || (try? FileStamp(following: input))?.isSameFile(as: stamp) == true
    }
    let isOfInbox = try withDatabase { (database) throws(SpoolError) in
      try RecordingFileTable.isRecording(at: path, RecordingFileStamp(stamp), in: &database)
    }
    guard isRecording || isOfInbox else { return nil }
    return SpoolError(
      "write", path,
      reason: "it is a file that a run took in, and Spool never writes over one",
      advice: "choose another name or folder")
  }

  /// Records that a receipt covers published files. Its loss costs only their protection.
  package func protect(_ paths: [String], by receipt: String) throws(SpoolError) {
    let (paths, receipt) = (paths.map(FilePath.absolute), FilePath.absolute(receipt))
    try withDeferringDatabase(to: "record a published file in") {
      (database) throws(SpoolError) in
      try KnownFileTables.protect(paths, by: receipt, in: &database)
    }
  }

  /// Length of the file at `path`, if this store published it and it is unchanged.
  package func byteCount(ofPublished path: String) -> Int? {
    let path = FilePath.absolute(path)
    guard (try? published(at: path)) != nil, let stamp = try? FileStamp(at: path) else {
      return nil
    }
    return Int(stamp.byteCount)
  }

  /// What was published at an absolute path, or at another one and moved or copied here since, if it
  /// is unchanged. A file that a run took in as a recording is no copy of an export.
  func published(at path: String) throws(SpoolError) -> KnownFileTables.Published? {
    if let published = try published(under: path) { return published }
    guard let stamp = try? FileStamp(at: path), stamp.isRegularFile,
      let found = try movedOrCopied(path, stamp),
      try refusal(toReplaceRecording: path) == nil
    else { return nil }
    let published = found.published(movedTo: path)
    try withDeferringDatabase(to: "record a published file in") { (database) throws(SpoolError) in
      try KnownFileTables.adopt(published, at: path, stamp: stamp, in: &database)
    }
    return published
  }

  /// What was published under this very path, if it is still there unchanged, whatever times the file
  /// has: one that was touched, or restored from a backup, has others.
  private func published(under path: String) throws(SpoolError) -> KnownFileTables.Published? {
    guard let stamp = try? FileStamp(at: path), stamp.isRegularFile else { return nil }
    let published = try withDatabase { (database) throws(SpoolError) in
      try KnownFileTables.published(at: path, stamp: stamp, in: &database)
    }
    if let published { return published }
    return try restored(path, stamp)
  }

  /// What was published under a path whose file has another stamp and the same bytes by now. Reads the
  /// file only if it has the length. O(runs).
  private func restored(
    _ path: String, _ stamp: FileStamp
  ) throws(SpoolError) -> KnownFileTables.Published? {
    let known = try withDatabase { (database) throws(SpoolError) in
      try KnownFileTables.export(at: path, sized: stamp.byteCount, in: &database)
    }
    guard let known, let digest = try? digest(ofFile: path) else { return nil }
    let versions = try runs.publishing(path).flatMap(\.published).filter {
      FilePath.absolute($0.path) == path && Int64($0.byteCount) == stamp.byteCount
    }
    let isOwn = known.content == digest || versions.contains { $0.digest == digest }
    guard isOwn, (try? FileStamp(at: path)) == stamp else { return nil }
    // Of several versions of this length, it may be an earlier one; commands write without a run.
    let isLast =
      known.pipeline != nil
      && versions.allSatisfy { $0.digest == digest || $0.digest == nil && $0.wasThere }
    try withDeferringDatabase(to: "record a published file in") { (database) throws(SpoolError) in
      if isLast {
        try KnownFileTables.adopt(known, at: path, stamp: stamp, in: &database)
      } else {
        try KnownFileTables.recognize(digest, at: path, stamp: stamp, in: &database)
      }
    }
    var published = known
    if !isLast { published.content = digest }
    return published
  }

  /// The export of this name in another folder that is this file, or whose bytes it has: another name
  /// makes it another file, and the same path holds what someone wrote there. Reads the file only if
  /// an export has its length. O(exports), and O(runs) for a copy.
  /// - Parameter pipeline: whose exports count; nil for all.
  private func movedOrCopied(
    _ path: String, _ stamp: FileStamp, of pipeline: String? = nil
  ) throws(SpoolError) -> KnownFileTables.Export? {
    let exports = try withDatabase { (database) throws(SpoolError) in
      try KnownFileTables.exports(sized: stamp.byteCount, in: &database)
    }.filter {
      $0.path != path && $0.path.pathNames.last == path.pathNames.last
        && (pipeline == nil || pipeline == $0.published.pipeline)
    }
    if let moved = exports.first(where: { $0.hasStamp(stamp) }) { return moved }
    guard !exports.isEmpty, let digest = try? digest(ofFile: path) else { return nil }
    let mentioning = try runs.mentioning([digest])
    // A text that a run has read is the user's own, although Spool may write it in the same way.
    if mentioning.contains(where: { $0.hasRead(text: digest) }) { return nil }
    let published = mentioning.flatMap(\.published).filter { $0.digest == digest }
    let paths = Set(published.map { FilePath.absolute($0.path) })
    // Of equal files under one name, as in the folders of copies, it is the one whose folders are called
    // alike.
    return exports.filter { paths.contains($0.path) || holds($0, digest) }.max {
      path.commonEnding(with: $0.path) < path.commonEnding(with: $1.path)
    }
  }

  /// Whether an export lies where it was published, with these bytes: the record of a run that found it
  /// there may not know them.
  private func holds(_ export: KnownFileTables.Export, _ digest: Digest) -> Bool {
    guard let stamp = try? FileStamp(at: export.path), export.hasStamp(stamp) else { return false }
    return (try? self.digest(ofFile: export.path)) == digest
  }

  /// What a file was published as if it is a copy of a pipeline's export, although it was taken for one
  /// of another pipeline's, which has equal bytes; nil if the other one has made this very file.
  private func copy(
    at path: String, of pipeline: String, not other: String
  ) throws(SpoolError) -> KnownFileTables.Published? {
    guard let stamp = try? FileStamp(at: path),
      try !runs.publishing(path).contains(where: { $0.pipeline == other }),
      let found = try movedOrCopied(path, stamp, of: pipeline)
    else { return nil }
    let published = found.published(movedTo: path)
    try withDeferringDatabase(to: "record a published file in") { (database) throws(SpoolError) in
      try KnownFileTables.adopt(published, at: path, stamp: stamp, in: &database)
    }
    return published
  }

  /// Marks a file as published again, if it is no link and holds these bytes.
  package func recognize(_ path: String, holding digest: Digest) throws(SpoolError) -> Bool {
    let path = FilePath.absolute(path)
    guard let stamp = try? FileStamp(at: path), stamp.isRegularFile,
      try self.digest(ofFile: path) == digest, (try? FileStamp(at: path)) == stamp
    else { return false }
    try withDatabase { (database) throws(SpoolError) in
      try KnownFileTables.recognize(digest, at: path, stamp: stamp, in: &database)
    }
    return true
  }

  /// Copies a file's bytes: by a shared extent, else inside the kernel, else by read and write.
  /// Overwrites `destination`; removes it if the copy fails. Does not flush.
  package func copyFile(from source: String, to destination: String) throws(SpoolError) {
    try files.copyFile(from: source, to: destination)
  }
}

extension String {
  /// How many names at the ends of two paths are the same. O(names).
  fileprivate func commonEnding(with other: String) -> Int {
    zip(pathNames.reversed(), other.pathNames.reversed()).prefix { $0 == $1 }.count
  }
}

extension RunRecord {
  /// Whether it took a text with these bytes.
  fileprivate func hasRead(text digest: Digest) -> Bool {
    guard let soundInputs else { return false }
    return recordings?.contains { $0.value == digest && !soundInputs.contains($0.key) } == true
  }
}

/// An output that was made again after damage and differs from the original.
struct ReproducedOutput: Hashable, Sendable {
  let kind: String
  let port: PortName
  let before: Digest
  let now: Digest
  /// Whether the older one may have been made of damaged bytes.
  let wasSuspect: Bool

  var line: String {
    let what = "\(kind) gave other bytes at its output \(port) than before"
    let digests = "(\(now.short) instead of \(before.short))"
    return wasSuspect
      ? "\(what) \(digests): what was there had been made from a damaged artifact"
      : "\(what) \(digests), although nothing that decides on them has changed: one of the two is "
        + "wrong, and \(command: .check) tells whether the store is"
  }
}

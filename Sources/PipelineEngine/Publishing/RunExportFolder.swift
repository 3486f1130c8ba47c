import Glibc
package import PipelineModel
package import Platform

/// A run's view of the user's folder. Its own folder, if it has one, is created for the first file,
/// and unsealed before any of them changes, so that a seal is never on an incomplete folder.
struct RunExportFolder: ExportFolder {
  let base: any ExportFolder
  /// The path of the seal of the run's own folder; nil for the output folder.
  var seal: String?
  /// Whether nothing is written, for forecasts.
  var isRehearsal = false

  func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity?, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Int {
    if isRehearsal { return 0 }
    if let seal {
      try base.makeFolder(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
      if path != seal { try base.withdraw(seal, isReplacing: isReplacing) }
    }
    return try base.publish(
      content, at: path, of: recording, isReplacing: isReplacing, write: write)
  }

  func makeFolder(_ path: String) throws(SpoolError) {
    if !isRehearsal { try base.makeFolder(path) }
  }

  func withdraw(_ path: String, isReplacing: Bool) throws(SpoolError) {
    if !isRehearsal { try base.withdraw(path, isReplacing: isReplacing) }
  }

  func copyFile(from source: String, to destination: String) throws(SpoolError) {
    if !isRehearsal { try base.copyFile(from: source, to: destination) }
  }

  func digest(ofFile path: String) throws(SpoolError) -> Digest { try base.digest(ofFile: path) }

  func isPublished(_ content: Digest, at path: String) throws(SpoolError) -> Bool {
    try base.isPublished(content, at: path)
  }

  func recording(ofPublished path: String) throws(SpoolError) -> RecordingIdentity? {
    try base.recording(ofPublished: path)
  }

  func byteCount(ofPublished path: String) -> Int? { base.byteCount(ofPublished: path) }

  func recognize(_ path: String, holding digest: Digest) throws(SpoolError) -> Bool {
    try base.recognize(path, holding: digest)
  }

  func isSameFile(_ path: String, _ other: String) -> Bool { base.isSameFile(path, other) }

  func sharesDisk(with folder: String) -> Bool { base.sharesDisk(with: folder) }

  func freeByteCount(at folder: String) throws(SpoolError) -> Int {
    try base.freeByteCount(at: folder)
  }
}

extension ExportFolder {
  /// Whether a path holds anything but what was published there or the bytes of this digest: it
  /// must not be replaced. O(bytes) for an unknown file.
  package func isForeign(_ path: String, to digest: Digest) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, byteCount(ofPublished: path) == nil else {
      return false
    }
    return status.st_mode & S_IFMT != S_IFREG || (try? self.digest(ofFile: path)) != digest
  }

  /// Publishes a file to the user's folder, unless the same is already there.
  /// - Parameters:
  ///   - content: the identity of the content, independent of who writes it and when.
  ///   - digest: of the file's bytes, if known.
  ///   - write: writes the file at a path beside its final one, and returns its digest if known.
  package func deliver(
    _ content: Digest, digest: Digest?, to path: String, of recording: RecordingIdentity?,
    step: StepID, isReplacing: Bool, write: (String) throws(SpoolError) -> Digest?
  ) throws(SpoolError) -> PublishedFile {
    if try isPublished(content, at: path), let byteCount = byteCount(ofPublished: path) {
      return PublishedFile(
        path: path, byteCount: byteCount, step: step, wasThere: true, digest: digest)
    }
    var written = digest
    let byteCount = try publish(
      content, at: path, of: recording, isReplacing: isReplacing
    ) { (temporary) throws(SpoolError) in written = try write(temporary) ?? digest }
    return PublishedFile(
      path: path, byteCount: byteCount, step: step, wasThere: false, digest: written)
  }
}

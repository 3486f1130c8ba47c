import Glibc
package import PipelineModel
package import Platform

/// A decorator that forwards to `exportFolder` whatever it does not override.
protocol ExportFolderLayer: ExportFolder {
  var exportFolder: any ExportFolder { get }
}

extension ExportFolderLayer {
  func digest(ofFile path: String) throws(SpoolError) -> Digest {
    try exportFolder.digest(ofFile: path)
  }

  func isPublished(_ content: Digest, at path: String) throws(SpoolError) -> Bool {
    try exportFolder.isPublished(content, at: path)
  }

  func recording(ofPublished path: String) throws(SpoolError) -> RecordingIdentity? {
    try exportFolder.recording(ofPublished: path)
  }

  func byteCount(ofPublished path: String) -> Int? { exportFolder.byteCount(ofPublished: path) }

  func recognize(_ path: String, holding digest: Digest) throws(SpoolError) -> Bool {
    try exportFolder.recognize(path, holding: digest)
  }

  func isSameFile(_ path: String, _ other: String) -> Bool { exportFolder.isSameFile(path, other) }

  func sharesDisk(with folder: String) -> Bool { exportFolder.sharesDisk(with: folder) }

  func freeByteCount(at folder: String) throws(SpoolError) -> Int {
    try exportFolder.freeByteCount(at: folder)
  }

  func copyFile(from source: String, to destination: String) throws(SpoolError) {
    try exportFolder.copyFile(from: source, to: destination)
  }

  func makeFolder(_ path: String) throws(SpoolError) { try exportFolder.makeFolder(path) }

  func withdraw(_ path: String, isReplacing: Bool) throws(SpoolError) {
    try exportFolder.withdraw(path, isReplacing: isReplacing)
  }
}

/// An export folder for forecasts: it reads, and writes nothing.
struct DryRunExportFolder: ExportFolderLayer {
  let exportFolder: any ExportFolder

  init(_ exportFolder: any ExportFolder) { self.exportFolder = exportFolder }

  func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity?, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(SpoolError) -> Void
  ) -> Int { 0 }

  func makeFolder(_ path: String) {}

  func withdraw(_ path: String, isReplacing: Bool) {}

  func copyFile(from source: String, to destination: String) {}
}

/// An export folder for files in a folder of their own: created for the first file, and unsealed
/// before any of them changes, so that a seal is never on an incomplete folder.
struct EnclosedExportFolder: ExportFolderLayer {
  let exportFolder: any ExportFolder
  private let seal: String

  /// - Parameter seal: the path of the seal.
  init(_ exportFolder: any ExportFolder, seal: String) {
    self.exportFolder = exportFolder
    self.seal = seal
  }

  func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity?, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Int {
    try exportFolder.makeFolder(Self.folder(of: path))
    if path != seal { try exportFolder.withdraw(seal, isReplacing: isReplacing) }
    return try exportFolder.publish(
      content, at: path, of: recording, isReplacing: isReplacing, write: write)
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
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

/// An input file of a run, as its record names it.
package struct GivenFile: Hashable, Sendable {
  package let path: String
  /// The SHA-256 of its bytes.
  package let digest: Digest
}

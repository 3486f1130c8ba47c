import Hashing
import PipelineModel

/// Custody of files that go into a folder of their own: it is made when the first comes, and its
/// seal is taken off before any of them changes, so that it is never on a folder that is not whole.
struct EnclosedCustody: FileCustody {
  private let custody: any FileCustody
  private let seal: String

  /// - Parameter seal: the path of the seal.
  init(_ custody: any FileCustody, seal: String) {
    self.custody = custody
    self.seal = seal
  }

  func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity?, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(StageError) -> Void
  ) throws(StageError) -> Int {
    do throws(StoreError) {
      try custody.makeFolder(Self.folder(of: path))
      if path != seal { try custody.withdraw(seal, isReplacing: isReplacing) }
    } catch {
      throw StageError(error)
    }
    return try custody.publish(
      content, at: path, of: recording, isReplacing: isReplacing, write: write)
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  func digest(ofFile path: String) throws(StoreError) -> Digest {
    try custody.digest(ofFile: path)
  }

  func isPublished(_ content: Digest, at path: String) throws(StoreError) -> Bool {
    try custody.isPublished(content, at: path)
  }

  func recording(ofPublished path: String) throws(StoreError) -> RecordingIdentity? {
    try custody.recording(ofPublished: path)
  }

  func byteCount(ofPublished path: String) -> Int? { custody.byteCount(ofPublished: path) }

  func isSameFile(_ path: String, _ other: String) -> Bool { custody.isSameFile(path, other) }

  func sharesDisk(with folder: String) -> Bool { custody.sharesDisk(with: folder) }

  func freeByteCount(at folder: String) throws(StoreError) -> Int {
    try custody.freeByteCount(at: folder)
  }

  func copyFile(from source: String, to destination: String) throws(StoreError) {
    try custody.copyFile(from: source, to: destination)
  }

  func makeFolder(_ path: String) throws(StoreError) { try custody.makeFolder(path) }

  func withdraw(_ path: String, isReplacing: Bool) throws(StoreError) {
    try custody.withdraw(path, isReplacing: isReplacing)
  }
}

import Hashing
import PipelineModel

/// Stands in for a user's folder when a run only asks what it would put there: looks at what is
/// there, and writes nothing.
struct RehearsedCustody: FileCustody {
  private let custody: any FileCustody

  init(_ custody: any FileCustody) { self.custody = custody }

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

  func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity?, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(StageError) -> Void
  ) -> Int { 0 }

  func isSameFile(_ path: String, _ other: String) -> Bool { custody.isSameFile(path, other) }

  func sharesDisk(with folder: String) -> Bool { custody.sharesDisk(with: folder) }

  func freeByteCount(at folder: String) throws(StoreError) -> Int {
    try custody.freeByteCount(at: folder)
  }

  func makeFolder(_ path: String) {}

  func withdraw(_ path: String, isReplacing: Bool) {}

  func copyFile(from source: String, to destination: String) {}
}

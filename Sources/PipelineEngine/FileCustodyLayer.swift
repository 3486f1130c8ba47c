import Hashing
import PipelineModel

/// Custody that does as another one does, but for what it does in its own way.
protocol FileCustodyLayer: FileCustody {
  /// The one below.
  var custody: any FileCustody { get }
}

extension FileCustodyLayer {
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

  func recognize(_ path: String, holding digest: Digest) throws(StoreError) -> Bool {
    try custody.recognize(path, holding: digest)
  }

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

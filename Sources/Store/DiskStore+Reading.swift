import Glibc
public import PipelineModel

extension DiskStore {
  /// The longest artifact that is read as text.
  private static let longestText = 1 << 20

  /// The text of a small artifact; throws for one over 1 MiB.
  public func text(of artifact: Artifact) throws(StoreError) -> String {
    let path = try path(of: artifact)
    guard artifact.byteCount <= Self.longestText else {
      throw StoreError("read as text", path: path, reason: "it is \(artifact.byteCount) bytes long")
    }
    do throws(SystemError) {
      let file = try files.open(path, O_RDONLY)
      var bytes = [UInt8](repeating: 0, count: artifact.byteCount)
      let count = bytes.isEmpty ? 0 : try files.read(into: &bytes, from: file, at: 0)
      return String(decoding: bytes[..<count], as: UTF8.self)
    } catch {
      throw StoreError("read the artifact", path: path, error)
    }
  }

  /// Whether two paths lead to one file, by whatever names.
  public func isSameFile(_ path: String, _ other: String) -> Bool {
    var first = stat()
    var second = stat()
    guard unsafe stat(path, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// Whether the store and `folder` lie on one file system.
  public func sharesDisk(with folder: String) -> Bool {
    var own = stat()
    var other = stat()
    return unsafe stat(path, &own) == 0 && stat(folder, &other) == 0 && own.st_dev == other.st_dev
  }

  /// Bytes free for files in a user's folder.
  public func freeByteCount(at folder: String) throws(StoreError) -> Int {
    try Self.freeByteCount(inFolder: folder)
  }
}

import Hashing
import PipelineModel

/// Custody of files that go into a folder of their own: it is made when the first comes, and its
/// seal is taken off before any of them changes, so that it is never on a folder that is not whole.
struct EnclosedCustody: FileCustodyLayer {
  let custody: any FileCustody
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
}

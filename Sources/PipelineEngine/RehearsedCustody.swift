import Hashing
import PipelineModel

/// Stands in for a user's folder when a run only asks what it would put there: looks at what is
/// there, and writes nothing.
struct RehearsedCustody: FileCustodyLayer {
  let custody: any FileCustody

  init(_ custody: any FileCustody) { self.custody = custody }

  func publish(
    _ content: Digest, at path: String, of recording: RecordingIdentity?, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(StageError) -> Void
  ) -> Int { 0 }

  func makeFolder(_ path: String) {}

  func withdraw(_ path: String, isReplacing: Bool) {}

  func copyFile(from source: String, to destination: String) {}
}

import Glibc
import Hashing
import PipelineModel

extension FileCustody {
  /// Whether something is at a path that is neither what was published there nor the bytes of
  /// this digest: what is to be put there may not take its place. O(bytes) where it is unknown.
  func isForeign(_ path: String, to digest: Digest) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, byteCount(ofPublished: path) == nil else {
      return false
    }
    return status.st_mode & S_IFMT != S_IFREG || (try? self.digest(ofFile: path)) != digest
  }

  /// Puts a file into the user's folder, unless the very same is there already.
  /// - Parameters:
  ///   - content: the identity of what is written, whoever writes it when.
  ///   - digest: of the file's bytes, where it is known.
  ///   - write: writes the file at a path beside its place, and gives its digest where that is known.
  func deliver(
    _ content: Digest, digest: Digest?, to path: String, of recording: RecordingIdentity?,
    step: StepID, isReplacing: Bool, write: (String) throws(StageError) -> Digest?
  ) throws(StageError) -> PublishedFile {
    do throws(StoreError) {
      if try isPublished(content, at: path), let byteCount = byteCount(ofPublished: path) {
        return PublishedFile(
          path: path, byteCount: byteCount, step: step, wasThere: true, digest: digest)
      }
    } catch {
      throw StageError(error)
    }
    var written = digest
    let byteCount = try publish(
      content, at: path, of: recording, isReplacing: isReplacing
    ) { (temporary) throws(StageError) in written = try write(temporary) ?? digest }
    return PublishedFile(
      path: path, byteCount: byteCount, step: step, wasThere: false, digest: written)
  }
}

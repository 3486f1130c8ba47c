import Glibc
import PipelineModel
import Synchronization

/// The tags of the recording whose files are published, read once and before the encoders begin:
/// files are published while others are still encoded, and reading the tags of a long recording
/// takes libavformat's whole table of its packets, which is more than encoders need.
final class RecordingTags: Sendable {
  private struct Known {
    let path: String
    let size: Int
    let changedAt: (Int, Int)
    let tags: ExportTags
  }

  private let known = Mutex<Known?>(nil)

  /// What the recording at `path` says about itself; nothing where there is none.
  func of(_ path: String?) throws(StageError) -> ExportTags {
    guard let path else { return ExportTags() }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return try ExportTags(ofRecording: path) }
    let changedAt = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
    let same = known.withLock { known in
      known.flatMap {
        $0.path == path && $0.size == Int(status.st_size) && $0.changedAt == changedAt
          ? $0.tags : nil
      }
    }
    if let same { return same }
    let tags = try ExportTags(ofRecording: path)
    known.withLock {
      $0 = Known(path: path, size: Int(status.st_size), changedAt: changedAt, tags: tags)
    }
    return tags
  }
}

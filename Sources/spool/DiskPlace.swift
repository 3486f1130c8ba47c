import Glibc
import PipelineModel
import Store

/// The disk that a folder lies on, or will lie on: one that is not there yet will be where the
/// nearest folder above it is.
struct DiskPlace {
  private let device: dev_t
  /// Bytes that are free there; 0 where that cannot be told.
  let freeByteCount: Int

  /// Looks at the disk of an absolute path.
  init(of path: String) {
    var path = path
    var status = stat()
    while unsafe stat(path, &status) != 0, path.count > 1 {
      path = "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    }
    device = status.st_dev
    freeByteCount = (try? DiskStore.freeByteCount(inFolder: path)) ?? 0
  }

  /// Whether both take room from each other.
  func isShared(with other: DiskPlace) -> Bool { device == other.device }
}

import Sidecars
import Glibc
import PipelineModel

/// The folders below the output folder.
struct OutputTree: Sendable {
  let root: String

  /// Makes sure that there is a folder at a path below the root; each new one's name is flushed. A
  /// link among them is the user's own, and followed.
  /// - Returns: its absolute path.
  func makeFolder(_ path: String) throws(StageError) -> String {
    var current = root
    for name in path.split(separator: "/") {
      let parent = current
      current = PathText.join(current, String(name))
      if unsafe mkdir(current, 0o777) == 0 {
        try flush(parent)
      } else if errno != EEXIST {
        throw failure("make the folder", current)
      }
      var status = stat()
      guard unsafe stat(current, &status) == 0 else { throw failure("use the folder", current) }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw StageError(
          "cannot use the folder \(current)", reason: "there is a file of that name",
          advice: "move it away, or choose another folder with --out", cause: .environment)
      }
    }
    return current
  }

  private func flush(_ folder: String) throws(StageError) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("open", folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("flush", folder) }
  }

  private func failure(_ action: String, _ path: String) -> StageError {
    let isFull = errno == ENOSPC || errno == EDQUOT
    return StageError(
      "cannot \(action) \(path)", reason: unsafe String(cString: strerror(errno)).lowercased(),
      advice: isFull
        ? "free some space" : "make it writable, or choose another folder with --out",
      cause: isFull ? .fullDisk : .environment)
  }
}

import Glibc
import PipelineModel

/// The user's folder of recordings.
enum RecordingFolder {
  /// The path of a folder without links in it, so that it has one name.
  static func resolve(_ path: String, console: Console) throws(Workbench.Refusal) -> String {
    guard let resolved = unsafe realpath(path, nil) else {
      throw refusal(
        "cannot read the folder \(path)",
        reason: unsafe String(cString: strerror(errno)).lowercased(), console)
    }
    defer { unsafe free(resolved) }
    var status = stat()
    guard unsafe stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw refusal("\(path) is not a folder", reason: "it is a file", console)
    }
    return unsafe String(cString: resolved)
  }

  private static func refusal(
    _ message: String, reason: String, _ console: Console
  ) -> Workbench.Refusal {
    Workbench.Refusal(
      text: ErrorText(
        StageError(
          message, reason: reason, advice: "name a folder of recordings; one file goes to spool run"
        )
      ).render(console), code: .usage)
  }
}

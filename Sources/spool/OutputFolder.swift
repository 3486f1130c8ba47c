import Glibc
import PipelineModel

/// The user's folder for exports.
enum OutputFolder {
  /// Makes sure that files can be put into `path`, so that hours of work do not end at a folder
  /// that cannot take the result. The folder itself is made; one above it that is missing is more
  /// likely a mistake, and is not.
  static func prepare(_ path: String, console: Console) throws(Workbench.Refusal) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    if unsafe mkdir(path, 0o755) != 0, errno != EEXIST { throw cannotMake(path, console) }
    try checkTakesFiles(path, console)
    // One folder, one name: whether a file is still the one that was published goes by its path.
    return ResolvedPath.of(path)
  }

  /// Whether `prepare` would succeed, without making anything.
  static func check(_ path: String, console: Console) throws(Workbench.Refusal) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    if unsafe access(path, F_OK) == 0 { return try checkTakesFiles(path, console) }
    guard errno == ENOENT else { throw cannotMake(path, console) }
    let above = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    guard unsafe access(above.isEmpty ? "/" : above, W_OK | X_OK) == 0 else {
      throw cannotMake(path, console)
    }
  }

  private static func cannotMake(_ path: String, _ console: Console) -> Workbench.Refusal {
    let advice =
      errno == ENOENT
      ? "make the folder above it, or choose another with --out" : "choose another with --out"
    return refusal("cannot make the output folder \(path)", advice: advice, console)
  }

  private static func checkTakesFiles(
    _ path: String, _ console: Console
  ) throws(Workbench.Refusal) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw refusal(
        "the output folder \(path) is not a folder", reason: "there is a file of that name",
        advice: "choose another with --out", console)
    }
    guard unsafe access(path, W_OK | X_OK) == 0 else {
      throw refusal(
        "cannot write into the output folder \(path)",
        advice: "make it writable, or choose another with --out", console)
    }
  }

  private static func refusal(
    _ message: String, reason: String = unsafe String(cString: strerror(errno)), advice: String,
    _ console: Console
  ) -> Workbench.Refusal {
    Workbench.Refusal(
      text: ErrorText(
        StageError(message, reason: reason, advice: advice, cause: .environment)
      ).render(console), code: .failed)
  }
}

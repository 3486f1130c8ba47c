internal import Glibc
internal import PipelineModel

/// The output folder, in which exports lie as their recordings lay in the inbox.
enum OutputTree {
  /// Makes the folders beneath `root` that are missing.
  /// - Parameter names: harmless names, the outermost first.
  /// - Returns: the innermost folder.
  static func make(_ names: [String], in root: String) throws(StageError) -> String {
    var path = root
    for name in names {
      path += "/" + name
      guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else {
        throw StageError(
          "cannot make the folder \(path)", reason: unsafe String(cString: strerror(errno)),
          advice: "see to it that \(root) can be written to",
          cause: errno == ENOSPC ? .fullDisk : .environment)
      }
    }
    return path
  }
}

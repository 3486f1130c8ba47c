import FoundationEssentials
import Glibc
import PipelineModel

extension Plugin {
  /// The word that stands before a library on the command line of Spool's own program.
  public static let hostingWord = "host-native"

  /// What is started in a process of its own: the plugin's program, or Spool's own with the library.
  func start(launcher: String) throws(StageError) -> (program: String, arguments: [String]) {
    let path = try program()
    return manifest.library == nil
      ? (path, arguments) : (launcher, [Self.hostingWord, path])
  }

  /// Where the library lies. One that is not there was probably not built yet.
  func path(ofLibrary library: String) throws(StageError) -> String {
    let path = library.hasPrefix("/") ? library : "\(folder)/\(library.trimmingDotSlash)"
    guard FileManager.default.fileExists(atPath: path) else {
      let recipe = "\(folder)/build.sh"
      throw StageError(
        "the plugin \(title) cannot be started", reason: "\(path) is not there",
        advice: FileManager.default.fileExists(atPath: recipe)
          ? "build it: sh \(ShellWords.line([recipe]))"
          : "build or install the plugin; spool plugin check \(ShellWords.line([folder]))",
        cause: .environment)
    }
    guard Self.isPlainFile(path) else {
      throw StageError(
        "the plugin \(title) cannot be started", reason: "its library \(path) is no plain file",
        advice: "put the library itself there, or a link to it", cause: .environment)
    }
    return path
  }

  /// Whether a file, or what a link leads to, has an end: a pipe or a device would keep who reads it.
  static func isPlainFile(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}

extension String {
  /// Without a `./` at its beginning.
  fileprivate var trimmingDotSlash: String { hasPrefix("./") ? String(dropFirst(2)) : self }
}

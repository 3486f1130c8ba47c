import FoundationEssentials
import Glibc
public import PipelineModel

/// A new folder for one piece of a plugin's work, which nobody else can look into. It goes, with all
/// that is in it, when it is removed or nobody refers to it any more.
public final class PrivateFolder: Sendable {
  /// The folder, an absolute path.
  public let path: String

  /// Makes one in `TMPDIR`, or else in `/tmp`.
  /// - Parameters:
  ///   - name: what its name begins with.
  ///   - user: what it is for, for people: `the plugin softclip 1.0.0`.
  public init(_ name: String = "spool-plugin", for user: String) throws(StageError) {
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(base)/\(name)-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else {
      throw StageError(
        "cannot make a folder for \(user) in \(base)",
        reason: unsafe String(cString: strerror(errno)),
        advice: "make room in \(base), or set TMPDIR", cause: .environment)
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { remove() }

  /// The path of a file in it.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Makes a folder in it.
  /// - Returns: its path.
  public func makeFolder(_ name: String) throws(StageError) -> String {
    let inner = file(name)
    guard unsafe mkdir(inner, 0o700) == 0 else {
      throw StageError(
        "cannot make the folder \(inner)", reason: unsafe String(cString: strerror(errno)),
        advice: "make room there, or set TMPDIR", cause: .environment)
    }
    return inner
  }

  /// Removes it.
  public func remove() { try? FileManager.default.removeItem(atPath: path) }
}

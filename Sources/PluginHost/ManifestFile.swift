import FoundationEssentials
import Glibc
import PipelineModel

/// The file that makes a folder a plugin's: `plugin.yaml`, whatever may lie there under that name.
enum ManifestFile {
  /// The file's name.
  static let name = "plugin.yaml"
  /// Bytes of one. No manifest for people comes near that.
  private static let most = 1 << 20

  /// Whether anything lies there under that name.
  static func isThere(in folder: String) -> Bool {
    var status = stat()
    return unsafe lstat("\(folder)/\(name)", &status) == 0
  }

  /// The text; where it cannot be had, the reason. Of what has no end nothing is read.
  static func text(in folder: String) -> Result<String, Flaw> {
    let path = "\(folder)/\(name)"
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      let isLink = errno == ENOENT
      return .failure(
        Flaw(isLink ? "it is a link to what is not there" : unsafe String(cString: strerror(errno)))
      )
    }
    // Of what lies elsewhere nothing is read, and nothing is shown among its problems.
    let (real, home) = (ProgramPrefix.real(path), ProgramPrefix.real(folder))
    guard real.hasPrefix("\(home)/") else {
      return .failure(Flaw("it is a link that leads out of the plugin's folder"))
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: return .failure(Flaw("it is a folder"))
    case S_IFIFO: return .failure(Flaw("it is a pipe"))
    default: return .failure(Flaw("it is no plain file"))
    }
    guard status.st_size <= most else {
      return .failure(Flaw("it has more than \(most >> 20) MB"))
    }
    guard let bytes = FileManager.default.contents(atPath: path) else {
      return .failure(Flaw("it cannot be read"))
    }
    return .success(String(decoding: bytes, as: UTF8.self))
  }

  /// Why a manifest cannot be had.
  struct Flaw: Error {
    let problem: Problem

    init(_ reason: String) {
      problem = Problem(
        at: nil, "plugin.yaml is no manifest: \(reason)", allowed: "a text file of YAML")
    }
  }
}

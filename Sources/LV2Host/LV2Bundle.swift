import FoundationEssentials
import Glibc

/// A folder of LV2 plugins and their descriptions, before liblilv reads them: it would wait for ever at
/// a pipe, and read a device for ever.
struct LV2Bundle {
  /// The folder, an absolute path.
  let path: String
  /// Why its plugins cannot be used; nil where nothing is known against them.
  let flaw: String?

  /// Bytes of a description. The longest of known plugins have a hundredth of that.
  private static let most = 32 << 20

  /// The bundles in a folder, in the order of their names. O(files of the bundles).
  static func all(in folder: String) -> [LV2Bundle] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
      .filter { !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }
      .filter { unsafe access("\($0)/manifest.ttl", F_OK) == 0 }.map { LV2Bundle($0) }
  }

  private init(_ path: String) {
    self.path = path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let texts = names.filter { $0.hasSuffix(".ttl") }.sorted()
    flaw =
      texts.lazy.compactMap { name in
        Self.flaw(of: "\(path)/\(name)").map { "its \(name) \($0)" }
      }.first
  }

  private static func flaw(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      return "cannot be read: \(unsafe String(cString: strerror(errno)))"
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return "is no plain file" }
    guard status.st_size <= most else { return "has more than \(most >> 20) MB" }
    guard unsafe access(path, R_OK) == 0 else {
      return "cannot be read: \(unsafe String(cString: strerror(errno)))"
    }
    return nil
  }
}

import CLilvLoader
import FoundationEssentials
import Glibc
import PluginWorker

/// A library of LADSPA plugins. Opening it runs its code.
@safe struct LADSPALibrary {
  /// Its path.
  let path: String
  /// What pipelines call it: its file's name without `.so`.
  let name: String
  private let find: LADSPA_Descriptor_Function

  /// Opens a library.
  /// - Throws: where it cannot be opened, or is no plain file: a pipe or a device would keep who opens it.
  init(_ path: String) throws(EffectError) {
    var status = stat()
    guard unsafe stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw EffectError(
        "cannot open \(path)", reason: "it is no plain file",
        advice: "put the library itself there, or a link to it")
    }
    var reason = [CChar](repeating: 0, count: 512)
    guard let found = unsafe spool_ladspa_open(path, &reason, reason.count) else {
      throw EffectError("cannot open \(path)", reason: CText.text(reason))
    }
    self.path = path
    name = String((path.split(separator: "/").last ?? "").dropLast(3))
    unsafe find = unsafe found
  }

  /// Where a library lies: `cmt`, `cmt.so` or an absolute path.
  static func path(of library: String, in folders: [String]) -> String? {
    let file = library.hasSuffix(".so") ? library : "\(library).so"
    let paths = library.hasPrefix("/") ? [file] : folders.map { "\($0)/\(file)" }
    return paths.first { FileManager.default.fileExists(atPath: $0) }
  }

  /// The paths of all libraries.
  static func paths(in folders: [String]) -> [String] {
    folders.flatMap { folder in
      ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        .filter { $0.hasSuffix(".so") }.sorted().map { "\(folder)/\($0)" }
    }
  }

  /// Its plugins, in its own order. O(plugins).
  /// - Throws: where there is no end of them.
  func descriptors() throws(EffectError) -> [UnsafePointer<LADSPA_Descriptor>] {
    var found: [UnsafePointer<LADSPA_Descriptor>] = unsafe []
    while let next = unsafe find(UInt(found.count)) {
      unsafe found.append(next)
      guard unsafe found.count <= Self.most else {
        throw EffectError(
          "cannot use \(path)", reason: "it has more than \(Self.most) plugins, or no end of them")
      }
    }
    return unsafe found
  }

  /// No library has so many plugins.
  private static let most = 10_000

  /// Why a library cannot be had that was named by its path.
  static func absence(of name: String) -> EffectError {
    let path = name.hasSuffix(".so") ? name : "\(name).so"
    let reason =
      unsafe access(path, F_OK) == 0 ? "it is a folder" : unsafe String(cString: strerror(errno))
    return EffectError(
      "cannot open \(path)", reason: reason,
      advice: "name the library's file, and its label behind :")
  }

  /// A library's text; empty where it has none.
  static func text(_ text: UnsafePointer<CChar>?) -> String {
    unsafe text.map { unsafe String(cString: $0) } ?? ""
  }
}

import FoundationEssentials
import Glibc
import PipelineModel
import Platform
import Plugins
import SoundEngine
import Synchronization

/// Files that a step's parameters name. Their contents stand in its key, wherever they lie, and are read
/// once for each step.
final class FileDigests: Sendable {
  /// The paths, by parameter.
  let paths: [String: String]
  private let known = Mutex<[String: String]?>(nil)

  /// The programs that are named, by parameter, as they are called. They count as files, too.
  private let programs: [String: String]

  /// The plugin whose manifest names some of them, and how.
  private let plugin: Plugin?
  private let defaults: [String: String]

  /// - Parameters:
  ///   - paths: files and folders, by parameter.
  ///   - programs: programs, by parameter, as they are called.
  ///   - plugin: the plugin whose parameters these are.
  ///   - defaults: what its manifest itself says, by parameter.
  init(
    _ paths: [String: String], programs: [String: String] = [:], of plugin: Plugin? = nil,
    defaults: [String: String] = [:]
  ) {
    self.plugin = plugin
    self.defaults = defaults
    self.programs = programs
    self.paths = paths.merging(
      programs.mapValues { ConfinedCommand.path(of: $0) ?? $0 }, uniquingKeysWith: { $1 })
  }

  /// Texts for keys, by what `why` calls them.
  var texts: [String: String] {
    known.withLock { known in
      if let known { return known }
      let texts = Dictionary(
        paths.map { ("file \($0.key)", Self.text(of: $0.value)) },
        uniquingKeysWith: { first, _ in first })
      known = texts
      return texts
    }
  }

  /// The digest of a file, or of the names and contents of all in a folder. O(bytes).
  static func text(of path: String) -> String {
    guard let stamp = try? FileStamp(following: path) else { return "not there" }
    var hash = SHA256()
    if stamp.isFolder {
      let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
      for name in names.sorted() {
        guard let stamp = try? FileStamp(following: "\(path)/\(name)"), stamp.isRegularFile
        else { continue }
        hash.update(Array("\(name)\u{0}\(stamp.byteCount)\u{0}".utf8))
        guard feed("\(path)/\(name)", Int(stamp.byteCount), to: &hash) else {
          return "cannot be read"
        }
      }
      return hash.finalize().short
    }
    // Of what has no end, a device or a pipe, nothing is read.
    guard stamp.isRegularFile else { return "no file" }
    return feed(path, Int(stamp.byteCount), to: &hash) ? hash.finalize().short : "cannot be read"
  }

  /// Refuses files that are not there, before a program trips over them.
  /// - Parameter kind: the stage kind, for people.
  func check(for kind: String) throws(SpoolError) {
    if let error = SpoolError.all(
      flaws(for: kind).map { $0.error.located(at: [$0.parameter]) })
    {
      throw error
    }
  }

  /// Programs and files that cannot be used, with the parameters that name them.
  func flaws(for kind: String) -> [(parameter: String, error: SpoolError)] {
    let missing = programs.filter { ConfinedCommand.path(of: $0.value) == nil }
    let lost = missing.map { name, program in
      (
        parameter: name,
        error: SpoolError(
          "\(kind) cannot start \(program)", reason: "there is no such program",
          advice: "install it, and see that it is on PATH, or set another \(name)",
          cause: .environment)
      )
    }
    let unread = paths.filter { missing[$0.key] == nil }.compactMap { name, path in
      flaw(of: path, named: name, for: kind).map { (parameter: name, error: $0) }
    }
    return (lost + unread).sorted { $0.parameter < $1.parameter }
  }

  private func flaw(of path: String, named name: String, for kind: String) -> SpoolError? {
    if let reason = Self.flaw(of: path) {
      return SpoolError(
        "\(kind) cannot read \(path)", reason: reason,
        advice: "check \(name); a path starts from the pipeline's folder", cause: .environment)
    }
    guard let plugin, let text = defaults[name], !plugin.mayOpen(path, named: text) else {
      return nil
    }
    return SpoolError(
      "\(kind) may not read \(path)",
      reason: "only the manifest of \(plugin.title) names it, as the default of \(name), and not "
        + "everybody may read it",
      advice: "set \(name) to another file; or let everybody read this one, if it is no secret",
      cause: .environment)
  }

  /// Why a file, or what is in a folder, cannot be read; nil where nothing is known against it. A pipe
  /// or a device may have no end.
  private static func flaw(of path: String) -> String? {
    if let obstacle = FilePath.obstacle(to: path, R_OK) { return obstacle.words }
    guard let stamp = try? FileStamp(following: path), !stamp.isFolder else { return nil }
    return stamp.complaint.map { "\($0), and no file or folder" }
  }

  private static func feed(_ path: String, _ count: Int, to hash: inout SHA256) -> Bool {
    do throws(SpoolError) {
      let file = try FileReader(path)
      var remaining = count
      while remaining > 0 {
        let piece = try file.read(min(remaining, 1 << 20))
        hash.update(piece)
        remaining -= piece.count
      }
      return true
    } catch { return false }
  }
}

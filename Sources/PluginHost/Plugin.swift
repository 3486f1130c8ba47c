import FoundationEssentials
import Glibc
public import Hashing
public import PipelineModel

/// A plugin as it lies in its folder.
public struct Plugin: Hashable, Sendable {
  /// The folder, an absolute path.
  public let folder: String
  /// What it says of itself.
  public let manifest: PluginManifest
  /// What its user can do where it fails, if it is hosted by Spool itself and has no manifest's file.
  public let advice: String?

  /// Describes a plugin.
  public init(folder: String, manifest: PluginManifest, advice: String? = nil) {
    self.folder = folder
    self.manifest = manifest
    self.advice = advice
  }

  /// For people: `softclip 1.0.0`.
  public var title: String {
    manifest.version.isEmpty ? manifest.name : "\(manifest.name) \(manifest.version)"
  }

  /// As a sentence begins with it: `the plugin softclip 1.0.0`, or what Spool hosts, by its own name.
  var subject: String { advice == nil ? "the plugin \(title)" : title }

  /// The program or the library, as a path.
  public func program() throws(StageError) -> String {
    for program in manifest.needs where Self.find(program) == nil {
      throw missing(program)
    }
    if let library = manifest.library { return try path(ofLibrary: library) }
    let name = manifest.run[0]
    guard name.contains("/") else {
      guard let path = Self.find(name) else { throw missing(name) }
      return path
    }
    let path = path(ofFile: name)
    guard FileManager.default.isExecutableFile(atPath: path) else {
      let isThere = FileManager.default.fileExists(atPath: path)
      throw StageError(
        "\(subject) cannot be started",
        reason: isThere ? "\(path) is not executable" : "\(path) is not there",
        advice: isThere
          ? "chmod +x \(ShellWords.line([path]))"
          : "build or install the plugin; spool plugin check \(ShellWords.line([folder]))",
        cause: .environment)
    }
    return path
  }

  /// The first program or file that it cannot do without and that is not there; nil where all are.
  /// O(what the manifest names).
  public var missing: String? {
    let files = FileManager.default
    if let program = manifest.needs.first(where: { Self.find($0) == nil }) { return program }
    if let library = manifest.library, (try? path(ofLibrary: library)) == nil { return library }
    if let name = manifest.run.first {
      guard name.contains("/") else { return Self.find(name) == nil ? name : scriptMissing }
      let path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
      if !files.isExecutableFile(atPath: path) { return name }
      if let line = ScriptLine(of: path), line.program == nil { return line.named }
    }
    return scriptMissing
  }

  private var scriptMissing: String? {
    manifest.run.dropFirst().first { word in
      word.hasPrefix("./")
        && !FileManager.default.fileExists(atPath: "\(folder)/\(word.dropFirst(2))")
    }
  }

  /// The arguments of the program: where one begins with `./`, it starts from the plugin's folder.
  public var arguments: [String] {
    manifest.run.dropFirst().map { $0.hasPrefix("./") ? "\(folder)/\($0.dropFirst(2))" : $0 }
  }

  /// Where a file lies that the manifest names.
  func path(ofFile name: String) -> String { name.hasPrefix("/") ? name : "\(folder)/\(name)" }

  /// Whether a path that is meant from a plugin's folder leads out of it by its words: links are
  /// followed, since what they lead to is part of the plugin's digest. O(n).
  static func leadsOut(_ path: String) -> Bool {
    guard !path.hasPrefix("/") else { return true }
    var depth = 0
    for part in path.split(separator: "/") where part != "." {
      depth += part == ".." ? -1 : 1
      if depth < 0 { return true }
    }
    return false
  }

  private func missing(_ program: String) -> StageError {
    StageError(
      "\(subject) cannot be started", reason: "\(program) is not installed",
      advice: "install \(program), and see that it is on PATH", cause: .environment)
  }

  /// Where a program lies on `PATH`.
  public static func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(program)" }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  /// What stands for the plugin in keys: the digest of every plain file in its folder, names and
  /// contents. Caches of Python, hidden files, pages for people and what editors leave behind are not
  /// part of it. O(bytes).
  public func digest() -> Digest {
    var hash = SHA256()
    for name in ownFiles {
      let path = "\(folder)/\(name)"
      guard Self.isPlainFile(path), let bytes = FileManager.default.contents(atPath: path) else {
        continue
      }
      hash.update(Array("\(name)\u{0}\(bytes.count)\u{0}".utf8))
      hash.update(Array(bytes))
    }
    return hash.finalize()
  }

  /// What changes whenever its files do: their names, sizes and times. O(files).
  public var stamp: String {
    ownFiles.map { name in
      var status = stat()
      guard unsafe stat("\(folder)/\(name)", &status) == 0 else { return name }
      let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
      return "\(name)\u{0}\(status.st_size)\u{0}\(time)\u{0}\(status.st_ino)"
    }.joined(separator: "\u{0}")
  }

  private var ownFiles: [String] {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return names.sorted().filter { name in
      !name.split(separator: "/").contains { part in
        part == "__pycache__" || part.hasPrefix(".") || part.hasSuffix("~")
          || part.hasPrefix("#") && part.hasSuffix("#") || part == "README.md"
      }
    }
  }
}

import FoundationEssentials
import Glibc
import PipelineModel
package import Platform

/// An installed plugin.
package struct Plugin: Hashable, Sendable {
  /// The folder's absolute path.
  package let folder: String
  package let manifest: PluginManifest
  /// Advice for the user if it fails; set only for plugins that Spool hosts without a manifest
  /// file.
  package let advice: String?

  package init(folder: String, manifest: PluginManifest, advice: String? = nil) {
    self.folder = folder
    self.manifest = manifest
    self.advice = advice
  }

  /// Name and version: `softclip 1.0.0`.
  package var title: String {
    manifest.version.isEmpty ? manifest.name : "\(manifest.name) \(manifest.version)"
  }

  /// As the subject of a sentence: `the plugin softclip 1.0.0`, or the bare title of a hosted
  /// plugin.
  var subject: String { advice == nil ? "the plugin \(title)" : title }

  /// The path of the program or the library.
  package func program() throws(SpoolError) -> String {
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
      throw SpoolError(
        "\(subject) cannot be started",
        reason: isThere ? "\(path) is not executable" : "\(path) is not there",
        advice: isThere
          ? "chmod +x \(ShellWords.line([path]))"
          : "build or install the plugin; \(command: .pluginCheck) \(ShellWords.line([folder]))",
        cause: .environment)
    }
    return path
  }

  /// The first required program or file that does not exist; nil if all exist. O(manifest entries).
  package var missing: String? {
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

  /// The program's arguments; those that begin with `./` are resolved against the plugin's folder.
  package var arguments: [String] {
    manifest.run.dropFirst().map { $0.hasPrefix("./") ? "\(folder)/\($0.dropFirst(2))" : $0 }
  }

  /// The path of a file that the manifest names.
  func path(ofFile name: String) -> String { name.hasPrefix("/") ? name : "\(folder)/\(name)" }

  /// Whether a relative path leaves the plugin's folder by `..`. Links are allowed, since their
  /// targets are part of the plugin's digest. O(n).
  static func leadsOut(_ path: String) -> Bool {
    guard !path.hasPrefix("/") else { return true }
    var depth = 0
    for part in path.pathNames where part != "." {
      depth += part == ".." ? -1 : 1
      if depth < 0 { return true }
    }
    return false
  }

  private func missing(_ program: String) -> SpoolError {
    SpoolError(
      "\(subject) cannot be started", reason: "\(program) is not installed",
      advice: "install \(program), and see that it is on PATH", cause: .environment)
  }

  /// The path of a program on `PATH`.
  package static func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(program)" }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  /// The plugin's contribution to keys: a digest of the names and contents of all regular files in
  /// its folder, without Python caches, hidden files, documentation and editors' backup files.
  /// O(bytes).
  package func digest() -> Digest {
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

  /// A value that changes with the files' names, sizes or times. O(files).
  package var stamp: String {
    ownFiles.map { name in
      guard let stamp = try? FileStamp(following: "\(folder)/\(name)") else { return name }
      return "\(name)\u{0}\(stamp.byteCount)\u{0}\(stamp.modified)\u{0}\(stamp.inode)"
    }.joined(separator: "\u{0}")
  }

  private var ownFiles: [String] {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return names.sorted().filter { name in
      !name.pathNames.contains { part in
        part == "__pycache__" || part.hasPrefix(".") || part.hasSuffix("~")
          || part.hasPrefix("#") && part.hasSuffix("#") || part == "README.md"
      }
    }
  }

  /// Checks that everything the plugin needs is installed. Starts Python, and nothing else, if
  /// packages are needed.
  /// - Parameter launcher: the program that confines others (Spool's own).
  /// - Throws: what is missing, and how to install it.
  package func checkEquipment(launcher: String) throws(SpoolError) {
    try checkPresence()
    let program = try program()
    if let name = manifest.run.first, manifest.library == nil,
      let flaw = ScriptLine.flaw(of: program, called: name) ?? closedProgram(called: name)
    {
      throw SpoolError(
        "\(subject) cannot be started", reason: flaw.message,
        advice: "it needs \(flaw.allowed); \(command: .pluginCheck) \(ShellWords.line([folder]))",
        cause: .environment)
    }
    if let secret = secrets.first {
      throw SpoolError(
        "\(subject) cannot be started",
        reason: "its manifest wants to read \(secret), of which only root may read anything",
        advice:
          "take it out of limits in its manifest; or let everybody read it, if it is no secret",
        cause: .environment)
    }
    let packages = PythonPackages(of: self)
    let missing = packages.missing(launcher: launcher).map(\.package)
    guard !missing.isEmpty else { return }
    throw SpoolError(
      "\(subject) cannot be started",
      reason: missing.map(packages.reason).joined(separator: "; "),
      advice: missing.map(packages.advice).joined(separator: "; "), cause: .environment)
  }

  /// Whether a file that only the manifest names may be opened. If Spool runs as root, a manifest
  /// must not grant access to files that other users cannot read: the file must be the plugin's own
  /// or world-readable.
  /// - Parameters:
  ///   - path: the resolved path.
  ///   - text: the path in the manifest. A path relative to the pipeline's folder is checked from
  ///     there.
  package func mayOpen(_ path: String, named text: String) -> Bool {
    guard geteuid() == 0 else { return true }
    let (file, own) = (ProgramPrefix.real(path), ProgramPrefix.real(folder))
    let base = text.hasPrefix("/") ? "/" : String(path.dropLast(text.count + 1))
    return file.hasPrefix("\(own)/") || PublicFiles.hold(file, from: ProgramPrefix.real(base))
  }

  /// The paths in `reads` that only root may read.
  var secrets: [String] {
    guard geteuid() == 0 else { return [] }
    return manifest.limits.reads.filter { path in
      FileManager.default.fileExists(atPath: path) && PublicFiles(of: path).isEmpty
    }
  }

  /// A private program that root must not start for this plugin, because only a link in the
  /// plugin's folder or a script's first line names it.
  func closedProgram(called name: String) -> (message: String, allowed: String)? {
    guard geteuid() == 0, name.contains("/") else { return nil }
    let program = path(ofFile: name)
    guard program.hasPrefix("\(folder)/") else { return nil }
    let named = ScriptLine.interpreters(of: program).prefix { !$0.line.isSearched }.map(\.program)
    let closed = ([program] + named).first { path in
      let file = ProgramPrefix.real(path)
      func isOwn(_ path: String) -> Bool { path.hasPrefix("\(folder)/") }
      return !file.hasPrefix("\(ProgramPrefix.real(folder))/")
        && !(PublicFiles.hold(file) && (isOwn(path) || PublicFiles.isReachable(path)))
    }
    guard let closed else { return nil }
    return (
      closed == program
        ? "\(name) leads to \(ProgramPrefix.real(program)), which only root may read"
        : "\(name) wants \(closed), which only root may read",
      "a program that everybody may read, or one that PATH gives: its name in run, or behind "
        + "/usr/bin/env in a first line"
    )
  }

  /// Throws if the manifest is not the one that was read any more: the program would get another
  /// version's parameters.
  func checkManifest() throws(SpoolError) {
    // A hosted plugin has none.
    guard advice == nil, case .success(let text) = ManifestFile.text(in: folder) else { return }
    let now = ManifestText(text).manifest
    if now == manifest { return }
    throw SpoolError(
      now == nil
        ? "\(subject) cannot be read any more" : "\(subject) has another manifest than before",
      reason: now == nil
        ? "the manifest in \(folder) is wrong"
        : "\(folder) was changed since its manifest was read",
      advice: now == nil
        ? "\(command: .pluginCheck) \(ShellWords.line([folder])) shows what"
        : "run it again: the stage is made with the new one", cause: .environment)
  }

  /// Checks that the plugin's own files still exist, for a clearer error than the system's.
  func checkPresence() throws(SpoolError) {
    let files = FileManager.default
    // A hosted plugin has no folder.
    guard advice == nil else { return }
    let manifest = "\(folder)/\(ManifestFile.name)"
    guard files.isReadableFile(atPath: folder), files.isReadableFile(atPath: manifest) else {
      let isThere = files.fileExists(atPath: manifest)
      throw SpoolError(
        "\(subject) " + (isThere ? "cannot be read" : "was removed"),
        reason: isThere
          ? "its folder \(folder) is not readable" : "it lay in \(folder), where no plugin is now",
        advice: isThere ? "allow it to be read" : "put it back, or take it out of the pipeline",
        cause: .transient)
    }
    for word in self.manifest.run.dropFirst() where word.hasPrefix("./") {
      let path = "\(folder)/\(word.dropFirst(2))"
      guard !files.isReadableFile(atPath: path) else { continue }
      let isThere = files.fileExists(atPath: path)
      throw SpoolError(
        "\(subject) cannot be started",
        reason: "\(path) is not \(isThere ? "readable" : "there")",
        advice: isThere
          ? "allow it to be read"
          : "build or install the plugin; \(command: .pluginCheck) \(ShellWords.line([folder]))",
        cause: .transient)
    }
  }

  /// The command word of Spool's own program that hosts a library.
  package static let hostingWord = "host-native"

  /// The program to start: the plugin's own, or Spool's with the library as argument.
  func start(launcher: String) throws(SpoolError) -> (program: String, arguments: [String]) {
    let path = try program()
    return manifest.library == nil
      ? (path, arguments) : (launcher, [Self.hostingWord, path])
  }

  /// Resolves the path of the library. A missing one was probably not built yet.
  func path(ofLibrary library: String) throws(SpoolError) -> String {
    let path = library.hasPrefix("/") ? library : "\(folder)/\(library.trimmingDotSlash)"
    guard FileManager.default.fileExists(atPath: path) else {
      let recipe = "\(folder)/build.sh"
      throw SpoolError(
        "the plugin \(title) cannot be started", reason: "\(path) is not there",
        advice: FileManager.default.fileExists(atPath: recipe)
          ? "build it: sh \(ShellWords.line([recipe]))"
          : "build or install the plugin; \(command: .pluginCheck) \(ShellWords.line([folder]))",
        cause: .environment)
    }
    guard Self.isPlainFile(path) else {
      throw SpoolError(
        "the plugin \(title) cannot be started", reason: "its library \(path) is no plain file",
        advice: "put the library itself there, or a link to it", cause: .environment)
    }
    return path
  }

  /// Whether a file, links followed, is a regular one; a pipe or a device would block its reader.
  static func isPlainFile(_ path: String) -> Bool {
    (try? FileStamp(following: path))?.isRegularFile == true
  }
}

extension String {
  /// The path without a leading `./`.
  fileprivate var trimmingDotSlash: String { hasPrefix("./") ? String(dropFirst(2)) : self }
}

import FoundationEssentials
import Glibc
package import PipelineModel
package import Platform

/// A static inspection of a plugin's folder: errors in the manifest, and what is not installed on
/// this machine.
package struct PluginInspection: Sendable {
  /// The plugin's folder.
  package let folder: String
  /// The manifest's text.
  package let text: String
  /// Nil if the manifest is invalid.
  package let plugin: Plugin?
  /// Problems with their locations in the manifest.
  package let problems: [Problem]

  /// Inspects a folder. O(manifest entries).
  /// - Parameters:
  ///   - folder: an absolute path.
  ///   - taken: the built-in kinds.
  ///   - launcher: the program that confines others (Spool's own), for querying Python.
  /// - Throws: If there is no manifest.
  package init(
    folder: String, taken: [String] = [], launcher: String = "/proc/self/exe"
  ) throws(SpoolError) {
    guard ManifestFile.isThere(in: folder) else {
      throw SpoolError(
        "there is no plugin in \(folder)", reason: "it has no plugin.yaml",
        advice: "\(command: .pluginNew) NAME \(option: .lang) python makes one to start from")
    }
    self.folder = folder
    switch ManifestFile.text(in: folder) {
    case .success(let found): text = found
    case .failure(let flaw):
      (text, plugin, problems) = ("", nil, [flaw.problem])
      return
    }
    let read = ManifestText(text)
    plugin = read.manifest.map { Plugin(folder: folder, manifest: $0) }
    var problems = read.problems
    if let sketch = read.sketch, let root = read.root {
      let top = ManifestPlace(root)
      // Invalid names are not looked up.
      let known = read.unclear.union(read.problems.compactMap(\.location))
      problems += Self.missing(Plugin(folder: folder, manifest: sketch), top, launcher: launcher)
        .filter { problem in !(problem.location.map { known.contains($0) } ?? false) }
      for (index, kind) in sketch.kinds.enumerated() where taken.contains(kind.kind) {
        problems.append(
          Problem(
            at: top["stages"][index]["kind"].location,
            "\"\(kind.kind)\" is a stage of Spool's own", allowed: "a word of your own"))
      }
    }
    self.problems = problems
  }

  private static func missing(
    _ plugin: Plugin, _ top: ManifestPlace, launcher: String
  ) -> [Problem] {
    var problems: [Problem] = []
    for (index, program) in plugin.manifest.needs.enumerated()
    where Plugin.find(program) == nil {
      problems.append(notInstalled(program, top["needs"]["programs"][index]))
    }
    let packages = PythonPackages(of: plugin)
    for (index, package) in packages.missing(launcher: launcher) {
      problems.append(
        Problem(
          at: top["needs"]["python"][index].location, packages.reason(package),
          allowed: packages.advice(package)))
    }
    let secrets = Set(plugin.secrets)
    for (index, path) in plugin.manifest.limits.reads.enumerated() where secrets.contains(path) {
      problems.append(
        Problem(
          at: top["limits"]["reads"][index].location, "of \(path), only root may read anything",
          allowed: "what everybody may read"))
    }
    if let library = plugin.manifest.library {
      problems += Self.flaws(ofLibrary: library, of: plugin, top["library"])
    }
    for (index, word) in plugin.manifest.run.enumerated() {
      let place = top["run"][index]
      guard index == 0 || word.hasPrefix("./") else { continue }
      guard word.contains("/") else {
        if Plugin.find(word) == nil { problems.append(notInstalled(word, place)) }
        continue
      }
      let path = plugin.path(ofFile: word)
      if let flaw = flaw(of: path, called: word, isProgram: index == 0, in: plugin.folder)
        ?? (index == 0 ? plugin.closedProgram(called: word) : nil)
      {
        problems.append(Problem(at: place.location, flaw.message, allowed: flaw.allowed))
      }
    }
    return problems
  }

  /// Whether a library is there and one of this machine. It is not loaded: that would run it.
  private static func flaws(
    ofLibrary library: String, of plugin: Plugin, _ place: ManifestPlace
  ) -> [Problem] {
    let path: String
    do throws(SpoolError) { path = try plugin.path(ofLibrary: library) } catch {
      return [
        Problem(at: place.location, error.reason ?? error.message, allowed: error.advice)
      ]
    }
    func machine(of path: String) -> [UInt8]? {
      guard let head = try? FileOperations.system.bytes(of: path, limit: 20), head.count == 20
      else { return nil }
      // ELF's mark, word size and byte order, and the processor.
      return Array(head[..<6] + head[18...])
    }
    guard machine(of: ProgramPrefix.real(path)) != machine(of: ProgramPrefix.real("/proc/self/exe"))
    else { return [] }
    return [
      Problem(
        at: place.location, "\(library) is no shared library for this machine",
        allowed: "a shared library that is built here, as by ./build.sh")
    ]
  }

  private static func notInstalled(_ program: String, _ place: ManifestPlace) -> Problem {
    Problem(
      at: place.location, "\(program) is not installed",
      allowed: "a program on PATH; install \(program)")
  }

  private static func flaw(
    of path: String, called name: String, isProgram: Bool, in folder: String
  ) -> (message: String, allowed: String)? {
    let files = FileManager.default
    var isFolder = false
    guard files.fileExists(atPath: path, isDirectory: &isFolder) else {
      let isBuilt = files.isExecutableFile(atPath: "\(folder)/build.sh")
      return (
        "\(name) is not there",
        isBuilt
          ? "a file in the plugin's folder; ./build.sh there makes it"
          : "a file in the plugin's folder"
      )
    }
    guard isProgram else { return nil }
    if isFolder { return ("\(name) is a folder", "a program") }
    guard files.isExecutableFile(atPath: path) else {
      return ("\(name) is not executable", "a program; chmod +x \(ShellWords.line([path]))")
    }
    return ScriptLine.flaw(of: path, called: name)
  }
}

/// A plugin folder's `plugin.yaml`, read safely: the entry of that name may be anything.
enum ManifestFile {
  static let name = "plugin.yaml"
  /// Maximum bytes.
  private static let most = 1 << 20

  /// Whether an entry of that name exists.
  static func isThere(in folder: String) -> Bool {
    (try? FileStamp(at: "\(folder)/\(name)")) != nil
  }

  /// The text, or why it cannot be read. Only regular files are read.
  static func text(in folder: String) -> Result<String, Flaw> {
    let path = "\(folder)/\(name)"
    let stamp: FileStamp
    do throws(SystemError) { stamp = try FileStamp(following: path) } catch {
      return .failure(
        Flaw(error.code == ENOENT ? "it is a link to what is not there" : error.words))
    }
    // A manifest must not link out of its folder, since problems quote its text.
    let (real, home) = (ProgramPrefix.real(path), ProgramPrefix.real(folder))
    guard real.hasPrefix("\(home)/") else {
      return .failure(Flaw("it is a link that leads out of the plugin's folder"))
    }
    if let complaint = stamp.complaint {
      return .failure(Flaw(stamp.isFolder || stamp.isPipe ? complaint : "it is no plain file"))
    }
    guard stamp.byteCount <= most else {
      return .failure(Flaw("it has more than \(most >> 20) MB"))
    }
    guard let bytes = FileManager.default.contents(atPath: path) else {
      return .failure(Flaw("it cannot be read"))
    }
    return .success(String(decoding: bytes, as: UTF8.self))
  }

  /// Why a manifest cannot be read.
  struct Flaw: Error {
    let problem: Problem

    init(_ reason: String) {
      problem = Problem(
        at: nil, "plugin.yaml is no manifest: \(reason)", allowed: "a text file of YAML")
    }
  }
}

import FoundationEssentials
public import PipelineModel

/// A plugin's folder, looked at before anything of it is started: what its manifest says wrongly, and
/// what is missing on this machine.
public struct PluginInspection: Sendable {
  /// The plugin's folder.
  public let folder: String
  /// The text of its manifest.
  public let text: String
  /// The plugin; nil where its manifest is wrong.
  public let plugin: Plugin?
  /// Everything that is wrong, each with its place in the manifest.
  public let problems: [Problem]

  /// Looks at a folder. O(what the manifest names).
  /// - Parameters:
  ///   - folder: an absolute path.
  ///   - taken: kinds that are Spool's own.
  ///   - launcher: the program that confines others, for asking Python: Spool's own.
  /// - Throws: where there is no manifest.
  public init(
    folder: String, taken: [String] = [], launcher: String = "/proc/self/exe"
  ) throws(StageError) {
    guard ManifestFile.isThere(in: folder) else {
      throw StageError(
        "there is no plugin in \(folder)", reason: "it has no plugin.yaml",
        advice: "spool plugin new NAME --lang python makes one to start from")
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
      // What is no name is not looked for either.
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

import FoundationEssentials
import PipelineModel

/// The packages of Python that a plugin needs, and whether its own interpreter finds them.
struct PythonPackages {
  private let plugin: Plugin
  private static let time = 20.0

  init(of plugin: Plugin) { self.plugin = plugin }

  /// Those that are missing, with their places in the manifest's list. Starts the interpreter, behind
  /// the plugin's own limits, where any are needed; nothing of the packages is run. One that cannot
  /// be started is missing itself, which is told elsewhere.
  func missing(launcher: String) -> [(index: Int, package: String)] {
    let wanted = plugin.manifest.packages
    guard !wanted.isEmpty, let interpreter else { return [] }
    let command = ConfinedCommand(
      [interpreter, "-c", Self.question] + wanted,
      limits: PluginManifest.Limits(
        memory: plugin.manifest.limits.memory, time: Self.time,
        reads: plugin.manifest.limits.reads), reads: [plugin.folder])
    guard let outcome = try? command.run(launcher: launcher, check: {}) else { return [] }
    let answer = String(decoding: outcome.output, as: UTF8.self)
    let absent = Set(answer.split(separator: "\n").map(String.init))
    return wanted.enumerated().filter { absent.contains($0.element) }
      .map { ($0.offset, $0.element) }
  }

  /// Why a plugin without this package cannot work.
  func reason(_ package: String) -> String {
    "\(package), which the plugin \(plugin.manifest.name) needs, is not there for "
      + (interpreter ?? "python3")
  }

  /// How a package is had.
  func advice(_ package: String) -> String {
    let name = package.split(separator: ".").first.map(String.init) ?? package
    let debian = name.lowercased().map { $0 == "_" ? "-" : $0 }
    return interpreter?.hasPrefix("/usr/bin/") == true
      ? "apt install python3-\(String(debian))"
      : "\(ShellWords.line([interpreter ?? "python3", "-m", "pip", "install", name]))"
  }

  /// The Python that runs the plugin: its program, the one that its program's first line names, or
  /// else the one on `PATH`.
  private var interpreter: String? {
    guard let program = plugin.manifest.run.first else { return Plugin.find("python3") }
    let path = program.contains("/") ? plugin.path(ofFile: program) : Plugin.find(program)
    if Self.isPython(program) { return path }
    return path.map(ScriptLine.interpreters)?.map(\.program).first(where: Self.isPython)
      ?? Plugin.find("python3")
  }

  private static func isPython(_ word: String) -> Bool {
    (word.split(separator: "/").last ?? "").hasPrefix("python")
  }

  /// Prints the names that no finder knows; only the packages around an inner name are imported.
  private static let question = """
    from importlib.util import find_spec
    from sys import argv
    for name in argv[1:]:
        try: spec = find_spec(name)
        except Exception: spec = None
        if spec is None: print(name)
    """
}

import FoundationEssentials
import PipelineModel
import Platform

/// A script's first line, `#!` and an interpreter, parsed as execve(2) does; for `env`, the program
/// that it finds on `PATH`.
struct ScriptLine {
  /// The interpreter as written: a path, or for `env` perhaps a name.
  let named: String
  /// Whether `env` searches `PATH`, which the user controls and not the script.
  let isSearched: Bool

  /// The bytes that the kernel reads (BINPRM_BUF_SIZE).
  private static let most = 256
  /// The kernel's limit for interpreters that are scripts themselves.
  private static let deepest = 4

  /// Reads a file's first line; nil if the file is not a script.
  init?(of path: String) {
    guard let bytes = try? FileOperations.uncounted.beginning(of: path, byteCount: Self.most)
    else { return nil }
    self.init(bytes)
  }

  /// Parses the start of a file.
  init?(_ bytes: some Collection<UInt8>) {
    guard bytes.starts(with: Array("#!".utf8)) else { return nil }
    let line = String(decoding: bytes.dropFirst(2).prefix { $0 != 10 }, as: UTF8.self)
    func isBlank(_ character: Unicode.Scalar) -> Bool { character == " " || character == "\t" }
    let text = line.unicodeScalars.drop(while: isBlank)
    let program = String(text.prefix { !isBlank($0) })
    guard !program.isEmpty else { return nil }
    var rest = text.dropFirst(program.unicodeScalars.count).drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    guard program.pathNames.last == "env", let wanted = Self.wanted(String(rest)) else {
      (named, isSearched) = (program, false)
      return
    }
    (named, isSearched) = (wanted, !wanted.contains("/"))
  }

  /// The program that `env` starts: the rest of the line is one argument, unless `-S` splits it.
  /// Nil for other options.
  private static func wanted(_ rest: String) -> String? {
    let split = ["-S", "\(option: "split-string")=", "-vS"].first { rest.hasPrefix($0) }
    guard let split else { return rest.isEmpty || rest.hasPrefix("-") ? nil : rest }
    let words = rest.dropFirst(split.count).split { $0 == " " || $0 == "\t" }
    guard let word = words.first(where: { !$0.contains("=") }) else { return nil }
    return word.hasPrefix("-") ? nil : String(word)
  }

  /// The resolved path; nil if it does not exist.
  var program: String? {
    if isSearched { return Plugin.find(named) }
    return FileManager.default.isExecutableFile(atPath: named) ? named : nil
  }

  /// The chain of interpreters of a script, with their paths. O(1).
  static func interpreters(of path: String) -> [(line: ScriptLine, program: String)] {
    var found: [(line: ScriptLine, program: String)] = []
    var path = path
    while found.count < deepest, let line = ScriptLine(of: path), let program = line.program {
      found.append((line, program))
      path = program
    }
    return found
  }

  /// Why a script cannot be started; nil if it can or is not a script.
  static func flaw(of path: String, called name: String) -> (message: String, allowed: String)? {
    guard let line = ScriptLine(of: path), line.program == nil else { return nil }
    let place = line.isSearched ? "not on PATH" : "not there"
    return (
      "\(name) wants \(line.named), which is \(place)",
      line.named.contains("\r")
        ? "lines that end with a line feed alone, without a carriage return"
        : "an interpreter that is installed, in its first line"
    )
  }
}

/// The Python packages that a plugin needs, checked against its own interpreter.
struct PythonPackages {
  private let plugin: Plugin
  private static let time = 20.0

  init(of plugin: Plugin) { self.plugin = plugin }

  /// The missing packages with their indices in the manifest. Starts the interpreter behind the
  /// plugin's limits if packages are needed; imports none of them. A missing interpreter is
  /// reported elsewhere.
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

  /// Why a plugin cannot work without this package.
  func reason(_ package: String) -> String {
    "\(package), which the plugin \(plugin.manifest.name) needs, is not there for "
      + (interpreter ?? "python3")
  }

  /// How to install a package.
  func advice(_ package: String) -> String {
    let name = package.split(separator: ".").first.map(String.init) ?? package
    let debian = name.lowercased().map { $0 == "_" ? "-" : $0 }
    return interpreter?.hasPrefix("/usr/bin/") == true
      ? "apt install python3-\(String(debian))"
      : "\(ShellWords.line([interpreter ?? "python3", "-m", "pip", "install", name]))"
  }

  /// The plugin's Python: its program, the interpreter of its program's first line, or the one on
  /// `PATH`.
  private var interpreter: String? {
    guard let program = plugin.manifest.run.first else { return Plugin.find("python3") }
    let path = program.contains("/") ? plugin.path(ofFile: program) : Plugin.find(program)
    if Self.isPython(program) { return path }
    return path.map(ScriptLine.interpreters)?.map(\.program).first(where: Self.isPython)
      ?? Plugin.find("python3")
  }

  private static func isPython(_ word: String) -> Bool {
    (word.pathNames.last ?? "").hasPrefix("python")
  }

  /// Prints the names that no import finder locates; only parents of dotted names are imported.
  private static let question = """
    from importlib.util import find_spec
    from sys import argv
    for name in argv[1:]:
        try: spec = find_spec(name)
        except Exception: spec = None
        if spec is None: print(name)
    """
}

import FoundationEssentials
import PipelineModel
import Platform
import Plugins

extension CommandStage {
  /// What a step of `command` asks for: checked, and not yet done.
  struct Order: Sendable {
    /// What it reads.
    let inputs: [PluginManifest.FilePort]
    /// What it writes.
    let outputs: [PluginManifest.FilePort]
    /// More that it reads: paths by name.
    let files: [String: String]
    /// What it may use.
    let limits: PluginManifest.Limits
    private let run: [CommandWord]
    /// Where a program lies that is called by a path that is not absolute.
    private let folder: String
    private let versionWords: [CommandWord]

    /// Reads resolved parameters, which may contradict each other.
    init(_ value: Value) throws(SpoolError) {
      guard value.members != nil else { throw SpoolError("command needs a mapping") }
      let places = CommandForm.places(in: value)
      inputs = places.inputs.map(\.port)
      outputs = places.outputs.map(\.port)
      func words(_ name: String) -> [CommandWord] {
        (value[name]?.items ?? []).compactMap { $0.text.map { CommandWord($0) } }
      }
      run = words("run")
      versionWords = words("version")
      files = (value["files"]?.members ?? [:]).compactMapValues(\.text)
      folder = value["folder"]?.text ?? "."
      limits = PluginManifest.Limits(
        memory: Int(value["memory"]?.number ?? 0), time: value["time"]?.number ?? 0,
        network: value["network"] == .flag(true), fileSize: Int(value["size"]?.number ?? 0))
    }

    /// All that contradicts itself; nil where nothing does.
    var contradiction: SpoolError? {
      let problems = self.problems
      guard !problems.isEmpty else { return nil }
      var error = SpoolError(
        "command cannot run this", reason: problems.map(\.message).joined(separator: "; "),
        advice: "{name} in run stands for "
          + (inputs + outputs).map { "{\($0.name)}" }.joined(separator: ", ")
          + files.keys.sorted().map { ", {\($0)}" }.joined())
      error.faults = problems
      return error
    }

    /// The program, as it is called.
    var program: String {
      guard let first = run.first else { return "" }
      return first.names.isEmpty ? first.filled([:]) ?? "" : first.text
    }

    /// The program's absolute path, or its name.
    var programPath: String { run.first?.filled(files).map(placed) ?? "" }

    /// The command that prints its version; nil where there is none.
    var version: [String]? {
      versionWords.isEmpty ? nil : withProgramPlaced(versionWords.compactMap { $0.filled(files) })
    }

    /// Programs that are called by a path from the pipeline's folder.
    var ownPrograms: [String] {
      [run.first, versionWords.first].compactMap { word in
        guard let word, word.names.isEmpty, let text = word.filled([:]), placed(text) != text else {
          return nil
        }
        return placed(text)
      }
    }

    private func placed(_ program: String) -> String {
      guard program.contains("/"), !program.hasPrefix("/") else { return program }
      return URL(filePath: "\(folder)/\(program)").standardized.path
    }

    private func withProgramPlaced(_ words: [String]) -> [String] {
      words.prefix(1).map(placed) + words.dropFirst()
    }

    /// How it is tried alone, without Spool. Its inputs and outputs lie in folders that go when it ends.
    var trial: String {
      let named = Set(run.flatMap(\.names))
      let ports = (inputs + outputs).map(\.name).filter(named.contains)
      let places = files.merging(ports.map { ($0, $0.uppercased()) }) { file, _ in file }
      let line = ShellWords.line(words(places))
      return "try it alone"
        + (ports.isEmpty
          ? ""
          : ", with files of yours for \(ports.map { $0.uppercased() }.joined(separator: ", "))")
        + ": \(line)"
    }

    /// The output that it prints; nil where it prints none.
    var printed: PluginManifest.FilePort? {
      let named = Set(run.flatMap(\.names))
      return outputs.first { !named.contains($0.name) }
    }

    /// The words with paths in place of names. Those with an input that is not there are left out.
    func words(_ places: [String: String]) -> [String] {
      withProgramPlaced(run.compactMap { $0.filled(places) })
    }

    /// Everything that is wrong with it, each at the parameter that it is about.
    private var problems: [SpoolError.ParameterFault] {
      var problems: [SpoolError.ParameterFault] = []
      func report(_ parameter: String, _ message: String) {
        problems.append(SpoolError.ParameterFault(at: [parameter], message))
      }
      let ports = (inputs + outputs).map(\.name)
      let names = ports + files.keys.sorted()
      for (index, name) in names.enumerated() {
        let parameter = files[name] != nil && index >= ports.count ? "files" : "run"
        if names[..<index].contains(name) {
          report(parameter, "two of its files are called \(name)")
        }
        if !CommandWord.isName(name) {
          report(parameter, "\"\(name)\" is no name: small letters, digits and dashes make one")
        }
        if ports.contains(name), CommandForm.parameters.contains(where: { $0.name == name }) {
          report("run", "an input or output cannot be called \(name), for a parameter is")
        }
      }
      let named = run.flatMap(\.names)
      for name in named where !names.contains(name) {
        let guess = Problem.nearest(to: name, in: names).map { "; did you mean {\($0)}?" } ?? ""
        report("run", "there is nothing that {\(name)} could stand for\(guess)")
      }
      for name in versionWords.flatMap(\.names) where files[name] == nil {
        report("version", "version can name files only, and {\(name)} is none")
      }
      for input in inputs where !named.contains(input.name) {
        report("run", "run does not name {\(input.name)}, which it is to read")
      }
      let silent = outputs.filter { !named.contains($0.name) }
      if silent.count > 1 {
        report(
          "outputs",
          "run names neither of "
            + silent.map { "{\($0.name)}" }.joined(separator: ", ")
            + ", and only one can be printed")
      }
      for port in outputs where port.fileName != nil && port.carries != .file {
        report("outputs", "only an output that carries a file has a file-name, not \(port.name)")
      }
      if let first = run.first, !first.names.isEmpty, Set(first.names).subtracting(files.keys) != []
      {
        report("run", "the program cannot be an input or output")
      }
      for (parameter, words) in [("run", run), ("version", versionWords)]
      where words.first?.filled(files)?.isEmpty == true {
        report(parameter, "the program has no name")
      }
      return problems
    }
  }
}

/// One argument of a command, with names in braces where paths come. `{{name}}` is `{name}` itself;
/// other braces stay as they are, for they mean much to `awk` and `jq`.
struct CommandWord: Hashable, Sendable {
  /// As it was written.
  let text: String
  private let parts: [Part]

  private enum Part: Hashable, Sendable {
    case plain(String)
    case name(String)
  }

  /// Takes a word apart. O(n).
  init(_ text: String) {
    self.text = text
    var parts: [Part] = []
    var plain = ""
    var rest = text[...]
    while let brace = rest.firstIndex(of: "{") {
      plain += rest[..<brace]
      rest = rest[brace...]
      if let literal = Self.name(in: rest, braces: 2) {
        plain += "{\(literal)}"
        rest = rest.dropFirst(literal.count + 4)
      } else if let name = Self.name(in: rest, braces: 1) {
        if !plain.isEmpty { parts.append(.plain(plain)) }
        plain = ""
        parts.append(.name(name))
        rest = rest.dropFirst(name.count + 2)
      } else {
        plain += "{"
        rest = rest.dropFirst()
      }
    }
    plain += rest
    if !plain.isEmpty || parts.isEmpty { parts.append(.plain(plain)) }
    self.parts = parts
  }

  /// The names in it.
  var names: [String] { parts.compactMap { if case .name(let name) = $0 { name } else { nil } } }

  /// The word with paths in place of names; nil where one of them has none.
  func filled(_ places: [String: String]) -> String? {
    var result = ""
    for part in parts {
      switch part {
      case .plain(let text): result += text
      case .name(let name):
        guard let place = places[name] else { return nil }
        result += place
      }
    }
    return result
  }

  /// Whether this can stand in braces: small letters, digits and dashes, beginning with a letter.
  static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, (97...122).contains(first) else { return false }
    return text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
  }

  /// The name with which a text begins, between so many braces.
  private static func name(in text: Substring, braces: Int) -> String? {
    guard text.hasPrefix(String(repeating: "{", count: braces)) else { return nil }
    let inner = text.dropFirst(braces)
    guard let end = inner.firstIndex(of: "}"), isName(inner[..<end]),
      inner[end...].hasPrefix(String(repeating: "}", count: braces))
    else { return nil }
    return String(inner[..<end])
  }
}

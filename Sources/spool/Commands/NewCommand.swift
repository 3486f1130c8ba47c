import CTexts
import Glibc
import PipelineModel
import Platform
import Plugins

extension Command {
  /// `spool pipeline new`: a commented pipeline to start from.
  static let new = Command(
    name: "pipeline new", group: "Pipelines",
    summary: "Write a commented pipeline to start from.",
    discussion: """
      With --from, it is a copy of another pipeline, with all its comments, and a name of its own.
      """,
    positionals: [Options.file], options: [Options.original],
    examples: [
      Example("Start a pipeline", "spool pipeline new my-notes.yaml"),
      Example(
        "Change one that comes with Spool", "spool pipeline new my-talks.yaml --from interview"),
    ],
    perform: CommandContext.writePipeline)

  /// `spool pipeline list`: the pipelines that go by name.
  static let pipelines = Command(
    name: "pipeline list", group: "Pipelines",
    summary: "List the pipelines that can be named without a path.",
    discussion: """
      Commands that take a pipeline's file also take the name of one that is listed here. It is looked \
      for as NAME.yaml in the current folder, in $XDG_CONFIG_HOME/spool/pipelines (or \
      ~/.config/spool/pipelines), in $XDG_DATA_HOME/spool/pipelines (or \
      ~/.local/share/spool/pipelines), in Pipelines of the source checkout that the program was built \
      in, in /usr/local/share/spool/pipelines, and in /usr/share/spool/pipelines, in this order. A \
      file that is called NAME itself comes first.
      """,
    options: [Options.json],
    examples: [Example("Run one by its name", "spool run voice-note note.m4a")],
    perform: CommandContext.listPipelines)
}

extension Options {
  fileprivate static let file = Positional<String>.required(
    "FILE", help: "The file to write; it must not be there yet.",
    completion: .files(extensions: ["yaml"]))
  fileprivate static let original = Option<String?>.value(
    "from", "PIPELINE", help: "The pipeline to copy: a name from spool pipeline list, or a file.",
    completion: NameKind.pipelines.hint(orFiles: ["yaml"]))
}

extension DocumentNode {
  /// A mapping's value; nil if it has none of this name.
  fileprivate func value(of key: String) -> DocumentNode? {
    guard case .mapping(let entries) = content else { return nil }
    return entries.first { $0.key == key }?.value
  }
}

extension CommandContext {
  fileprivate func writePipeline() throws(SpoolError) -> ExitCode {
    let path = arguments[Options.file]
    let text = try text(for: path)
    try doing("write", path, advice: "choose another name") { () throws(SystemError) in
      let files = FileOperations.system
      let file = try files.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
      try files.write(Array(text.utf8), to: file)
    }
    let plugins = try pluginsOfOriginal(of: path).map { ["--plugins", $0] } ?? []
    let run = try ShellWords.line(["spool", "run", path] + inputWords() + plugins)
    console.print(
      """
      wrote \(ShellWords.visible(path: path)); \(Format.visible(run)) runs it
      \(NextCommand(["spool", "pipeline", "check", path] + plugins).text)
      """)
    return .done
  }

  /// The text of a new pipeline.
  private func text(for path: String) throws(SpoolError) -> String {
    let name = Self.name(of: path)
    guard let original = arguments[Options.original] else {
      return unsafe String(cString: text_pipeline).replacing("@NAME@", with: name)
    }
    let pipeline = try pipeline(at: original)
    guard let stated = YAMLDocument(pipeline.text).root?.value(of: "pipeline")?.location else {
      return pipeline.text
    }
    // Comments name the file, as a user types it.
    let file = pipeline.path.pathNames.last ?? ""
    let text = pipeline.text.replacing("Pipelines/\(file)", with: ShellWords.line([path]))
    var lines = Self.named(name, insteadOf: pipeline.definition.name, text)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let line = lines[stated.line - 1]
    lines[stated.line - 1] = line.prefix(stated.column - 1) + name
    return lines.joined(separator: "\n")
  }

  /// A text whose exports are called after the copy, so that they stay apart from the original's:
  /// `{stem}.interview` becomes `{stem}.my-talks`, and `{stem}.listening` becomes
  /// `{stem}.my-talks.listening`.
  private static func named(_ name: String, insteadOf original: String, _ text: String) -> String {
    if name == original { return text }
    let own = original.split(separator: "-") + [original[...]]
    return text.replacing(/\{stem\}\.([A-Za-z0-9-]+)/) { match in
      "{stem}.\(name)" + (own.contains(match.1) ? "" : ".\(match.1)")
    }
  }

  /// What a run of the new pipeline needs, as words that stand for files.
  private func inputWords() throws(SpoolError) -> [String] {
    guard let original = arguments[Options.original] else { return ["RECORDING"] }
    let pipeline = try pipeline(at: original)
    // A session names its tracks.
    let tracks = SessionTracks(pipeline.definition, pipeline.catalog)?.list.name
    return pipeline.definition.inputs.filter { !$0.isOptional && $0.name != tracks }.map { input in
      switch input.kind {
      case .sound: "RECORDING" + (input.isList ? "…" : "")
      case .transcript: "TEXT"
      default: input.name.uppercased()
      }
    }
  }

  /// The folder of plugins that a copy needs and is not found beside it; nil if there is none.
  private func pluginsOfOriginal(of path: String) throws(SpoolError) -> String? {
    guard let original = arguments[Options.original] else { return nil }
    let pipeline = try pipeline(at: original)
    let catalog = catalog(beside: absolute(path))
    let kinds = pipeline.definition.steps.map(\.kind.value).filter { catalog[$0] == nil }
    return registry(beside: pipeline.path).plugins.first { plugin in
      plugin.manifest.kinds.contains { kinds.contains($0.kind) }
    }.map { FilePath.folder(of: $0.folder) }
  }

  fileprivate func listPipelines() throws(SpoolError) -> ExitCode {
    let named = NamedPipelines()
    let pipelines = named.all
    if pipelines.isEmpty { console.report("no pipelines were installed") }
    let summaries = pipelines.map {
      (try? TextFile.read("the pipeline", $0.path)).flatMap(Self.summary)
    }
    let width = pipelines.map(\.name.count).max() ?? 0
    let lines = zip(pipelines, summaries).map { pipeline, summary in
      "\(Format.pad(pipeline.name, width + 2))\(summary ?? "")"
    }
    if isJSON || !pipelines.isEmpty {
      answer(
        list: zip(pipelines, summaries).map { pipeline, summary in
          JSONLine(["name": pipeline.name, "path": absolute(pipeline.path), "summary": summary])
        }, Format.visible(lines: lines))
    }
    console.report(
      Format.visible("looked for in this order: " + named.folders.joined(separator: ", ")))
    return .done
  }

  private static func summary(of text: String) -> String? {
    guard case .scalar(let summary, _) = YAMLDocument(text).root?.value(of: "summary")?.content
    else { return nil }
    return summary
  }

  private static func name(of path: String) -> String {
    let file = path.pathNames.last ?? "pipeline"
    let stem = file.split(separator: ".").first ?? "pipeline"
    let name = stem.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "-" }
    return name.first?.isLetter == true ? String(name) : "pipeline"
  }
}

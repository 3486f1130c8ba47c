import CTexts
import Glibc
import PipelineModel
import Platform

extension Command {
  /// `spool pipeline new`: a commented pipeline to start from.
  static let new = Command(
    name: "pipeline new", group: "Pipelines",
    summary: "Write a commented pipeline to start from.",
    positionals: [Options.file],
    examples: [Example("Start a pipeline", "spool pipeline new my-notes.yaml")],
    perform: CommandContext.writePipeline)

  /// `spool pipeline list`: the pipelines that go by name.
  static let pipelines = Command(
    name: "pipeline list", group: "Pipelines",
    summary: "List the pipelines that can be named without a path.",
    discussion: """
      Commands that take a pipeline's file also take the name of one that is listed here: the file \
      NAME.yaml in $XDG_DATA_HOME/spool/pipelines (or ~/.local/share/spool/pipelines), in Pipelines \
      of the source checkout that the program was built in, in /usr/local/share/spool/pipelines or in \
      /usr/share/spool/pipelines. A file at that path comes first.
      """,
    examples: [Example("Run one by its name", "spool run voice-note note.m4a")],
    perform: CommandContext.listPipelines)
}

extension Options {
  fileprivate static let file = Positional<String>.required(
    "FILE", help: "The file to write; it must not be there yet.",
    completion: .files(extensions: ["yaml"]))
}

extension CommandContext {
  fileprivate func writePipeline() throws(SpoolError) -> ExitCode {
    let path = arguments[Options.file]
    try doing("write", path, advice: "choose another name") { () throws(SystemError) in
      let files = FileOperations.system
      let file = try files.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
      let starter = unsafe String(cString: text_pipeline)
        .replacing("@NAME@", with: Self.name(of: path))
      try files.write(Array(starter.utf8), to: file)
    }
    let word = Format.visible(ShellWords.line([path]))
    console.print(
      """
      wrote \(Format.visible(path))
      next: spool pipeline check \(word)
            spool run \(word) RECORDING
      """)
    return .done
  }

  fileprivate func listPipelines() throws(SpoolError) -> ExitCode {
    let pipelines = NamedPipelines().all
    if pipelines.isEmpty { console.report("no pipelines were installed") }
    let width = pipelines.map(\.name.count).max() ?? 0
    for pipeline in pipelines {
      let summary = (try? TextFile.read("the pipeline", pipeline.path)).flatMap(Self.summary) ?? ""
      console.print(Format.visible("\(Format.pad(pipeline.name, width + 2))\(summary)"))
    }
    return .done
  }

  private static func summary(of text: String) -> String? {
    guard case .mapping(let entries) = YAMLDocument(text).root?.content,
      case .scalar(let summary, _) = entries.first(where: { $0.key == "summary" })?.value.content
    else { return nil }
    return summary
  }

  private static func name(of path: String) -> String {
    let file = path.split(separator: "/").last ?? "pipeline"
    let stem = file.split(separator: ".").first ?? "pipeline"
    let name = stem.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "-" }
    return name.first?.isLetter == true ? String(name) : "pipeline"
  }
}

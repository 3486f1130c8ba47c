import FoundationEssentials
import PipelineModel
import Platform

/// `spool new`: a commented pipeline to start from, or the list of those that come with Spool.
struct NewCommand: Command {
  private static let file = Positional<String?>.optional(
    "FILE", help: "The file to write; it must not be there yet.",
    completion: .files(extensions: ["yaml"]))
  private static let list = Option<Bool>.flag(
    "list", help: "List the pipelines that can be named without a path.")

  static let declaration = CommandDeclaration(
    name: "new", group: "Pipelines",
    summary: "Write a commented pipeline to start from.",
    discussion: """
      Commands that take a pipeline's file also take the name of one that --list shows: the file \
      NAME.yaml in $XDG_DATA_HOME/spool/pipelines (or ~/.local/share/spool/pipelines), in Pipelines \
      of the source checkout that the program was built in, in /usr/local/share/spool/pipelines or in \
      /usr/share/spool/pipelines. A file at that path comes first.
      """,
    positionals: [file], options: [list],
    examples: [
      Example("Start a pipeline", "spool new my-notes.yaml"),
      Example("Which pipelines come with Spool?", "spool new --list"),
    ])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    if arguments[Self.list] {
      printList(console)
      return .done
    }
    guard let path = arguments[Self.file] else {
      throw .usage("missing argument FILE", advice: "spool help new")
    }
    do throws(TextFileError) {
      try TextFile.create(path, Self.starter(named: Self.name(of: path)))
    } catch {
      throw SpoolError(
        "cannot write \(path)", reason: error.reason, advice: "choose another name")
    }
    let shown = Format.visible(path)
    console.print(
      """
      wrote \(shown)
      next: spool check-pipeline \(shown)
            spool run \(shown) RECORDING
      """)
    return .done
  }

  private func printList(_ console: Console) {
    let pipelines = NamedPipelines().all
    if pipelines.isEmpty { console.report("no pipelines were installed") }
    let width = pipelines.map(\.name.count).max() ?? 0
    for pipeline in pipelines {
      let summary = (try? TextFile.read(pipeline.path)).flatMap(Self.summary) ?? ""
      console.print(Format.visible("\(Format.pad(pipeline.name, width + 2))\(summary)"))
    }
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

  private static func starter(named name: String) -> String {
    """
    # A pipeline: what comes in, and the stages that it goes through.
    #
    #   spool check-pipeline FILE    says everything that is wrong with it
    #   spool plan FILE RECORDING    shows what a run would do
    #   spool run FILE RECORDING     does it
    #   spool stages                 lists what you can use, spool stages eq shows one kind
    pipeline: \(name)
    summary: Clean a recording and export it.

    inputs:
      recording: sound

    vars:
      # $loudness below is this value; --set loudness="-18 LUFS" overrides it for one run.
      loudness: -16 LUFS

    stages:
      # Each stage takes the sound of the one above, unless it says `from`.
      - decode

      - eq:
          bands:
            - { type: highpass, frequency: 80 Hz }
            - { type: peak, frequency: 3 kHz, gain: 2 dB, q: 1 }

      - compress: { threshold: -20 dB, ratio: 3 }

      - normalize: { loudness: $loudness, true-peak: -1 dBTP }
        id: master # a name that other stages can refer to

      - measure
      - export: { from: master, formats: [wav, m4a] }

    """
  }
}

/// The pipelines that can be named without a path: the user's, those of the source checkout that the
/// program lies in, and those that packages install.
struct NamedPipelines {
  private let folders: [String]

  /// - Parameter program: the path of the program's file.
  init(
    environment: [String: String] = Environment.variables,
    program: String = ResolvedPath.of("/proc/self/exe")
  ) {
    let data =
      environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? environment["HOME"].map { $0 + "/.local/share" }
    folders =
      [data.map { $0 + "/spool/pipelines" }, Self.checkout(of: program).map { $0 + "/Pipelines" }]
      .compactMap(\.self) + ["/usr/local/share/spool/pipelines", "/usr/share/spool/pipelines"]
  }

  /// The file of the pipeline `name`; nil if no folder has it, or `name` is a path.
  func path(of name: String) -> String? {
    guard Self.isName(name) else { return nil }
    return folders.map { "\($0)/\(name).yaml" }.first(where: Self.isFile)
  }

  /// Every name once, sorted, with the file that it means.
  var all: [(name: String, path: String)] {
    let names = folders.flatMap { folder in
      ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
    }
    return Set(names).sorted().compactMap { name in path(of: name).map { (name, $0) } }
  }

  /// Whether a word can be a pipeline's name: it is no path, and has no extension.
  static func isName(_ word: String) -> Bool {
    !word.isEmpty && !word.contains("/") && !word.contains(".")
  }

  static func isFile(_ path: String) -> Bool {
    var isFolder = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder
  }

  // SwiftPM puts programs into .build/TRIPLE/CONFIGURATION.
  private static func checkout(of program: String) -> String? {
    let parts = program.split(separator: "/")
    return (1...4).lazy.map { "/" + parts.dropLast($0).joined(separator: "/") }
      .first { isFile($0 + "/Package.swift") }
  }
}

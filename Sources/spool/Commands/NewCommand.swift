import Arguments
import PipelineModel

/// `spool new`: a commented pipeline to start from.
struct NewCommand: Command {
  private static let file = Positional<String>.required(
    "FILE", help: "The file to write; it must not be there yet.",
    completion: .files(extensions: ["yaml"]))

  static let declaration = CommandDeclaration(
    name: "new", group: "Pipelines",
    summary: "Write a commented pipeline to start from.",
    positionals: [file],
    examples: [Example("Start a pipeline", "spool new my-notes.yaml")])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let path = arguments[Self.file]
    do throws(TextFileError) {
      try TextFile.create(path, Self.starter(named: Self.name(of: path)))
    } catch {
      let failure = StageError(
        "cannot write \(path)", reason: error.reason, advice: "choose another name")
      console.report(ErrorText(failure).render(console))
      return .failed
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

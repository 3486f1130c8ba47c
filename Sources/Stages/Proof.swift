import PipelineModel

/// `proof`: a signed receipt of the whole run, beside the exports.
struct ProofStage: WholeStage, ReceiptStage {
  struct Parameters: Codable, Sendable {
    let name: String
  }

  static let descriptor = StageDescriptor(
    kind: "proof", revision: 1,
    summary: "Write a signed receipt of what was taken, done and given",
    discussion: """
      When every export is in the output folder, a receipt is laid beside them: an in-toto statement \
      in a DSSE envelope, signed with the key that spool key show names. With it come the list for \
      sha256sum -c, the public key, and a shell script that checks everything with sha256sum and \
      openssl alone. spool verify checks it too, and says which file or stage is not as it was. A \
      receipt that is there and says the same stays as it is. It vouches for what was done, and not \
      for what the recording itself shows.
      """,
    flow: .whole,
    inputs: [],
    outputs: [],
    parameters: [
      ParameterDescriptor(
        "name", .fileName(fields: ["stem"]), .defaulted("{stem}"),
        "the receipt's name; {stem} is the recording's", isInKey: false)
    ],
    shorthand: "name")

  private let name: String

  init(_ parameters: Parameters) { name = parameters.name }

  /// There is nothing to work on before all else is done.
  func run(_ context: StageContext) -> [PortName: StepOutput] { [:] }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    ReceiptNames(stem: ExportName.fill(name, recording: recordings.first)).all
  }

  /// The receipt is written by the run's witness, when it is known what all stages published.
  func publish(_ context: PublishingContext) -> [PublishedFile] { [] }
}

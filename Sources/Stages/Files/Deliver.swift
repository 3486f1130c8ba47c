import PipelineModel
import Platform

/// `deliver`: everything that a run gives goes to other places too.
private struct DeliverStage: DeclaredStage, WholeStage {
  struct Parameters: Codable, Sendable {
    let to: [String]
    let what: [DeliveryRequest.Content]?
    let path: String
    let required: Bool
    let ifThere: DeliveryRequest.Encounter
  }

  static let descriptor = StageDescriptor(
    kind: "deliver", revision: 1,
    summary: "Send exports, receipts, transcripts and originals to other places",
    discussion: """
      When everything is in the output folder, its files are queued for the destinations, which \
      destinations.yaml names: spool deliver destinations lists them. The queue is in the store, and \
      survives crashes, power cuts and months without a network. run and batch send for a minute; the \
      rest is sent by a watch with the same store, or by spool deliver run. A file has its final name \
      at a destination only when all of its bytes were read back and are the same.

      When all files of a recording are there, a document about it follows: its name ends in \
      .recording.json. With a receipt, a signed confirmation of all of them follows too.

      In a watch, a recording counts as uploaded, and its file leaves the inbox, only when every \
      destination that is required has confirmed everything.

      The path is a folder and a name below the destination. A file keeps the name that it was first \
      delivered under. Nothing at a destination is replaced or deleted: another file of Spool's gets \
      a number, and if-there says what happens where a file lies that Spool did not put there.
      """,
    flow: .whole,
    inputs: [],
    outputs: [],
    parameters: [
      ParameterDescriptor(
        "to", .list(of: .text(maximumLength: 100), count: 1...20), .required,
        "the names of the destinations", isInKey: false),
      ParameterDescriptor(
        "what",
        .list(of: .choice(DeliveryRequest.Content.choices.map(\.rawValue)), count: 1...4),
        .optional, "what is sent; without it, all four", isInKey: false),
      ParameterDescriptor(
        "path", .text(maximumLength: 500), .defaulted(DeliveryRequest.usualPath),
        "folders and a name, with the fields "
          + DeliveryPath.fields.map { "{\($0.name)}" }.joined(separator: ", "), isInKey: false),
      ParameterDescriptor(
        "required", .flag, .defaulted("true"),
        "whether a recording is uploaded only once these destinations have it", isInKey: false),
      ParameterDescriptor(
        "if-there", .choice(DeliveryRequest.Encounter.allCases.map(\.rawValue)),
        .defaulted("same"),
        "where a destination has a file of the name: the same bytes count as delivered, or a number "
          + "is added to the name, or it is an error", isInKey: false),
    ],
    shorthand: "to")

  let delivery: DeliveryRequest?

  init(_ parameters: Parameters) throws(SpoolError) {
    if let fault = DeliveryPath.fault(of: parameters.path) {
      throw SpoolError(
        "path is \(parameters.path)", reason: fault,
        advice: "use the fields "
          + DeliveryPath.fields.map { "{\($0.name)}" }.joined(separator: ", "))
    }
    delivery = DeliveryRequest(
      to: parameters.to, parameters.what.map { Set($0) } ?? DeliveryRequest.usualContents,
      path: parameters.path,
      isRequired: parameters.required, encounter: parameters.ifThere)
  }

  /// There is nothing to work on before all else is done.
  func run(_ context: StageContext) -> [PortName: StepOutput] { [:] }
}

extension StageRegistration { static let deliver = StageRegistration(DeliverStage.self) }

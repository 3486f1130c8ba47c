public import Sidecars
import Hashing
public import PipelineModel

/// What a batch is asked to do.
public struct BatchOrder: Sendable {
  /// The pipeline.
  public let definition: PipelineDefinition
  /// The pipeline's file, an absolute path without links.
  public let pipelinePath: String
  /// The pipeline's file as it was named, which earlier records may go by; an absolute path.
  public let namedPipelinePath: String
  /// The stage kinds.
  public let catalog: StageCatalog
  /// What `--set` says.
  public let overrides: [String: DocumentNode]
  /// What `--set` says, as typed.
  public let overrideTexts: [String: String]
  /// The folder with the recordings: an absolute path without links.
  public let folder: String
  /// The folder for the exports: an absolute path without links.
  public let output: String
  /// Which files are recordings.
  public var selection = FileSelection()
  /// How the exports are called; nil to mirror the folder.
  public var template: NameTemplate?
  /// Whether only files that failed in the last batch are worked on.
  public var retriesFailedOnly = false
  /// Whether files that Spool did not write may be replaced.
  public var isReplacing = false
  /// Whether the batch begins although it may not fit on its disks.
  public var ignoresRoom = false
  /// The pipeline's text, which its runs are gone on with; nil where it is not known.
  public var pipelineText: String?
  /// What the user types to go on with the batch, for advice; nil where there is no such thing.
  public var command: String?
  /// The folder of `--plugins`, an absolute path, which its runs are gone on with; nil where there is none.
  public var pluginFolder: String?
  /// The plugins behind its stages, which its runs remember; nil where there are none.
  public var plugins: [PluginUse]?
  /// What was settled for all recordings together.
  var album: AlbumFigures = [:]
  /// The pipeline's input that takes the recordings.
  public let input: String
  /// The pipeline's input that takes what is said in a recording; nil where it has none, or several.
  public let transcriptInput: String?
  /// The pipeline as it is for a recording whose transcript is there; nil where it takes none.
  private let transcriptPlan: Plan?
  /// The pipeline as it is for a recording whose sidecar says nothing.
  let plan: Plan

  /// Makes an order; throws every problem of the pipeline at once.
  public init(
    _ definition: PipelineDefinition, pipelinePath: String, namedPipelinePath: String? = nil,
    catalog: StageCatalog, overrides: [String: DocumentNode], overrideTexts: [String: String],
    folder: String, output: String
  ) throws(PlanError) {
    let required = definition.inputs.filter { !$0.isOptional }
    guard let input = required.first ?? definition.inputs.first, required.count < 2 else {
      let names = required.map(\.name).joined(separator: ", ")
      throw PlanError(problems: [
        Problem(
          at: required.last?.location,
          required.isEmpty
            ? "the pipeline takes no recording"
            : "a batch gives each run one recording, and this pipeline needs \(names)",
          allowed: "one required input")
      ])
    }
    self.definition = definition
    self.pipelinePath = pipelinePath
    self.namedPipelinePath = namedPipelinePath ?? pipelinePath
    self.catalog = catalog
    self.overrides = overrides
    self.overrideTexts = overrideTexts
    self.folder = folder
    self.output = output
    self.input = input.name
    let texts = definition.inputs.filter { $0.kind == .transcript && !$0.isList && $0 != input }
    transcriptInput = texts.count == 1 ? texts.first?.name : nil
    plan = try Plan(
      definition, catalog: catalog, inputs: [input.name: folder], overrides: overrides,
      checksEquipment: true)
    transcriptPlan = try transcriptInput.map { (text) throws(PlanError) in
      try Plan(
        definition, catalog: catalog, inputs: [input.name: folder, text: folder],
        overrides: overrides, checksEquipment: true)
    }
  }

  /// Whether a stage of the pipeline asks for receipts.
  public var asksForReceipts: Bool { plan.steps.contains { $0.stage is any ReceiptStage } }

  /// What a batch of this folder and this pipeline is remembered by.
  var identity: Digest { identity(ofPipelineAt: pipelinePath) }

  /// What it may be remembered by besides: once, the pipeline's path went in as it was named.
  var earlierIdentity: Digest? {
    namedPipelinePath == pipelinePath ? nil : identity(ofPipelineAt: namedPipelinePath)
  }

  private func identity(ofPipelineAt path: String) -> Digest {
    Self.digest(["spool-batch-1", folder, path])
  }

  /// Everything that decides on a file's exports besides the file itself and its sidecar.
  var settings: Digest {
    var fields = ["spool-batch-settings-1", output, template?.text ?? ""]
    // A transcript may have other steps run: what decides on them counts as well.
    let plans = [plan, transcriptPlan].compactMap(\.self)
    for step in plans.flatMap({ ((try? $0.settled(album)) ?? $0).steps }) {
      fields += ["step", step.id.name, step.keyComponents(inputs: [:]).key.digest.hex]
      fields.append(step.parameters.canonicalJSON)
      for (port, source) in step.sources.sorted(by: { $0.key < $1.key }) {
        fields += ["source", port.name]
        switch source {
        case .input(let name): fields += ["input", name]
        case .step(let id, let port): fields += [id.name, port.name]
        }
      }
    }
    return Self.digest(fields)
  }

  /// The plan for one recording, with what is said in it where that is known.
  func plan(
    for path: String, sidecar: FileWishes?, transcript: String? = nil
  ) throws(StageError) -> Plan {
    var inputs = [input: PathText.join(folder, path)]
    if let transcriptInput, let transcript {
      inputs[transcriptInput] = PathText.join(folder, transcript)
    }
    guard let given = sidecar?.overrides, !given.isEmpty else {
      let plan = inputs.count > 1 ? transcriptPlan ?? plan : plan
      return try plan.with(inputs: inputs).settled(album)
    }
    let own: Plan
    do {
      own = try Plan(
        definition, catalog: catalog, inputs: inputs,
        overrides: overrides.merging(given) { _, own in own })
    } catch {
      throw SidecarOverrides.refusal(error)
    }
    return try own.settled(album)
  }

  /// The exports of a recording, as paths below the output folder, if it is called `name`.
  func exports(called name: String) -> [String] {
    let names = { (step: BoundStep) in
      plan.recordings(of: step.id).map { $0 == input ? Self.calledPath(name) : $0 }
    }
    let place = plan.enclosure(names)?.place ?? ""
    let folder = PathText.join(PathText.folder(of: name), place)
    return plan.steps.flatMap { step -> [String] in
      guard let stage = step.stage as? any PublishingStage else { return [] }
      return stage.fileNames(of: step.id, recordings: names(step))
        .map { PathText.join(folder, $0) }
    }
  }

  /// A name as the path of a recording, whose extension does not count.
  static func calledPath(_ name: String) -> String { PathText.name(of: name) + ".recording" }

  /// What the exports of a recording that is called so are called, without extension: harmless, in
  /// folders that have the names they had.
  static func exportName(_ name: String) -> String {
    PathText.join(PathText.folder(of: name), ExportName.stem(of: calledPath(name)))
  }

  private static func digest(_ fields: [String]) -> Digest {
    SHA256.digest(of: fields.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n"))
  }
}

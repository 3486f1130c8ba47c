package import PipelineModel
import Platform

/// A pipeline as an inbox uses it: with one open input, for the recording.
package struct WatchedPipeline: Sendable {
  package let definition: PipelineDefinition
  /// An absolute path.
  package let path: String
  package let text: String
  /// The values of its variables, as typed.
  package let overrides: [String: String]
  /// The input for the recording.
  package let input: String

  /// The folder of `--plugins`, an absolute path, which resumed runs need; nil if there is none.
  package var pluginFolder: String?
  /// Where the key of its receipts is, for runs by hand; nil if it was not named.
  package var signing: RunRequest.Signing?
  /// The plugins behind its stages as they are now, for the run records; nil if there are none.
  package var plugins: @Sendable () -> [PluginUse]? = { nil }
  /// The stage kinds with plugins that were changed since; nil where none was.
  package var changedCatalog: @Sendable () -> StageCatalog? = { nil }
  /// The input for a transcript beside the recording; nil if it has none.
  package let transcriptInput: String?

  /// Whether a stage writes receipts.
  package let asksForReceipts: Bool
  /// What its stages have delivered.
  package let deliveries: [DeliveryRequest]

  private let overrideNodes: [String: DocumentNode]
  private let catalog: StageCatalog

  /// Checks that a pipeline runs unattended.
  /// - Throws: every problem at once: those of the pipeline with these overrides, and inputs that
  ///   remain open.
  package init(
    _ definition: PipelineDefinition, text: String, path: String, catalog: StageCatalog,
    overrides: [String: (text: String, node: DocumentNode)]
  ) throws(PlanError) {
    let nodes = overrides.mapValues(\.node)
    var problems = Plan.problems(in: definition, catalog: catalog, overrides: nodes)
    let sounds = definition.inputs.filter { $0.kind == .sound }
    for input in definition.inputs where input.kind != .sound && !input.isOptional {
      problems.append(
        Problem(
          at: input.location, "nobody can give the input \"\(input.name)\" in an inbox",
          allowed: "\(input.name): \(input.kind.rawValue)?, so that it may be left out"))
    }
    for input in sounds.dropFirst() where !input.isOptional {
      problems.append(
        Problem(
          at: input.location, "\"\(input.name)\" is a second recording",
          allowed: "one input of kind sound, since recordings arrive one by one"))
    }
    for input in sounds.prefix(1) where input.isList {
      problems.append(
        Problem(
          at: input.location, "\"\(input.name)\" takes several recordings together",
          allowed: "\(input.name): \(input.kind.rawValue), since recordings arrive one by one"))
    }
    if sounds.isEmpty {
      problems.append(
        Problem(
          at: definition.inputs.first?.location, "the pipeline takes no recording",
          allowed: "an input of kind sound"))
    }
    guard problems.isEmpty, let input = sounds.first(where: { !$0.isOptional }) ?? sounds.first
    else { throw PlanError(problems: problems) }
    self.definition = definition
    self.text = text
    self.path = path
    self.catalog = catalog
    self.overrides = overrides.mapValues(\.text)
    self.input = input.name
    let texts = definition.inputs.filter { $0.kind == .transcript && !$0.isList }
    transcriptInput = texts.count == 1 ? texts.first?.name : nil
    overrideNodes = nodes
    let plan = try? Plan(
      definition, catalog: catalog, inputs: [input.name: "recording"], overrides: nodes)
    asksForReceipts = plan?.receiptStep != nil
    deliveries = plan?.deliveringSteps.compactMap(\.stage.delivery) ?? []
  }

  /// Whether a recording counts as uploaded only once a second place has it.
  package var requiresDelivery: Bool { deliveries.contains(where: \.isRequired) }

  func isSame(as other: WatchedPipeline) -> Bool {
    text == other.text && path == other.path && overrides == other.overrides
  }

  /// The plan for a recording.
  /// - Parameters:
  ///   - files: its file and, if one came with it, its transcript, by input.
  ///   - request: what its sidecar asks of the pipeline, if anything.
  /// - Throws: if the sidecar asks for something not allowed, or the pipeline no longer runs.
  func plan(
    for files: [String: SourceFile], request: DocumentNode?
  ) throws(SpoolError) -> Plan {
    let own = try SidecarOverrides.read(
      request, of: "of the recording", variables: definition.variables)
    do throws(PlanError) {
      return try Plan(
        definition, catalog: changedCatalog() ?? catalog, inputs: files.mapValues(\.name),
        overrides: overrideNodes.merging(own) { _, own in own }
      ).with(files: files)
    } catch {
      throw own.isEmpty ? SpoolError(error) : SidecarOverrides.refusal(error)
    }
  }

  /// The values of its variables as typed, with what a recording's sidecar asks for.
  func overrides(with request: DocumentNode?) throws(SpoolError) -> [String: String] {
    let own = try SidecarOverrides.read(
      request, of: "of the recording", variables: definition.variables)
    return overrides.merging(own.mapValues(\.overrideText)) { _, own in own }
  }

  /// The step of a plan that decodes the recording to its end, and so identifies its sound; nil if
  /// the pipeline begins in another way.
  func source(of plan: Plan) -> StepID? {
    plan.steps.first { step in
      guard case .streaming(_, .source) = step.descriptor.flow else { return false }
      return step.sources.values.contains(.input(input))
    }?.id
  }
}

extension SpoolError {
  /// A pipeline that was valid before: something it depends on has changed.
  fileprivate init(_ error: PlanError) {
    self.init(
      "the pipeline cannot run", reason: error.problems.map(\.message).joined(separator: "; "),
      advice: "\(command: .checkPipeline) says more", cause: .environment)
  }
}

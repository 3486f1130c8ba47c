public import PipelineModel

/// A pipeline as an inbox uses it: one recording goes in, and everything else is settled before.
public struct WatchedPipeline: Sendable {
  /// What it does.
  public let definition: PipelineDefinition
  /// Its file, an absolute path.
  public let path: String
  /// Its file's text, which runs remember.
  public let text: String
  /// What overrides its variables, as typed.
  public let overrides: [String: String]
  /// The one input that recordings go into.
  public let input: String

  /// The folder of `--plugins`, an absolute path, which its runs are gone on with; nil where there is none.
  public var pluginFolder: String?
  /// Tells the plugins behind its stages as they are now, which runs remember; nil where there are none.
  public var plugins: @Sendable () -> [PluginUse]? = { nil }
  /// The input that the transcripts go into which lie beside recordings; nil where it has none.
  public let transcriptInput: String?

  private let overrideNodes: [String: DocumentNode]
  private let catalog: StageCatalog

  /// Checks that a pipeline can work on its own.
  /// - Throws: every problem at once: those of the pipeline with these overrides, and inputs that
  ///   nobody would give.
  public init(
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
  }

  /// Whether both do the same.
  func isSame(as other: WatchedPipeline) -> Bool {
    text == other.text && path == other.path && overrides == other.overrides
  }

  /// The whole pipeline for a recording.
  /// - Parameters:
  ///   - transcript: the file that says what is said in it, if one came with it.
  ///   - request: what the recording's sidecar asks of the pipeline, if anything.
  /// - Throws: where the sidecar asks for what it may not, or the pipeline does not run any more.
  func plan(
    for recording: String, transcript: String?, request: DocumentNode?
  ) throws(StageError) -> Plan {
    let own = try SidecarOverrides.read(
      request, of: "of the note", variables: definition.variables)
    var inputs = [input: recording]
    if let transcriptInput, let transcript { inputs[transcriptInput] = transcript }
    do throws(PlanError) {
      return try Plan(
        definition, catalog: catalog, inputs: inputs,
        overrides: overrideNodes.merging(own) { _, own in own })
    } catch {
      throw own.isEmpty ? StageError(error) : SidecarOverrides.refusal(error)
    }
  }

  /// The step of a plan that reads the recording to its end, and so tells which sound it holds; nil
  /// where the pipeline begins in another way.
  func source(of plan: Plan) -> StepID? {
    plan.steps.first { step in
      guard case .streaming(_, .source) = step.descriptor.flow else { return false }
      return step.sources.values.contains(.input(input))
    }?.id
  }
}

extension StageError {
  /// A pipeline that does not fit its recording, which was checked before: something it depends on
  /// has changed.
  fileprivate init(_ error: PlanError) {
    self.init(
      "the pipeline cannot run", reason: error.problems.map(\.message).joined(separator: "; "),
      advice: "spool check-pipeline says more", cause: .environment)
  }
}

import PipelineEngine
package import PipelineModel
package import Platform

/// The parameters of a batch.
package struct BatchOrder: Sendable {
  package let definition: PipelineDefinition
  /// The pipeline's file, an absolute path without links.
  package let pipelinePath: String
  /// The pipeline's file as the user named it, an absolute path: earlier records may use it.
  package let namedPipelinePath: String
  package let catalog: StageCatalog
  /// The values of `--set`.
  package let overrides: [String: DocumentNode]
  /// The values of `--set`, as typed.
  package let overrideTexts: [String: String]
  /// The folder of the recordings: an absolute path without links.
  package let folder: String
  /// The folder for the exports: an absolute path without links.
  package let output: String
  package var selection = FileSelection()
  /// The template of export names; nil to mirror the folder.
  package var template: NameTemplate?
  /// Whether to process only files that failed in the last batch.
  package var retriesFailedOnly = false
  /// Whether files that Spool did not write may be replaced.
  package var isReplacing = false
  /// Whether to begin although the results may not fit on the disks.
  package var ignoresRoom = false
  /// Whether to take the output folder as it lies now, though its disk was another one.
  package var ignoresMounts = false
  /// The pipeline's text, for resuming its runs; nil if unknown.
  package var pipelineText: String?
  /// The command that resumes the batch, for advice; nil if there is none.
  package var command: String?
  /// The folder of `--plugins`, an absolute path, for resuming runs; nil if there is none.
  package var pluginFolder: String?
  /// Where the key of its receipts is, for resuming runs; nil if it was not named.
  package var signing: RunRequest.Signing?
  /// The plugins behind its stages, for the run records; nil if there are none.
  package var plugins: [PluginUse]?
  /// The figures for all recordings as one album.
  var album: AlbumFigures = [:]
  /// The pipeline's input for the recordings.
  package let input: String
  /// The pipeline's input for transcripts; nil if it has none, or several.
  package let transcriptInput: String?
  /// The plan for a recording with a transcript; nil if the pipeline takes none.
  private let transcriptPlan: Plan?
  /// The plan for a recording without a sidecar.
  package let plan: Plan

  /// Throws every problem of the pipeline at once.
  package init(
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
    guard !input.isList else {
      throw PlanError(problems: [
        Problem(
          at: input.location,
          "a batch gives each run one recording, and \"\(input.name)\" takes several together",
          allowed: "\(input.name): \(input.kind.rawValue); \(command: .run) takes them all")
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

  /// Whether a stage of the pipeline writes receipts.
  package var asksForReceipts: Bool { plan.receiptStep != nil }
  /// What the pipeline has delivered.
  package var deliveries: [DeliveryRequest] { plan.deliveringSteps.compactMap(\.stage.delivery) }

  /// Whether a stage writes words for people, be it only beside a transcript.
  var writesWords: Bool {
    [plan, transcriptPlan].compactMap(\.self).contains { plan in
      plan.steps.contains { $0.stage.correctedInput != nil }
    }
  }

  /// The identity of a batch of this folder and this pipeline in the store.
  var identity: Digest { identity(ofPipelineAt: pipelinePath) }

  /// Its identity in earlier versions, which used the pipeline's path as the user named it.
  var earlierIdentity: Digest? {
    namedPipelinePath == pipelinePath ? nil : identity(ofPipelineAt: namedPipelinePath)
  }

  private func identity(ofPipelineAt path: String) -> Digest {
    Self.digest(["spool-batch-1", folder, path])
  }

  /// Everything that decides on a file's exports besides the file and its sidecar.
  var settings: Digest {
    var fields = ["spool-batch-settings-1", output, template?.text ?? ""]
    // A transcript may add steps: their parameters count as well.
    let plans = [plan, transcriptPlan].compactMap(\.self)
    for step in plans.flatMap({ ((try? $0.settled(album)) ?? $0).steps }) {
      fields += ["step", step.id.name, step.keyComponents(inputs: [:]).key.digest.hex]
      fields.append(step.parameters.canonicalJSON)
      for path in (step.stage as? any PublishingStage)?.attachments ?? [] {
        let bytes = try? FileOperations.system.bytes(following: path, limit: 1 << 26)
        fields += ["attachment", bytes.map { SHA256.digest(of: $0).hex } ?? "missing"]
      }
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

  /// The plan for one recording, with its transcript if it has one.
  func plan(
    for path: String, sidecar: SidecarSettings?, transcript: String? = nil
  ) throws(SpoolError) -> Plan {
    var inputs = [input: PathText.join(folder, path)]
    if let transcriptInput, let transcript {
      inputs[transcriptInput] = PathText.join(folder, transcript)
    }
    guard let given = sidecar?.overrides, !given.isEmpty else {
      let plan = inputs.count > 1 ? transcriptPlan ?? plan : plan
      return try plan.with(files: inputs.mapValues { SourceFile($0) }).settled(album)
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

  /// The exports of a recording named `name`, as paths below the output folder.
  ///
  /// With those that it has only beside a transcript, such as captions.
  func exports(called name: String) -> [String] {
    let names = [input: Self.calledPath(name)]
    let paths = plan.exportPaths(names)
    let others = (transcriptPlan?.exportPaths(names) ?? []).filter { !paths.contains($0) }
    return (paths + others).map { PathText.join(PathText.folder(of: name), $0) }
  }

  /// A name as a recording's path, whose extension does not count.
  static func calledPath(_ name: String) -> String { PathText.name(of: name) + ".recording" }

  /// The name of a recording's exports, without extension and safe, in its own folders.
  static func exportName(_ name: String) -> String {
    PathText.join(PathText.folder(of: name), ExportName.stem(of: calledPath(name)))
  }

  private static func digest(_ fields: [String]) -> Digest {
    SHA256.digest(of: fields.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n"))
  }
}

extension BatchOrder {
  /// Finds the recordings. Reads no store. O(n log n) for n files.
  /// - Throws: if there are none.
  package func find() throws(SpoolError) -> TreeWalk.Finding {
    let finding = TreeWalk(
      root: folder, outputFolder: output, selection: selection,
      takesTranscripts: transcriptInput != nil
    ).find()
    if finding.isEmpty { throw nothing(in: finding) }
    return finding
  }

  /// The error for a folder without recordings that are taken.
  private func nothing(in finding: TreeWalk.Finding) -> SpoolError {
    let excluded = finding.skipped.entries.filter { $0.reason == .excluded }.map(\.path)
    let recordings = excluded.filter { selection.wants($0) }
    // What lies in an excluded folder is not known.
    let closed = excluded.first {
      (try? FileStamp(at: PathText.join(folder, $0)))?.isFolder == true
    }
    let reason: String
    if let first = recordings.first {
      reason =
        "\(option: .exclude) leaves out \(first)" + (recordings.count > 1 ? " and others" : "")
    } else {
      reason =
        "no file in it or below it has an extension of sound"
        + (closed.map { "; \(option: .exclude) leaves out what is in \($0)" } ?? "")
    }
    return SpoolError(
      "there is no recording in \(folder)", reason: reason,
      advice: recordings.isEmpty && closed == nil
        ? "name another folder, or take other files too with \(option: .include) '*.EXT'"
        : "leave \(option: .exclude) out, or give it a narrower pattern")
  }
}

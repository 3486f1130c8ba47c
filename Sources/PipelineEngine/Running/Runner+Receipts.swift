import PipelineModel
import Platform

/// The receipts of a run, its last work.
extension Runner {
  /// Throws, before any work, if the run's receipts could not be written at its end.
  func checkReceiptWriter(_ plan: Plan, _ options: Options) throws {
    guard let asking = plan.steps.first(where: { $0.stage is any ReceiptStage }) else {
      if options.isReceiptWanted, !plan.exportingSteps.isEmpty { try receiptWriter?.prepare() }
      return
    }
    do throws(SpoolError) {
      guard let receiptWriter else {
        throw SpoolError(
          "no receipt can be written here", reason: "nobody who could sign it was named")
      }
      guard !plan.exportingSteps.isEmpty else {
        throw Self.nothingToProve(asking)
      }
      try receiptWriter.prepare()
    } catch {
      throw PassFailure(asking.id, error)
    }
  }

  private static func nothingToProve(_ step: BoundStep) -> SpoolError {
    SpoolError(
      "there is nothing to write a receipt for", reason: "the pipeline exports no file",
      advice: "add an export, or take \(step.descriptor.kind) out")
  }

  /// Throws, before any work, if a run would replace exports but not their receipt.
  /// - Parameter recordings: the identities of the plan's inputs.
  func checkReceiptPlaces(
    _ plan: Plan, _ options: Options, _ recordings: [String: StepOutput], _ record: RunRecord
  ) throws {
    let receipts = receiptNames(of: plan, options)
    guard let receiptWriter, !options.isReplacing, !receipts.isEmpty else { return }
    let status = try Survey(plan, recordings: recordings, store: store).status
    for (step, fileNames) in receipts {
      do throws(SpoolError) {
        try receiptWriter.inspect(
          ReceiptPlace(
            folder: folder(of: plan, options),
            stampFolder: enclosure(of: plan, options).map { "\(options.folder)/\($0.folder)" }
              ?? options.folder,
            fileNames: fileNames,
            recording: recording(of: step, plan, recordings),
            pipelineDigest: record.request.map { SHA256.digest(of: $0.pipelineText) },
            isWorkPending: plan.exportingSteps.contains { status[$0.id] == .pending },
            exportFolder: exportFolder(of: plan, options)))
      } catch {
        throw PassFailure(step, error)
      }
    }
  }

  /// Whether a receipt will cover the exports.
  func writesReceipts(of plan: Plan, _ options: Options) -> Bool {
    receiptWriter != nil
      && (options.isReceiptWanted || plan.steps.contains { $0.stage is any ReceiptStage })
  }

  /// The wanted receipts: the steps that ask for them, and the files' names.
  private func receiptNames(
    of plan: Plan, _ options: Options
  ) -> [(step: StepID, fileNames: [String])] {
    let places = plan.steps.compactMap { step in
      (step.stage as? any ReceiptStage).map { stage in
        (step.id, stage.fileNames(of: step.id, recordings: names(of: step, plan, options)))
      }
    }
    guard places.isEmpty, options.isReceiptWanted, let last = plan.exportingSteps.last,
      let receiptWriter
    else { return places }
    let name = names(of: last, plan, options).first ?? plan.name
    return [(last.id, receiptWriter.fileNames(for: name))]
  }

  private func recording(
    of step: StepID, _ plan: Plan, _ recordings: [String: StepOutput]
  ) -> RecordingIdentity? {
    guard let name = plan.recordings(of: step).first, let path = plan.inputs[name],
      let digest = recordings[name]?.identity
    else { return nil }
    return RecordingIdentity(path: path, digest: digest)
  }

  /// Writes every wanted receipt.
  /// - Parameter recordings: the identities of the plan's inputs.
  func writeReceipts(
    of plan: Plan, _ options: Options, _ recordings: [String: StepOutput],
    _ progress: inout RunProgress
  ) throws {
    guard let receiptWriter else { return }
    // Receipts cover exports, and not each other.
    let run = progress.record
    for (step, fileNames) in receiptNames(of: plan, options) {
      do throws(SpoolError) {
        try stop.check()
        if run.published.isEmpty {
          guard let asking = plan.step(step), asking.stage is any ReceiptStage else { return }
          throw Self.nothingToProve(asking)
        }
        let context = try context(
          run, plan, options, recordings, step: step, fileNames: fileNames)
        let files = try receiptWriter.write(context)
        for file in files {
          progress.record.published.append(file)
          recorder.record(.published(file))
        }
        guard let asking = plan.step(step), asking.stage is any ReceiptStage,
          let index = progress.record.steps.firstIndex(where: { $0.id == step }),
          progress.record.steps[index].outcome == .reused
        else { continue }
        if files.allSatisfy(\.wasThere) {
          recorder.record(.reused(step, kind: asking.descriptor.kind))
        } else {
          progress.record.steps[index].outcome = .made
        }
      } catch {
        throw PassFailure(step, error)
      }
    }
  }

  private func earlierRuns() throws(SpoolError) -> [RunRecord] {
    return try log.newest(limit: Self.historyLimit)
  }

  private func context(
    _ run: RunRecord, _ plan: Plan, _ options: Options, _ recordings: [String: StepOutput],
    step: StepID, fileNames: [String]
  ) throws(SpoolError) -> ReceiptContext {
    let survey: Survey
    survey = try Survey(plan, recordings: recordings, store: store)
    var work: [ReceiptContext.Work] = []
    var makers: [RunRecord]?
    for bound in plan.steps where !(bound.stage is any ReceiptStage) {
      guard var record = run.steps.first(where: { $0.id == bound.id }),
        let checkpoint = survey.checkpoint(of: bound.id)
      else {
        throw SpoolError(
          "no receipt can be written", reason: "the record of the step \(bound.id) is gone",
          advice: "run it again: what is missing is made anew", cause: .transient)
      }
      var maker: RunRecord?
      if record.finishedAt == nil {
        // Only the run that made it records the time.
        if makers == nil { makers = try earlierRuns() }
        for run in makers ?? [] {
          let made = run.steps.first { $0.key == record.key && $0.finishedAt != nil }
          guard let made else { continue }
          maker = run
          record.begunAt = made.begunAt
          record.finishedAt = made.finishedAt
          break
        }
      }
      work.append(
        ReceiptContext.Work(
          record: record, components: checkpoint.components, maker: maker?.id,
          host: maker?.workplace))
    }
    return ReceiptContext(
      run: run, work: work, origins: options.origins, step: step, fileNames: fileNames,
      recording: recording(of: step, plan, recordings), folder: folder(of: plan, options),
      enclosure: enclosure(of: plan, options),
      authorities: (plan.step(step)?.stage as? any ReceiptStage)?.authorities ?? [],
      isReplacing: options.isReplacing,
      now: clock.now, store: store, exportFolder: exportFolder(of: plan, options))
  }
}

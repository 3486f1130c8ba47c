import PipelineModel
import Platform
import Synchronization

/// The receipts of a run, its last work.
extension Execution {
  /// Throws, before any work, if the run's receipts could not be written at its end.
  func checkReceiptWriter() throws {
    guard let asking = plan.receiptStep else { return }
    do throws(SpoolError) {
      guard let receiptWriter = runner.receiptWriter else {
        throw SpoolError(
          "no receipt can be written here", reason: "nobody who could sign it was named")
      }
      guard !plan.exportingSteps.isEmpty else { throw Self.nothingToProve(asking) }
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
  func checkReceiptPlaces(_ record: RunRecord) throws {
    let receipts = receiptNames
    guard let receiptWriter = runner.receiptWriter, !options.isReplacing, !receipts.isEmpty else {
      return
    }
    let status = try survey().status
    for (asking, fileNames) in receipts {
      let step = asking.id
      let exportFolder = exportFolder.of(asking, namesake: namesake(of: asking))
      do throws(SpoolError) {
        let signed = try receiptWriter.inspect(
          ReceiptPlace(
            folder: folder,
            stampFolder: enclosure.map { "\(options.folder)/\($0.folder)" }
              ?? options.folder,
            fileNames: fileNames,
            recording: recording(of: step),
            pipelineDigest: record.request.map { SHA256.digest(of: $0.pipelineText) },
            isWorkPending: plan.exportingSteps.contains { status[$0.id] == .pending },
            exportFolder: exportFolder))
        exports.signed.withLock { $0.formUnion(signed) }
      } catch {
        throw PassFailure(step, error)
      }
    }
  }

  /// Whether a receipt will cover the exports.
  var writesReceipts: Bool {
    runner.receiptWriter != nil && plan.receiptStep != nil
  }

  /// The wanted receipts: the steps that ask for them, and the files' names.
  var receiptNames: [(step: BoundStep, fileNames: [String])] {
    plan.steps.compactMap { step -> (BoundStep, [String])? in
      guard step.stage.receipt != nil, let stage = step.stage as? any PublishingStage else {
        return nil
      }
      return (step, stage.fileNames(of: step.id, recordings: names(of: step)))
    }
  }

  /// The nearest recording of a step; nil if it has none, or before they are read.
  func recording(of step: StepID) -> RecordingIdentity? {
    guard let name = plan.recordings(of: step).first, let path = plan.inputs[name],
      let digest = recordings[name]?.identity
    else { return nil }
    return RecordingIdentity(path: path, digest: digest)
  }

  /// Writes every wanted receipt.
  func writeReceipts(_ progress: inout RunProgress) throws {
    guard let receiptWriter = runner.receiptWriter else { return }
    // Receipts cover exports, and not each other.
    let run = progress.record
    for (asking, fileNames) in receiptNames {
      let step = asking.id
      do throws(SpoolError) {
        try runner.stop.check()
        let (begunAt, began) = (clock.now, clock.elapsed)
        if run.published.isEmpty { throw Self.nothingToProve(asking) }
        let context = try context(run, asking: asking, fileNames: fileNames)
        let covered =
          options.isReplacing
          ? fileNames.flatMap { receiptWriter.files(coveredBy: "\(folder)/\($0)") } : []
        let files = try receiptWriter.write(context)
        warnOfUncovered(covered, besides: files, step)
        if let receipt = files.first(where: { $0.leaf != nil }) {
          try exportFolder.protect(run.published.map(\.path), by: receipt.path)
        }
        for file in files {
          progress.record.published.append(file)
          recorder.record(.published(file))
        }
        let wasThere = files.allSatisfy(\.wasThere)
        guard let checkpoint = try survey().checkpoint(of: step),
          progress.settleLast(step, checkpoint, wasThere: wasThere, store: store)
        else { continue }
        if wasThere {
          recorder.record(.reused(step, kind: asking.descriptor.kind))
        } else if let made = progress.makeAgain(
          step, begunAt: begunAt, workSeconds: clock.elapsed - began)
        {
          recorder.record(.finished(made))
        }
      } catch {
        throw PassFailure(step, error)
      }
    }
  }

  /// Warns of exports whose receipt had to make way for another one.
  private func warnOfUncovered(
    _ files: [String], besides written: [PublishedFile], _ step: StepID
  ) {
    guard let receiptWriter = runner.receiptWriter else { return }
    for path in files.sorted()
    where !written.contains(where: { $0.path == path }) && FilePath.exists(path)
      && receiptWriter.receipts(covering: path).isEmpty
    {
      recorder.record(
        .warning(
          step,
          "\(path) is covered by no receipt any more: this one took the place of that which signed it; "
            + "give this step a name of its own, as name: \"{stem}.\(plan.name)\", and run what made that "
            + "file again"))
    }
  }

  private func context(
    _ run: RunRecord, asking: BoundStep, fileNames: [String]
  ) throws(SpoolError) -> ReceiptContext {
    let survey = try survey()
    var work: [ReceiptContext.Work] = []
    var makers: [RunRecord]?
    for bound in plan.steps where bound.stage.receipt == nil && bound.stage.delivery == nil {
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
        if makers == nil { makers = try runner.log.newest(limit: Runner.historyLimit) }
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
      run: run, files: plan.files, work: work, origins: options.origins, step: asking.id,
      fileNames: fileNames,
      recording: recording(of: asking.id), folder: folder, enclosure: enclosure,
      authorities: asking.stage.receipt?.authorities ?? [],
      isReplacing: options.isReplacing, replaced: exports.replaced.withLock { $0 },
      now: clock.now, store: store,
      exportFolder: exportFolder.of(asking, namesake: namesake(of: asking)))
  }
}

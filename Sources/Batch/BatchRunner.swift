import Sidecars
import Hashing
import PipelineEngine
public import PipelineModel
import Synchronization
import Threading

/// Runs a pipeline over a folder: looks at every file, works on those that are not done, several at
/// once, and writes down what became of each.
public struct BatchRunner: Sendable {
  private var order: BatchOrder
  private let workplace: BatchWorkplace
  private let budget: BatchBudget

  /// Makes a runner.
  public init(_ order: BatchOrder, in workplace: BatchWorkplace, budget: BatchBudget) {
    self.order = order
    self.workplace = workplace
    self.budget = budget
  }

  /// Does everything on the calling thread and threads of its own. Blocks.
  ///
  /// A file that fails is recorded and ends nothing.
  /// - Parameter id: names the batch; its runs' names begin with it.
  /// - Throws: what makes all of it impossible: no store, no room, nothing to work on.
  public func run(id: RunID) throws(StageError) -> BatchSummary {
    let startedAt = workplace.clock.now
    let finding = TreeWalk(
      root: order.folder, outputFolder: order.output, selection: order.selection,
      takesTranscripts: order.transcriptInput != nil
    ).find()
    guard !finding.files.isEmpty || !finding.troubles.isEmpty else {
      throw StageError(
        "there is no recording in \(order.folder)",
        reason: "no file in it or below it has an extension of sound",
        advice: "name another folder, or take other files too with --include '*.EXT'")
    }
    var runner = self
    runner.order.album = try AlbumListening(order: order, workplace: workplace, budget: budget)
      .figures(for: finding.files, id: id)
    return try runner.run(finding, id: id, startedAt: startedAt)
  }

  /// Does everything that comes after listening.
  private func run(
    _ finding: TreeWalk.Finding, id: RunID, startedAt: Double
  ) throws(StageError) -> BatchSummary {
    let plan: BatchPlan
    do throws(StoreError) {
      var survey = try BatchSurvey(order, workplace)
      plan = survey.sort(finding)
    } catch {
      throw StageError(error)
    }
    let (forecast, costs) = try forecast(plan)
    workplace.recorder.record(.planned(forecast))
    if !order.ignoresRoom { try forecast.checkRoom(output: order.output) }
    for result in plan.settled where result.outcome == .failed {
      workplace.recorder.record(.finished(result))
    }
    let results = work(
      through: WorkQueue(plan.jobs, costs: costs), workers: forecast.workerCount, id: id)
    let all = (plan.settled + results).sorted { PathText.isBefore($0.path, $1.path) }
    let finishedAt = workplace.clock.now
    var summary = BatchSummary(all, seconds: finishedAt - startedAt)
    summary.skipped = plan.skipped
    summary.renamedCount = plan.renamedCount
    // Where nothing was to be retried, the report of the batch before still says it all.
    let isIdle = order.retriesFailedOnly && plan.jobs.isEmpty
    do throws(StageError) {
      summary.reportPath =
        isIdle
        ? nil
        : try BatchReport(
          order, all, skipped: plan.skipped, pause: summary.pause, startedAt: startedAt,
          finishedAt: finishedAt
        ).write(with: workplace.store)
    } catch {
      summary.reportTrouble = error.message + (error.reason.map { ": \($0)" } ?? "")
    }
    workplace.recorder.record(.ended(summary))
    return summary
  }

  /// Lets every worker take one file after the other until there is none, somebody asks to stop, or a
  /// disk is full.
  private func work(through queue: WorkQueue, workers: Int, id: RunID) -> [BatchFileResult] {
    let state = Mutex((queue: queue, results: [BatchFileResult](), isPaused: false))
    let settings = order.settings
    let threads = (0..<workers).map { number in
      BackgroundThread(name: "file-\(number + 1)") {
        while !workplace.stop.isRequested,
          let (number, job, share) = state.withLock({ $0.isPaused ? nil : $0.queue.next() })
        {
          workplace.recorder.record(.started(path: job.file.path, share: share))
          let run = FileRun(order: order, workplace: workplace, settings: settings, job: job)
          let result = run.run(id: RunID("\(id)-\(number)"), of: id)
          workplace.recorder.record(.finished(result))
          state.withLock { state in
            state.results.append(result)
            // What is under way may still fit.
            if result.pause != nil { state.isPaused = true }
          }
        }
      }
    }
    threads.forEach { $0.join() }
    return state.withLock { state in
      state.results
        + state.queue.drain().map {
          BatchFileResult(
            path: $0.file.path, outcome: .interrupted,
            report: FileReport(path: $0.file.path, name: $0.name, wantedName: $0.wantedName).json)
        }
    }
  }

  /// How long a recording is whose work is in the store, and was not foreseen.
  private func length(of file: FoundFile) -> Double? {
    workplace.length(PathText.join(order.folder, file.path))
  }

  /// Looks into some of the files, and reckons with the rest.
  private func forecast(_ plan: BatchPlan) throws(StageError) -> (BatchForecast, CostModel) {
    var forecast = BatchForecast()
    forecast.pendingCount = plan.jobs.count
    forecast.reusedCount = plan.count(.reused)
    forecast.troubleCount = plan.count(.failed)
    forecast.leftOutCount = plan.count(.leftOut)
    forecast.exportFolders = plan.exportFolders
    forecast.skipped = plan.skipped
    forecast.renamedCount = plan.renamedCount
    forecast.workerCount = plan.jobs.isEmpty ? 0 : budget.workerCount(for: plan.jobs.count)
    var costs = CostModel()
    let bySize = plan.jobs.sorted { $0.file.byteCount < $1.file.byteCount }
    let sample = CostModel.sample(of: bySize.count)
    let runner = Runner(
      store: workplace.store, executors: workplace.executors, recorder: Deaf(),
      stop: workplace.stop, clock: workplace.clock)
    for index in sample where !workplace.stop.isRequested {
      let file = bySize[index].file
      // A file that cannot be looked into says why when its turn comes.
      guard
        let foreseen = try? runner.forecast(
          try order.plan(for: file.path, sidecar: nil), Runner.Options(folder: order.output))
      else {
        costs.addHopeless(file)
        continue
      }
      costs.add(
        CostModel.Cost(foreseen, length: foreseen.mediaSeconds ?? length(of: file)), of: file)
    }
    let each = plan.jobs.map { costs[$0.file] }
    let total = each.reduce(CostModel.Cost(), +)
    // Only the files under way have anything laid aside; at worst, those are the hungriest.
    let scratch = each.map(\.scratchByteCount).sorted(by: >).prefix(forecast.workerCount)
    forecast.isSampled = sample.count < plan.jobs.count
    forecast.mediaSeconds = plan.reusedSeconds + total.mediaSeconds
    forecast.seconds = total.seconds
    forecast.storeByteCount = Int(scratch.reduce(total.storeByteCount, +))
    forecast.publishedByteCount = Int(total.publishedByteCount)
    do throws(StoreError) {
      forecast.storeFreeByteCount = try workplace.store.freeByteCount()
      forecast.outputFreeByteCount = try workplace.store.freeByteCount(at: order.output)
    } catch {
      throw StageError(error)
    }
    forecast.sharesDisk = workplace.store.sharesDisk(with: order.output)
    return (forecast, costs)
  }
}

/// Hears nothing: looking ahead tells nobody.
private struct Deaf: RunRecorder {
  func record(_ event: RunEvent) {}
}

import PipelineEngine
package import PipelineModel
package import Platform
import Store
import Synchronization

/// Runs a pipeline over a folder: surveys every file, processes those that are not done, several at
/// once, and records every outcome.
package struct BatchRunner: Sendable {
  private var order: BatchOrder
  private let workplace: BatchEnvironment
  private let budget: BatchBudget

  package init(_ order: BatchOrder, in workplace: BatchEnvironment, budget: BatchBudget) {
    self.order = order
    self.workplace = workplace
    self.budget = budget
  }

  /// Runs the batch on the calling thread and its own threads. Blocks.
  ///
  /// A failed file is recorded and does not end the batch.
  /// - Parameters:
  ///   - finding: what `find()` of the order found.
  ///   - id: the batch's id, a prefix of its runs' ids.
  /// - Throws: what makes the whole batch impossible: no store, no room, no files.
  package func run(
    _ finding: TreeWalk.Finding, id: RunID
  ) throws(SpoolError) -> BatchSummary {
    let startedAt = workplace.clock.now
    // Its exports would all be made again, in another place.
    try MountPoint.checkDisk(
      ofOutput: order.output, in: workplace.store, isIgnored: order.ignoresMounts)
    let finding = try finding.withoutExports(of: order, in: workplace)
    var runner = self
    runner.order.album = try albumFigures(for: finding.files, id: id)
    return try runner.run(finding, id: id, startedAt: startedAt)
  }

  /// Runs everything after the album analysis.
  private func run(
    _ finding: TreeWalk.Finding, id: RunID, startedAt: Double
  ) throws(SpoolError) -> BatchSummary {
    let plan = try BatchPlan(for: finding, order, workplace)
    let (forecast, costs) = try forecast(plan)
    workplace.recorder.record(.planned(forecast))
    if !order.ignoresRoom { try forecast.checkRoom(output: order.output) }
    try giveUpStopped(of: plan)
    // For the report, if for nothing else.
    try workplace.store.makeFolder(order.output)
    for result in plan.settled where result.outcome == .failed {
      workplace.recorder.record(.finished(result))
    }
    let results = work(
      through: BatchPlan.Queue(plan.jobs, costs: costs), workers: forecast.workerCount, id: id,
      owners: plan.owners)
    let all = (plan.settled + results).sorted { PathText.isBefore($0.path, $1.path) }
    let finishedAt = workplace.clock.now
    var summary = BatchSummary(all, seconds: finishedAt - startedAt)
    summary.skipped = plan.skipped
    summary.renamed = plan.renamed
    summary.earlierExports = plan.earlierExports(after: results)
    // If there was nothing to retry, the last batch's report still holds.
    let isIdle = order.retriesFailedOnly && plan.jobs.isEmpty
    do throws(SpoolError) {
      summary.reportPath =
        isIdle
        ? nil
        : try BatchReport(
          order: order, results: all, skipped: plan.skipped,
          earlierExports: summary.earlierExports, pause: summary.pause, startedAt: startedAt,
          finishedAt: finishedAt
        ).write(with: workplace.store)
    } catch {
      if error.isFullDisk { summary.pause = summary.pause ?? error }
      let file = PathText.join(order.output, BatchReport.fileName)
      let advice =
        !error.isFullDisk && FilePath.exists(file)
        ? "move it away, and the next batch writes its report there" : error.advice
      summary.reportTrouble =
        error.message + (error.reason.map { ": \($0)" } ?? "") + (advice.map { "; \($0)" } ?? "")
    }
    workplace.recorder.record(.ended(summary))
    return summary
  }

  /// Gives up what was stopped, with whatever settings, of recordings that are done with these: its
  /// exports would take the place of those that are there.
  private func giveUpStopped(of plan: BatchPlan) throws(SpoolError) {
    let done = Set(
      plan.settled.filter { $0.outcome == .reused }
        .map { ExactText(PathText.join(order.folder, $0.path)) })
    if done.isEmpty { return }
    try workplace.store.runs.giveUp { run in
      run.pipeline == order.definition.name && run.batch?.folder == order.folder
        && run.batch?.output == order.output
        && run.inputs.values.contains { done.contains(ExactText($0)) }
    }
  }

  /// Each worker takes file after file until none is left, the user stops the batch, or a disk is
  /// full.
  /// - Parameter owners: the recordings of the batch that have exports, by the exports' paths.
  private func work(
    through queue: BatchPlan.Queue, workers: Int, id: RunID, owners: [ExactText: String]
  ) -> [BatchFileResult] {
    let (results, underWay) = ([BatchFileResult](), [Int: BatchPlan.Job]())
    let state = Mutex((queue: queue, results: results, underWay: underWay, isPaused: false))
    let settings = order.settings
    let owners = Mutex(owners)
    runThreads(workers, named: "file") {
      let next = state.withLock { state in
        let next = state.isPaused ? nil : state.queue.next()
        if let next { state.underWay[next.number] = next.job }
        return next
      }
      guard let (number, job, share) = next else { return false }
      workplace.recorder.record(.started(path: job.file.path, share: share))
      let result = job.run(
        order, workplace, settings: settings, id: RunID("\(id)-\(number)"), of: id
      ) { place in
        let own = job.file.path
        let owner = owners.withLock { owners in
          let owner = owners[ExactText(place)] ?? own
          owners[ExactText(place)] = owner
          return owner
        }
        return owner == own ? nil : owner
      }
      workplace.recorder.record(.finished(result))
      state.withLock { state in
        state.underWay[number] = nil
        state.results.append(result)
        // Files in progress may still fit.
        if result.pause != nil { state.isPaused = true }
      }
      return true
    }
    return state.withLock { state in
      let left = state.underWay.sorted { $0.key < $1.key }.map(\.value) + state.queue.drain()
      return state.results
        + left.map {
          BatchFileResult(
            path: $0.file.path, outcome: .interrupted,
            report: FileReport.json(path: $0.file.path, name: $0.name, wantedName: $0.wantedName))
        }
    }
  }

  /// Repeats `work` on so many threads until it returns false or the user stops the batch. Then work that
  /// comes to no clean point in time is left to its thread until the program exits: what it has noted is
  /// durable.
  private func runThreads(_ count: Int, named name: String, _ work: @escaping @Sendable () -> Bool)
  {
    let ends = Mailbox<Int>()
    let threads = (0..<count).map { number in
      BackgroundThread(name: "\(name)-\(number + 1)") {
        while !workplace.stop.isRequested, work() {}
        ends.send(number)
      }
    }
    var working = count
    var deadline: Double?
    while working > 0 {
      working -= ends.receive(atMost: .milliseconds(100)).count
      guard workplace.stop.isRequested else { continue }
      deadline = deadline ?? workplace.clock.elapsed + Self.patience
      if let deadline, working > 0, workplace.clock.elapsed >= deadline {
        threads.forEach { $0.letGo() }
        return
      }
    }
    threads.forEach { $0.join() }
  }

  /// Seconds for which work under way is awaited after a signal.
  private static let patience = 1.5

  /// The length of a recording that was reused and not forecast.
  private func length(of file: FoundFile) -> Double? {
    workplace.length(PathText.join(order.folder, file.path))
  }

  /// Examines a sample of the files, and extrapolates.
  private func forecast(_ plan: BatchPlan) throws(SpoolError) -> (
    BatchForecast, BatchForecast.CostModel
  ) {
    var forecast = BatchForecast()
    forecast.pendingCount = plan.jobs.count
    forecast.reusedCount = plan.count(.reused)
    forecast.troubleCount = plan.count(.failed)
    forecast.leftOutCount = plan.count(.leftOut)
    forecast.exportFolders = plan.exportFolders
    forecast.skipped = plan.skipped
    forecast.renamed = plan.renamed
    forecast.workerCount = plan.jobs.isEmpty ? 0 : budget.workerCount(for: plan.jobs.count)
    var costs = BatchForecast.CostModel()
    let bySize = plan.jobs.sorted { $0.file.byteCount < $1.file.byteCount }
    let sample = BatchForecast.CostModel.sample(of: bySize.count)
    let history = try workplace.runner().history()
    for index in sample where !workplace.stop.isRequested {
      let (file, transcript) = (bySize[index].file, bySize[index].transcript)
      let silent = SilentRecorder { [recorder = workplace.recorder] in
        recorder.record(.hashing(path: file.path, done: $0, total: $1))
      }
      // An unreadable file reports its failure when it is processed.
      guard
        let foreseen = try? workplace.runner(silent).forecast(
          try order.plan(for: file.path, sidecar: nil, transcript: transcript),
          Runner.Options(folder: order.output), from: history)
      else {
        costs.addHopeless(file)
        continue
      }
      for step in foreseen.work.unknownSteps where !forecast.unknownSteps.contains(step.name) {
        forecast.unknownSteps.append(step.name)
      }
      costs.add(
        .init(
          foreseen, length: foreseen.mediaSeconds ?? length(of: file),
          coreCount: budget.coreCount), of: file)
    }
    let each = plan.jobs.map { costs[$0.file] }
    let total = each.reduce(.init(), +)
    // Only files in progress hold scratch space; at worst, those with the largest need.
    let scratch = each.map(\.scratchByteCount).sorted(by: >).prefix(forecast.workerCount)
    forecast.isSampled = sample.count < plan.jobs.count
    forecast.mediaSeconds = plan.reusedSeconds + total.mediaSeconds
    forecast.seconds = max(
      total.wallSeconds(workers: forecast.workerCount, cores: budget.coreCount),
      each.map(\.seconds).max() ?? 0)
    forecast.storeByteCount = Int(scratch.reduce(total.storeByteCount, +))
    forecast.publishedByteCount = Int(total.publishedByteCount)
    forecast.storeFreeByteCount = try workplace.store.freeByteCount()
    forecast.outputFreeByteCount = try workplace.store.freeByteCount(at: order.output)
    forecast.sharesDisk = workplace.store.sharesDisk(with: order.output)
    return (forecast, costs)
  }
}

/// Analyses every recording of a batch before the first is processed, for the steps that treat them
/// as one album.
///
/// Every recording's result is a checkpoint: an interrupted batch resumes there, and another batch
/// of the same recordings analyses only new ones.
extension BatchRunner {
  /// The figures of the album steps; empty if there are none. Blocks.
  ///
  /// An unreadable recording does not count: it fails when it is processed.
  /// - Parameter files: by path.
  private func albumFigures(for files: [FoundFile], id: RunID) throws(SpoolError) -> AlbumFigures {
    var order = order
    for step in order.plan.albumSteps {
      guard let album = order.plan.step(step)?.stage.album else { continue }
      let known = order
      let figures = try album.figures { (wanted, round) throws(SpoolError) in
        try hear(files, for: step, wanted, known, id, round: round)
      }
      if !figures.isEmpty { order.album[step] = figures }
      workplace.recorder.record(.settled(step: step, words(figures, of: step)))
    }
    return order.album
  }

  /// Parameters as a pipeline writes them.
  private func words(_ figures: [String: Double], of step: StepID) -> [String: String] {
    var words: [String: String] = [:]
    for parameter in order.plan.step(step)?.descriptor.parameters ?? [] {
      guard let figure = figures[parameter.name] else { continue }
      if case .number(let unit, _) = parameter.type {
        words[parameter.name] = unit.format(figure)
      } else {
        words[parameter.name] = "\(figure)"
      }
    }
    return words
  }

  /// One round over all files, several at once.
  private func hear(
    _ files: [FoundFile], for step: StepID, _ wanted: [String: Double], _ order: BatchOrder,
    _ id: RunID, round: Int
  ) throws(SpoolError) -> [String] {
    let tell = { @Sendable (done: Int) in
      workplace.recorder.record(
        .listening(step: step, round: round, done: done, of: files.count))
    }
    tell(0)
    let state = Mutex((next: 0, done: 0, findings: [Int: String](), pause: SpoolError?.none))
    runThreads(budget.workerCount(for: files.count), named: "hear") {
      let next = state.withLock { state -> Int? in
        guard state.next < files.count, state.pause == nil else { return nil }
        defer { state.next += 1 }
        return state.next
      }
      guard let index = next else { return false }
      let finding = Result { () throws(SpoolError) in
        try hear(files[index], for: step, wanted, order, id)
      }
      state.withLock {
        switch finding {
        case .success(let finding): $0.findings[index] = finding
        case .failure(let error): $0.pause = error
        }
        $0.done += 1
        tell($0.done)
      }
      return true
    }
    guard !workplace.stop.isRequested else { throw .cancelled }
    return try state.withLock { (state) throws(SpoolError) in
      if let pause = state.pause { throw pause }
      return state.findings.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  /// The figures of one recording; nil if it is unreadable or independent.
  /// - Throws: if a disk is full: without the recording, all others would get another gain.
  private func hear(
    _ file: FoundFile, for step: StepID, _ wanted: [String: Double], _ order: BatchOrder,
    _ id: RunID
  ) throws(SpoolError) -> String? {
    let sidecar = file.sidecar.flatMap { try? SidecarSettings.read($0, of: order) }
    guard
      let plan = try? order.plan(for: file.path, sidecar: sidecar).surveying(step, with: wanted)
    else { return nil }
    do throws(RunError) {
      // An analysis is no run that a user looks up or resumes.
      let record = try workplace.runner(log: SilentRecorder()).run(
        plan, Runner.Options(folder: order.output),
        record: RunRecord(
          id: id, pipeline: plan.name, pipelinePath: order.pipelinePath, inputs: plan.inputs,
          overrides: order.overrideTexts, startedAt: workplace.clock.now))
      return record.steps.first { $0.id == step }?.findings
    } catch {
      if error.error.cause == .fullDisk { throw error.error }
      return nil
    }
  }
}

extension BatchPlan {
  /// The files that wait for a worker, the longest first, so that no long one is left at the end,
  /// when workers are idle. A pure value.
  struct Queue: Sendable {
    private var jobs: [(job: Job, share: Double)]
    private let count: Int

    /// Files of equal cost stay in the order of their paths.
    init(_ jobs: [Job], costs: BatchForecast.CostModel) {
      let weighed = jobs.enumerated().map {
        ($0.offset, $0.element, costs[$0.element.file].seconds)
      }
      let total = weighed.reduce(0) { $0 + $1.2 }
      // Taken from the end. Files of unknown cost count like any other.
      self.jobs = weighed.sorted { ($0.2, $1.0) < ($1.2, $0.0) }.map {
        ($0.1, total > 0 ? $0.2 / total : 1 / Double(jobs.count))
      }
      count = jobs.count
    }

    /// The next file with its number, from 1, and its share of the whole work, from 0 to 1.
    mutating func next() -> (number: Int, job: Job, share: Double)? {
      guard let (job, share) = jobs.popLast() else { return nil }
      return (count - jobs.count, job, share)
    }

    mutating func drain() -> [Job] {
      defer { jobs = [] }
      return jobs.map(\.job)
    }
  }
}

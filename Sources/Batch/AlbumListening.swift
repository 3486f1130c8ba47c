import PipelineEngine
import PipelineModel
import Synchronization
import Threading

/// Listens to every recording of a batch before the first is worked on, for the steps that treat all
/// of them as one.
///
/// Every recording's part is a checkpoint of its own: a batch that was stopped goes on there, and
/// another batch of the same recordings hears only what is new.
struct AlbumListening {
  let order: BatchOrder
  let workplace: BatchWorkplace
  let budget: BatchBudget

  /// What the album steps settle on; empty where there are none. Blocks.
  ///
  /// A recording that cannot be heard does not count: it fails when its turn comes.
  /// - Parameter files: in the order of their paths.
  func figures(for files: [FoundFile], id: RunID) throws(StageError) -> AlbumFigures {
    var order = order
    for step in order.plan.albumSteps {
      guard let stage = order.plan.step(step)?.stage as? any AlbumStage else { continue }
      var rounds: [AlbumRound] = []
      while true {
        switch try stage.albumMove(after: rounds) {
        case .survey(let wanted):
          let findings = try hear(files, for: step, wanted, order, id, round: rounds.count + 1)
          rounds.append(AlbumRound(asked: wanted, findings: findings))
          continue
        case .settle(let figures):
          if !figures.isEmpty { order.album[step] = figures }
          workplace.recorder.record(.settled(step: step, words(figures, of: step)))
        }
        break
      }
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
  ) throws(StageError) -> [String] {
    let tell = { @Sendable (done: Int) in
      workplace.recorder.record(
        .listening(step: step, round: round, done: done, of: files.count))
    }
    tell(0)
    let state = Mutex((next: 0, done: 0, findings: [Int: String](), pause: StageError?.none))
    let threads = (0..<budget.workerCount(for: files.count)).map { number in
      BackgroundThread(name: "hear-\(number + 1)") {
        while !workplace.stop.isRequested,
          let index = state.withLock({ state -> Int? in
            guard state.next < files.count, state.pause == nil else { return nil }
            defer { state.next += 1 }
            return state.next
          })
        {
          let finding = Result { () throws(StageError) in
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
        }
      }
    }
    threads.forEach { $0.join() }
    guard !workplace.stop.isRequested else { throw .cancelled }
    return try state.withLock { (state) throws(StageError) in
      if let pause = state.pause { throw pause }
      return state.findings.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  /// What is found of one recording; nil where it cannot be heard, or stands for itself.
  /// - Throws: where a disk is full: without the recording, all others would get another gain.
  private func hear(
    _ file: FoundFile, for step: StepID, _ wanted: [String: Double], _ order: BatchOrder,
    _ id: RunID
  ) throws(StageError) -> String? {
    let sidecar = file.sidecar.flatMap { try? SidecarFile.read($0, of: order) }
    guard
      let plan = try? order.plan(for: file.path, sidecar: sidecar).surveying(step, with: wanted)
    else { return nil }
    let runner = Runner(
      store: workplace.store, log: Unlogged(), executors: workplace.executors, recorder: Unheard(),
      stop: workplace.stop, clock: workplace.clock)
    do throws(RunError) {
      let record = try runner.run(
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

/// Listening is no run that anybody would look up, or go on with.
private struct Unlogged: RunLog {
  func save(_ run: RunRecord) {}
  func runs(limit: Int) -> [RunRecord] { [] }
  func run(named prefix: String) -> RunRecord? { nil }
}

/// What there is to be told of a recording is told when its turn comes.
private struct Unheard: RunRecorder {
  func record(_ event: RunEvent) {}
}

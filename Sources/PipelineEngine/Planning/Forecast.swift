package import PipelineModel
import Platform

/// What a run would do: the passes in order, what is reused, and what it costs. Changes nothing.
package struct Forecast: Sendable {
  /// One pass, or one whole stage.
  package struct Unit: Sendable {
    package let steps: [StepID]
    /// The steps that are streamed again for those.
    package let replayed: [StepID]
    /// The steps whose sound is kept in the store.
    package let kept: [StepID]
    /// Nil for a whole stage, whose cost is unknown.
    package let estimate: PassEstimate?
  }

  /// A receipt: whether the one that is there says the same is known at the end of the run.
  package struct Receipt: Sendable {
    package let step: StepID
    package let path: String
    package var isThere: Bool { FilePath.exists(path) }
  }

  package private(set) var units: [Unit] = []
  package internal(set) var receipts: [Receipt] = []
  /// The steps with a checkpoint.
  package private(set) var reused: [StepID] = []
  package let skipped: [SkippedStep]

  /// The recording's length in seconds, as its header or an earlier run of it says; nil while
  /// unknown.
  package var mediaSeconds: Double? {
    units.compactMap { $0.estimate?.mediaSeconds }.max() ?? pastMediaSeconds
  }
  /// Bytes for the store: for lasting results and one pass's scratch files.
  package var storeByteCount: Int { lastingByteCount + scratchByteCount }
  /// Bytes that stay in the store.
  package var lastingByteCount: Int {
    units.compactMap { $0.estimate?.storeByteCount }.reduce(0, +)
  }
  /// Scratch bytes of the pass with the largest need.
  package var scratchByteCount: Int {
    units.compactMap { $0.estimate?.scratchByteCount }.max() ?? 0
  }
  /// Bytes for the output folder.
  package var publishedByteCount: Int {
    units.compactMap { $0.estimate?.publishedByteCount }.reduce(unpublishedByteCount, +)
  }
  /// Of these, bytes of exports that are complete in the store and need only be published.
  package internal(set) var unpublishedByteCount = 0
  /// The exports that the run would be refused, as far as that is known before it.
  package internal(set) var refusals: [RunError] = []
  /// Whether those are certain. Else a recording is yet to be decoded whose sound the store may know, and
  /// only that decides.
  package internal(set) var areRefusalsCertain = true
  /// Estimated wall time in seconds, without that of `work.unknownSteps`.
  package var seconds: Double { work.seconds }
  /// The number of earlier runs of all these steps behind `work`; 0 if there are none.
  package private(set) var pastRunCount = 0
  /// The time of each unit: from earlier runs of all these steps, else from the speeds of its stages
  /// in other runs, or else from their kinds' general costs, which whole stages do not have.
  package private(set) var work = WorkEstimate(units: [], isLearned: false)
  /// The recording's length in an earlier run of it, in seconds; nil if there is none.
  private var pastMediaSeconds: Double?

  /// Plans from the survey to the end.
  init(
    _ plan: Plan, survey: Survey, executors: [StageFamily: any PassExecutor],
    keepsEverything: Bool
  ) throws(PassFailure) {
    skipped = plan.skipped
    let planner = PassPlanner(plan, keepsEverything: keepsEverything)
    var status = survey.status
    reused = plan.steps.map(\.id).filter { status[$0] != .pending }
    var outlines: [StepID: String] = [:]
    while let work = planner.next(status) {
      switch work {
      case .whole(let id):
        units.append(Unit(steps: [id], replayed: [], kept: [], estimate: nil))
        status[id] = .done(isKept: true)
      case .pass(let outline):
        let pending = outline.path.filter { status[$0] == .pending }
        let traversal = Forecast.Traversal(
          plan: plan, planner: planner, survey: survey, executors: executors)
        let estimate = try traversal.estimate(outline, pending: Set(pending), &outlines)
        units.append(
          Unit(
            steps: pending + outline.listeners.map(\.step),
            replayed: outline.path.filter { status[$0] != .pending },
            kept: outline.path.filter { outline.kept.contains($0) },
            estimate: estimate))
        for id in outline.path {
          status[id] = .done(isKept: outline.kept.contains(id) || status[id] == .done(isKept: true))
        }
        for listener in outline.listeners { status[listener.step] = .done(isKept: false) }
      }
    }
  }

  /// Estimates the time of each unit from the newest runs of the store, the last recorded one first.
  /// - Parameter recordings: the identities of the plan's inputs.
  mutating func learn(
    from runs: [RunRecord], _ plan: Plan, recordings: [String: StepOutput]
  ) {
    // One recording of several says nothing of the whole.
    let sounds = Set(recordings.values.filter { $0.kind == .sound }.map(\.identity))
    pastMediaSeconds =
      runs.first { run in
        let others = run.soundInputs.map { $0.compactMap { run.recordings?[$0] } }
        return run.mediaSeconds != nil && !sounds.isEmpty
          && Set(others ?? (run.recordings ?? [:]).values.filter(sounds.contains)) == sounds
      }?.mediaSeconds
    let speeds = StageSpeeds(runs)
    var isLearned = true
    work = WorkEstimate(
      units: units.map { unit in
        let kinds = (unit.steps + unit.replayed).compactMap { plan.step($0)?.descriptor.kind }
        if let cost = mediaSeconds.flatMap({ speeds.cost(of: kinds, mediaSeconds: $0) }) {
          return WorkEstimate.Unit(
            steps: unit.steps, seconds: cost.seconds, coreSeconds: cost.coreSeconds)
        }
        isLearned = false
        return WorkEstimate.Unit(steps: unit.steps, seconds: unit.estimate?.seconds)
      }, isLearned: isLearned)
    guard reused.isEmpty, let mediaSeconds,
      let past = Throughput(runs, of: plan.steps, pipeline: plan.name)
    else { return }
    pastRunCount = past.runCount
    work.fit(to: past.secondsPerMediaSecond * mediaSeconds)
  }

  /// A pipeline's throughput in earlier runs on this machine. A pure value.
  struct Throughput: Hashable, Sendable {
    /// How many of the newest runs count.
    static let sampleLimit = 5

    /// Seconds of work per second of sound: the median of the runs.
    let secondsPerMediaSecond: Double
    let runCount: Int

    /// Selects from `runs`, newest first, those that did all of these steps, alone and completely;
    /// nil if there are none. Runs that resumed others' work, or shared the machine with a batch, do
    /// not count.
    init?(_ runs: [RunRecord], of steps: [BoundStep], pipeline: String) {
      let kinds = steps.map(\.descriptor.kind)
      let speeds = runs.lazy.compactMap { run -> Double? in
        let steps = run.steps.filter { $0.outcome != .skipped }
        guard run.pipeline == pipeline, run.state == .done, run.batch == nil, run.resumes == nil,
          steps.map(\.kind) == kinds,
          steps.allSatisfy({ $0.outcome == .made && $0.resumedAtSeconds == nil }),
          let seconds = run.activeSeconds, let media = run.mediaSeconds, media > 0
        else { return nil }
        return seconds / media
      }
      let sample = speeds.prefix(Self.sampleLimit).sorted()
      guard !sample.isEmpty else { return nil }
      secondsPerMediaSecond = sample[sample.count / 2]
      runCount = sample.count
    }
  }
}

extension Forecast {
  /// The streams of a plan as the headers of its recordings tell of them, whether they are done,
  /// kept in the store or still to be made.
  private struct Traversal {
    let plan: Plan
    let planner: PassPlanner
    let survey: Survey
    let executors: [StageFamily: any PassExecutor]

    /// The cost of a pass as if it began at a source: an earlier pass's output may not exist yet,
    /// and the recordings' headers tell length and format as well.
    /// - Parameter outlines: what is known of each step's stream, to which this adds.
    func estimate(
      _ outline: PassPlanner.Outline, pending: Set<StepID>, _ outlines: inout [StepID: String]
    ) throws(PassFailure) -> PassEstimate? {
      var outline = outline
      while let id = outline.start {
        outline.path.insert(id, at: 0)
        outline.start = plan.step(id).flatMap { planner.upstream(of: $0) }
      }
      for case .step(let id, _) in outline.path.first.flatMap({ plan.step($0) })?.orderedSources
        .map(\.source) ?? [] where outlines[id] == nil
      {
        _ = try estimate(PassPlanner.Outline(start: id, path: []), pending: [], &outlines)
      }
      let order = try PassOrder(outline, plan: plan, survey: survey, pending: pending)
        .awaiting(outlines)
      guard let step = order.path.first?.step, case .streaming(let family, _) = step.descriptor.flow
      else { return nil }
      let estimate = try executors[family]?.estimate(order)
      outlines.merge(estimate?.outlines ?? [:]) { _, new in new }
      return estimate
    }
  }
}

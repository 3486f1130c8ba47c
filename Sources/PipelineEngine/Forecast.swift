public import PipelineModel

/// What a run would do: the passes in order, what is reused, and what it costs. Changes nothing.
public struct Forecast: Sendable {
  /// One pass, or one whole stage.
  public struct Unit: Sendable {
    /// The steps that will be done by it.
    public let steps: [StepID]
    /// The steps that are streamed again for those.
    public let replayed: [StepID]
    /// The steps whose sound goes into the store.
    public let kept: [StepID]
    /// What it costs; nil for a whole stage, whose cost nobody knows beforehand.
    public let estimate: PassEstimate?
  }

  /// The work, in order.
  public private(set) var units: [Unit] = []
  /// The steps whose checkpoints are there.
  public private(set) var reused: [StepID] = []
  /// The steps whose conditions do not hold.
  public let skipped: [SkippedStep]

  /// How long the recording is, in seconds; nil while unknown.
  public var mediaSeconds: Double? { units.compactMap { $0.estimate?.mediaSeconds }.max() }
  /// Bytes of room that the store needs: for what will stay, and for what one pass lays aside.
  public var storeByteCount: Int { lastingByteCount + scratchByteCount }
  /// Bytes that will go into the store and stay there.
  public var lastingByteCount: Int {
    units.compactMap { $0.estimate?.storeByteCount }.reduce(0, +)
  }
  /// Bytes that the hungriest pass lays aside while it runs.
  public var scratchByteCount: Int { units.compactMap { $0.estimate?.scratchByteCount }.max() ?? 0 }
  /// Bytes that will go into the output folder.
  public var publishedByteCount: Int {
    units.compactMap { $0.estimate?.publishedByteCount }.reduce(unpublishedByteCount, +)
  }
  /// Of these, bytes of exports that are whole in the store and only have to be put there.
  public internal(set) var unpublishedByteCount = 0
  /// Wall time in seconds, roughly: by earlier runs of all these steps where there were any, else
  /// by what their kinds cost in general.
  public var seconds: Double {
    guard let pastSpeed, let mediaSeconds, reused.isEmpty else {
      return units.compactMap { $0.estimate?.seconds }.reduce(0, +)
    }
    return pastSpeed.secondsPerMediaSecond * mediaSeconds
  }
  /// How many earlier runs `seconds` goes by; 0 where it is a general estimate.
  public var pastRunCount: Int { reused.isEmpty ? pastSpeed?.runCount ?? 0 : 0 }
  /// How fast earlier runs were; nil where there is nothing to go by.
  var pastSpeed: PastSpeed?

  /// Looks ahead from what `survey` found to the end of the plan.
  init(
    _ plan: Plan, survey: Survey, executors: [StageFamily: any PassExecutor],
    keepsEverything: Bool
  ) throws(PassFailure) {
    skipped = plan.skipped
    let planner = PassPlanner(plan, keepsEverything: keepsEverything)
    var status = survey.status
    reused = plan.steps.map(\.id).filter { status[$0] != .pending }
    while let work = planner.next(status) {
      switch work {
      case .whole(let id):
        units.append(Unit(steps: [id], replayed: [], kept: [], estimate: nil))
        status[id] = .done(isKept: true)
      case .pass(let outline):
        let pending = outline.path.filter { status[$0] == .pending }
        let order = try PassOrder(
          Forecast.fromRecording(outline, plan: plan, planner: planner), plan: plan,
          survey: survey, pending: Set(pending))
        units.append(
          Unit(
            steps: pending + outline.listeners.map(\.step),
            replayed: outline.path.filter { status[$0] != .pending },
            kept: outline.path.filter { outline.kept.contains($0) },
            estimate: try Forecast.estimate(order, executors: executors)))
        for id in outline.path {
          status[id] = .done(isKept: outline.kept.contains(id) || status[id] == .done(isKept: true))
        }
        for listener in outline.listeners { status[listener.step] = .done(isKept: false) }
      }
    }
  }

  /// The same pass as if it began at the recording: what an earlier pass will keep is not there
  /// yet, and the recording's header says as much about length and format.
  private static func fromRecording(
    _ outline: PassPlanner.Outline, plan: Plan, planner: PassPlanner
  ) -> PassPlanner.Outline {
    var outline = outline
    while let id = outline.start {
      outline.path.insert(id, at: 0)
      outline.start = plan.step(id).flatMap { planner.upstream(of: $0) }
    }
    return outline
  }

  private static func estimate(
    _ order: PassOrder, executors: [StageFamily: any PassExecutor]
  ) throws(PassFailure) -> PassEstimate? {
    guard case .streaming(let family, _) = order.pendingSteps.first?.descriptor.flow else {
      return nil
    }
    return try executors[family]?.estimate(order)
  }
}

import PipelineModel

/// How fast a pipeline ran on this machine before: what an estimate goes by, where there is
/// anything to go by. A pure value.
struct PastSpeed: Hashable, Sendable {
  /// How many of the newest runs are looked at.
  static let sampleLimit = 5

  /// Seconds at work for a second of sound: the middle one of the runs.
  let secondsPerMediaSecond: Double
  /// How many runs it comes from.
  let runCount: Int

  /// Looks through `runs`, newest first, for those that did all of these steps, alone and to their
  /// end; nil where there are none. What began from work of other runs, or shared the machine with
  /// the rest of a batch, tells nothing.
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

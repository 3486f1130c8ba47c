package import PipelineModel

/// How long the rest of a run takes, from the speeds of earlier runs. A pure value.
package struct WorkEstimate: Hashable, Sendable {
  /// One pass, or one whole stage.
  package struct Unit: Hashable, Sendable {
    package let steps: [StepID]
    /// Wall time in seconds; nil if nothing is known of it.
    package fileprivate(set) var seconds: Double?
    /// Seconds of work on all cores; nil if nothing is known of it.
    package let coreSeconds: Double?

    package init(steps: [StepID], seconds: Double?, coreSeconds: Double? = nil) {
      self.steps = steps
      self.seconds = seconds
      self.coreSeconds = coreSeconds
    }
  }

  /// What is not done yet, in order.
  package private(set) var units: [Unit]
  /// Whether it comes from earlier runs rather than from the kinds' general costs.
  package private(set) var isLearned: Bool
  /// When the first unit began, in seconds of a steady clock; nil if it has not begun.
  private var beganAt: Double?
  /// How much of the first unit was done when it began, and is now, from 0 to 1.
  private var (fractionAtStart, fraction) = (0.0, 0.0)

  package init(units: [Unit], isLearned: Bool) {
    self.units = units
    self.isLearned = isLearned
  }

  /// Wall time in seconds before the work begins, without that of `unknownSteps`.
  package var seconds: Double { units.compactMap(\.seconds).reduce(0, +) }

  /// Seconds of work on all cores. Where nothing is known of it, a unit keeps all of them busy.
  package func coreSeconds(coreCount: Int) -> Double {
    units.reduce(0) { $0 + ($1.coreSeconds ?? ($1.seconds ?? 0) * Double(coreCount)) }
  }

  /// Makes the sum of the units what earlier runs of all of them took, which includes the time
  /// between them. Units of which nothing is known share what the others leave.
  mutating func fit(to sum: Double) {
    let unknown = units.indices.filter { units[$0].seconds == nil }
    let known = seconds
    if !unknown.isEmpty {
      for index in unknown { units[index].seconds = max(0, sum - known) / Double(unknown.count) }
    } else if known > 0 {
      for index in units.indices {
        units[index].seconds = units[index].seconds.map { $0 * sum / known }
      }
    }
    isLearned = true
  }

  /// The steps of which nothing is known.
  package var unknownSteps: [StepID] {
    units.filter { $0.seconds == nil }.flatMap(\.steps)
  }

  /// Drops the units whose steps a run has done.
  /// - Returns: whether there was any.
  mutating func drop(whatIsDoneIn run: RunRecord) -> Bool {
    let count = units.count
    let done = Set(run.steps.filter { [.made, .reused].contains($0.outcome) }.map(\.id))
    units.removeAll { $0.steps.allSatisfy(done.contains) }
    return units.count < count
  }

  /// Follows the run. `now` is in seconds of a steady clock.
  package mutating func take(_ event: RunEvent, now: Double) {
    switch event {
    case .passStarted(let steps, _, _):
      // What was found done, or was planned otherwise, is no longer ahead.
      if let index = units.firstIndex(where: { $0.steps.contains(where: steps.contains) }) {
        units.removeFirst(index)
      }
      (beganAt, fractionAtStart, fraction) = (now, 0, 0)
    case .resumed(let steps, let at, let total, _):
      guard let total, total > 0, units.first?.steps.contains(where: steps.contains) == true else {
        return
      }
      fractionAtStart = min(1, at / total)
      (beganAt, fraction) = (now, fractionAtStart)
    case .progress(let step, let done, let total):
      guard let total, total > 0, units.first?.steps.contains(step) == true else { return }
      // The last listener ends the pass.
      fraction = max(fraction, min(1, done / total))
    case .estimated(let rest): self = rest
    case .ended: units = []
    default: break
    }
  }

  /// The seconds that are left at `now`; nil if part of it is unknown. What the current unit has
  /// shown of its speed outweighs what was expected the more of it is done.
  package func seconds(at now: Double) -> Double? {
    var left = 0.0
    for (index, unit) in units.enumerated() {
      let expected = unit.seconds
      guard index == 0, let beganAt, fraction > fractionAtStart else {
        guard let expected else { return nil }
        left += expected
        continue
      }
      let shown = (now - beganAt) * (1 - fraction) / (fraction - fractionAtStart)
      left += fraction * shown + (1 - fraction) * (expected.map { $0 * (1 - fraction) } ?? shown)
    }
    return left
  }
}

/// The speed of each stage kind in earlier runs on this machine. A pure value.
///
/// A pass's wall time is divided among its stages by the work inside each, so that the sum over the
/// stages of another pass is its expected time, with this machine's cores at work on both.
package struct StageSpeeds: Hashable, Sendable {
  /// How much less an earlier run counts than the one after it.
  private static let fading = 0.6
  /// How many runs count for a kind.
  private static let sampleLimit = 5

  /// What a stage takes, or stages take.
  package struct Cost: Hashable, Sendable {
    /// Wall time in seconds.
    package fileprivate(set) var seconds = 0.0
    /// Seconds of work on all cores.
    package fileprivate(set) var coreSeconds = 0.0

    fileprivate mutating func add(_ other: Cost, times factor: Double) {
      seconds += other.seconds * factor
      coreSeconds += other.coreSeconds * factor
    }
  }

  /// The cost of one second of sound, by stage kind.
  private var costs: [String: Cost] = [:]

  package var isEmpty: Bool { costs.isEmpty }

  /// - Parameter runs: the last recorded one first. Those of batches, which shared the machine,
  ///   count only for kinds that no other run did.
  package init(_ runs: [RunRecord]) {
    costs = Self.costs(runs.filter { $0.batch != nil })
      .merging(Self.costs(runs.filter { $0.batch == nil })) { $1 }
  }

  /// The cost of stages of these kinds in one pass; nil if one is unknown.
  package func cost(of kinds: [String], mediaSeconds: Double) -> Cost? {
    var sum = Cost()
    for kind in kinds {
      guard let cost = costs[kind] else { return nil }
      sum.add(cost, times: mediaSeconds)
    }
    return sum
  }

  private static func costs(_ runs: [RunRecord]) -> [String: Cost] {
    var sums: [String: (cost: Cost, weight: Double, count: Int)] = [:]
    for run in runs {
      guard let media = run.mediaSeconds, media > 0 else { continue }
      for (kind, cost) in run.stageCosts(mediaSeconds: media) {
        var sum = sums[kind] ?? (Cost(), 0, 0)
        guard sum.count < sampleLimit else { continue }
        let weight = (0..<sum.count).reduce(1.0) { weight, _ in weight * fading }
        sum.cost.add(cost, times: weight)
        sums[kind] = (sum.cost, sum.weight + weight, sum.count + 1)
      }
    }
    return sums.mapValues { sum in
      var mean = Cost()
      mean.add(sum.cost, times: 1 / sum.weight)
      return mean
    }
  }
}

extension RunRecord {
  /// The cost of one second of sound of the stages that it did, by kind; a kind that it did twice has
  /// the mean.
  fileprivate func stageCosts(mediaSeconds: Double) -> [String: StageSpeeds.Cost] {
    let done = steps.filter { $0.outcome == .made && $0.workSeconds != nil }
    var costs: [String: [StageSpeeds.Cost]] = [:]
    for (begunAt, steps) in Dictionary(grouping: done, by: \.begunAt) {
      let work = steps.reduce(0) { $0 + ($1.workSeconds ?? 0) }
      let media = mediaSeconds - (steps.compactMap(\.resumedAtSeconds).max() ?? 0)
      guard let begunAt, let end = steps.compactMap(\.finishedAt).max(), end >= begunAt, work > 0,
        media > mediaSeconds / 10
      else { continue }
      // What takes its time whatever the length would make a moment of sound the slowest of all.
      let heard = max(media, 1)
      for step in steps {
        let own = step.workSeconds ?? 0
        costs[step.kind, default: []].append(
          StageSpeeds.Cost(
            seconds: (end - begunAt) * own / work / heard, coreSeconds: own / heard))
      }
    }
    return costs.mapValues { costs in
      var mean = StageSpeeds.Cost()
      for cost in costs { mean.add(cost, times: 1 / Double(costs.count)) }
      return mean
    }
  }
}

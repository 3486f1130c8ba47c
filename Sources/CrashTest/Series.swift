import Glibc

/// One run in one place, started again each time that it is killed.
final class Series {
  /// What became of a start.
  enum Outcome {
    /// It was killed.
    case killed
    /// It ended well, whatever its files are like.
    case finished
    /// It ended badly, or not at all.
    case failed
    /// The test is to stop.
    case stopped
  }

  let number: Int
  let place: Workplace
  private(set) var kills = 0
  private(set) var differenceCount = 0
  /// Where the last start went on of which that is known.
  private(set) var lastStart = StartingPoint()

  private let test: KillTest
  private let reference: Reference
  /// Killed starts whose cost is not known until a later start goes on.
  private var unsettled: [(trace: Trace, killedAt: Double)] = []

  /// The longest that an undisturbed start may take, in seconds: far longer than any ever should.
  private var patience: Double { 60 + 20 * reference.seconds }

  init(
    _ number: Int, of test: KillTest, _ reference: Reference, in root: String
  ) throws(CrashTestError) {
    self.number = number
    self.test = test
    self.reference = reference
    place = try Workplace(at: "\(root)/series-\(number)")
  }

  /// Starts the run once, and looks at what it leaves.
  /// - Parameters:
  ///   - moment: when it is killed, in seconds after its start; nil to let it live.
  ///   - operation: the operation of the store that it is killed before.
  func attempt(
    killAt moment: Double? = nil, crashBefore operation: Int? = nil
  ) throws(CrashTestError) -> Outcome {
    let process = try test.start(in: place, crashBefore: operation)
    let wake = process.watch(untilAge: moment ?? patience, shouldStop: test.shouldStop)
    let age = process.age
    let ending = wake == .ended ? process.end() : process.kill()
    if wake == .stopped { return .stopped }
    settle(process.trace.start)
    switch ending {
    case .signalled(SIGKILL) where wake == .timedOut && moment == nil:
      return fail(.endlessRun(seconds: patience))
    case .signalled(SIGKILL) where wake == .timedOut || operation != nil:
      try noteKill(process.trace, at: age, operation)
      return .killed
    case .exited(0):
      try check(isComplete: true)
      return .finished
    case .exited(let code): return fail(.failedRun(exitCode: code))
    case .signalled(let signal): return fail(.failedRun(exitCode: 128 + signal))
    }
  }

  private func noteKill(
    _ trace: Trace, at age: Double, _ operation: Int?
  ) throws(CrashTestError) {
    kills += 1
    test.update { $0.kills += 1 }
    unsettled.append((trace, age))
    test.report(
      .killed(
        number: test.tally.kills, series: number, afterSeconds: age, beforeOperation: operation))
    try check(isComplete: false)
  }

  /// A start is known to go on somewhere: that tells what the kills before it have cost.
  private func settle(_ start: StartingPoint) {
    guard let latency = start.settledAt else { return }
    lastStart = start
    guard kills > 0 else { return }
    let losses = unsettled.map { $0.trace.loss(killedAt: $0.killedAt, next: start) }
    unsettled.removeAll()
    test.update { tally in
      tally.losses += losses
      tally.latencies.append(latency)
      if start.isInsidePass { tally.resumes += 1 }
    }
    test.report(
      .wentOn(
        series: number, afterSeconds: latency, isInsidePass: start.isInsidePass, losses: losses))
  }

  // MARK: Judging

  private var circumstances: String {
    kills == 0 ? "no kill in series \(number)" : "kill \(kills) in series \(number)"
  }

  private func check(isComplete: Bool) throws(CrashTestError) {
    let found = try reference.differences(
      in: place, isComplete: isComplete, after: circumstances)
    test.update { tally in
      tally.checks += 1
      guard isComplete else { return }
      tally.outputs += reference.fileCount
      // What is left over, or is too much, spoils the series but no file of it.
      let spoilt = Set(found.compactMap(\.referencePath)).count
      tally.identicalOutputs += reference.fileCount - spoilt
    }
    add(found)
  }

  private func fail(_ kind: Difference.Kind) -> Outcome {
    test.update { $0.outputs += reference.fileCount }
    add([Difference(kind: kind, path: place.errors, referencePath: nil, after: circumstances)])
    return .failed
  }

  private func add(_ differences: [Difference]) {
    differenceCount += differences.count
    test.update { $0.differences += differences }
    for difference in differences { test.report(.differs(difference)) }
  }
}

internal import FoundationEssentials

/// Proves, or disproves, that a run can be killed anywhere: runs it once undisturbed, then kills it
/// and starts it again until it is done, as a plan says, and compares every file byte for byte.
///
/// All of it happens on the calling thread, in processes of their own, with stores and output
/// folders of their own. Nothing else of the user's is touched.
public final class KillTest {
  let run: TestedRun
  let report: (KillTestEvent) -> Void
  let shouldStop: () -> Bool
  private(set) var tally = Tally()
  private let scratch: String
  private let keepsEverything: Bool

  /// The variable that makes a run kill itself before an operation of its store.
  static let crashVariable = "SPOOL_CRASH_BEFORE"

  /// The variable that says where the keys for receipts are.
  private static let keysVariable = "SPOOL_KEYS"

  /// Makes a test.
  /// - Parameters:
  ///   - scratch: the folder that everything is put into, under a name of its own.
  ///   - keepsEverything: whether nothing is deleted in the end. What differs is kept in any case.
  ///   - shouldStop: asked many times a second; when it says yes, the test ends early.
  ///   - report: told what happens.
  public init(
    of run: TestedRun, scratch: String, keepsEverything: Bool,
    shouldStop: @escaping () -> Bool, report: @escaping (KillTestEvent) -> Void
  ) {
    self.run = run
    self.scratch = scratch
    self.keepsEverything = keepsEverything
    self.shouldStop = shouldStop
    self.report = report
  }

  /// Carries out a plan. Blocks for as long as it takes.
  /// - Returns: what came of it, also if it was stopped before its end.
  /// - Throws: when the undisturbed run fails, or the scratch folder cannot be used.
  public func carryOut(_ plan: KillPlan) throws(CrashTestError) -> KillTestResult {
    tally = Tally()
    let beginning = ContinuousClock.now
    let root = try Workplace.makeRoot(inFolder: scratch)
    defer { if !keepsEverything, tally.differences.isEmpty { Workplace.remove(root) } }
    if let reference = try makeReference(in: root) {
      update {
        $0.undisturbedSeconds = reference.seconds
        $0.mediaSeconds = reference.mediaSeconds
      }
      switch plan {
      case .atRandom(let kills, let seed): try killAtRandom(kills, seed, reference, root)
      case .beforeOperations(let stride): try killBeforeOperations(stride, reference, root)
      }
    }
    let keeps = keepsEverything || !tally.differences.isEmpty
    return KillTestResult(
      tally, isStopped: shouldStop(), seconds: beginning.duration(to: .now) / .seconds(1),
      keptFolder: keeps ? root : nil)
  }

  /// Runs once without disturbance. - Returns: nil if the test was stopped meanwhile.
  private func makeReference(in root: String) throws(CrashTestError) -> Reference? {
    let place = try Workplace(at: root + "/reference")
    let process = try start(in: place, crashBefore: nil)
    if process.watch(untilAge: .infinity, shouldStop: shouldStop) == .stopped {
      process.kill()
      return nil
    }
    let ending = process.end()
    guard ending == .exited(0) else {
      let code: Int32? = if case .exited(let code) = ending { code } else { nil }
      throw CrashTestError(
        "the undisturbed run failed, so that there is nothing to compare with",
        reason: place.complaint.reason, advice: place.complaint.advice, exitCode: code)
    }
    let reference = try Reference(
      place, seconds: process.age, processorSeconds: process.processorSeconds,
      trace: process.trace)
    report(.reference(files: try reference.summary(), seconds: reference.seconds))
    return reference
  }

  /// Starts the run in a place.
  /// - Parameter crashBefore: the operation of the store that it shall not live to do.
  func start(
    in place: Workplace, crashBefore number: Int?
  ) throws(CrashTestError) -> TestedProcess {
    try TestedProcess(
      run.commandLine(in: place), errors: place.errors,
      environment: [
        Self.crashVariable: number.map(String.init) ?? "", Self.keysVariable: place.keys,
      ])
  }

  // MARK: Plans

  private func killAtRandom(
    _ kills: Int, _ seed: UInt64, _ reference: Reference, _ root: String
  ) throws(CrashTestError) {
    var generator = SeededGenerator(seed: seed)
    while tally.kills < kills, !shouldStop() {
      let series = try Series(tally.series + 1, of: self, reference, in: root)
      defer { end(series) }
      while true {
        var moment: Double?
        if tally.kills < kills {
          moment =
            Double.random(in: 0..<1, using: &generator)
            * reference.expectedSeconds(from: series.lastStart)
        }
        guard try series.attempt(killAt: moment) == .killed else { break }
      }
    }
  }

  private func killBeforeOperations(
    _ stride: Int, _ reference: Reference, _ root: String
  ) throws(CrashTestError) {
    // Operations before which a run was killed, and before which there was nothing left to kill.
    var (killed, survived) = (0, Int.max)
    while survived - killed > 1, !shouldStop() {
      // Beyond the end, halving finds where it is.
      let number =
        survived == .max
        ? (killed == 0 ? 1 : killed + stride) : killed + (survived - killed) / 2
      let series = try Series(tally.series + 1, of: self, reference, in: root)
      defer { end(series) }
      switch try series.attempt(crashBefore: number) {
      case .killed:
        killed = number
        _ = try series.attempt()
      case .finished: survived = number
      case .failed: killed = number
      case .stopped: return
      }
    }
    if survived - killed == 1 { update { $0.operations = killed } }
  }

  private func end(_ series: Series) {
    update { $0.series += 1 }
    report(
      .seriesEnded(series.number, kills: series.kills, differenceCount: series.differenceCount))
    if series.differenceCount == 0, !keepsEverything { Workplace.remove(series.place.path) }
  }

  /// Changes the tally.
  func update(_ change: (inout Tally) -> Void) { change(&tally) }
}

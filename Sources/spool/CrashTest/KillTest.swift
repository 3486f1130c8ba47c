import FoundationEssentials
import Glibc
import Platform

/// Tests that a run can be killed at any time: runs it once undisturbed, then kills and restarts it
/// by a plan, and compares every file byte for byte.
///
/// Blocks the calling thread; the runs are child processes with stores and output folders of their
/// own.
final class KillTest {
  let run: TestedRun
  let report: (KillTestEvent) -> Void
  let shouldStop: () -> Bool
  private(set) var tally = KillTestResult()
  /// The exit code of the undisturbed run, if that failed.
  private(set) var referenceExitCode: Int32?
  private let scratch: String
  private let keepsEverything: Bool

  /// The variable that makes a run kill itself before a store operation.
  static let crashVariable = "SPOOL_CRASH_BEFORE"

  /// The variable that names the folder of keys.
  private static let keysVariable = "SPOOL_KEYS"

  /// - Parameters:
  ///   - scratch: the folder for all data, in a subfolder.
  ///   - keepsEverything: whether nothing is deleted at the end. Differing files are always kept.
  ///   - shouldStop: polled frequently; true ends the test early.
  ///   - report: receives events.
  init(
    of run: TestedRun, scratch: String, keepsEverything: Bool,
    shouldStop: @escaping () -> Bool, report: @escaping (KillTestEvent) -> Void
  ) {
    self.run = run
    self.scratch = scratch
    self.keepsEverything = keepsEverything
    self.shouldStop = shouldStop
    self.report = report
  }

  /// Executes a plan and blocks until its end.
  /// - Returns: the result, also if the test was stopped early.
  /// - Throws: If the undisturbed run fails or the scratch folder cannot be used.
  func carryOut(_ plan: KillPlan) throws(SpoolError) -> KillTestResult {
    tally = KillTestResult()
    let beginning = ContinuousClock.now
    let root = try ScratchStore.makeRoot(inFolder: scratch)
    defer { if !keepsEverything, tally.differences.isEmpty { ScratchStore.remove(root) } }
    if let reference = try makeReference(in: root) {
      tally.undisturbedSeconds = reference.seconds
      tally.mediaSeconds = reference.mediaSeconds
      switch plan {
      case .atRandom(let kills, let seed): try killAtRandom(kills, seed, reference, root)
      case .beforeOperations(let stride): try killBeforeOperations(stride, reference, root)
      }
    }
    tally.isStopped = shouldStop()
    tally.seconds = beginning.duration(to: .now) / .seconds(1)
    if keepsEverything || !tally.differences.isEmpty { tally.keptFolder = root }
    return tally
  }

  /// The undisturbed run.
  /// - Returns: nil if the test was stopped meanwhile.
  private func makeReference(in root: String) throws(SpoolError) -> Reference? {
    let place = try ScratchStore(at: root + "/reference")
    let process = try start(in: place, crashBefore: nil)
    if process.watch(untilAge: .infinity, shouldStop: shouldStop) == .stopped {
      process.kill()
      return nil
    }
    let ending = process.end()
    guard ending == .exited(0) else {
      if case .exited(let code) = ending { referenceExitCode = code }
      throw SpoolError(
        "the undisturbed run failed, so that there is nothing to compare with",
        reason: place.complaint.reason, advice: place.complaint.advice)
    }
    let reference = try Reference(
      place, seconds: process.age, processorSeconds: process.processorSeconds,
      trace: process.trace)
    report(.reference(files: try reference.summary(), seconds: reference.seconds))
    return reference
  }

  /// Starts the run in a store.
  /// - Parameter crashBefore: the store operation before which it kills itself.
  func start(in place: ScratchStore, crashBefore number: Int?) throws(SpoolError) -> TestedProcess {
    try TestedProcess(
      run.commandLine(in: place), errors: place.errors,
      environment: [
        Self.crashVariable: number.map(String.init) ?? "", Self.keysVariable: place.keys,
      ])
  }

  /// So many differences end a test: a run that always fails would never be killed.
  private static let mostDifferences = 100

  private func killAtRandom(
    _ kills: Int, _ seed: UInt64, _ reference: Reference, _ root: String
  ) throws(SpoolError) {
    var generator = SeededGenerator(seed: seed)
    while tally.kills < kills, tally.differences.count < Self.mostDifferences, !shouldStop() {
      let series = try Series(tally.series + 1, of: self, reference, in: root)
      defer { end(series) }
      while true {
        var moment: Double?
        if tally.kills < kills {
          moment =
            Double.random(in: 0..<1, using: &generator)
            * reference.expectedSeconds(from: series.lastStart)
        }
        // To be asked to end is another way to stop: what is under way is noted.
        let signal = tally.kills % 4 == 3 ? SIGTERM : SIGKILL
        guard try series.attempt(killAt: moment, by: signal) == .killed else { break }
      }
    }
  }

  private func killBeforeOperations(
    _ stride: Int, _ reference: Reference, _ root: String
  ) throws(SpoolError) {
    // The largest operation known to be reached, and the smallest known to be beyond the end.
    var (killed, survived) = (0, Int.max)
    while survived - killed > 1, !shouldStop() {
      // Beyond the end, a binary search finds the last operation.
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
    if survived - killed == 1 { tally.operations = killed }
  }

  private func end(_ series: Series) {
    tally.series += 1
    report(
      .seriesEnded(series.number, kills: series.kills, differenceCount: series.differenceCount))
    if series.differenceCount == 0, !keepsEverything { ScratchStore.remove(series.place.path) }
  }

  func update(_ change: (inout KillTestResult) -> Void) { change(&tally) }
}

/// Deterministic random numbers by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", 2014).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// One run in one store, restarted after each kill.
final class Series {
  enum Outcome {
    case killed
    /// It exited successfully, whatever its files contain.
    case finished
    /// It failed or did not end.
    case failed
    /// The test was stopped.
    case stopped
  }

  let number: Int
  let place: ScratchStore
  private(set) var kills = 0
  private(set) var differenceCount = 0
  /// Processor time of all starts, in seconds.
  private var processorSeconds = 0.0
  /// Where the last start resumed.
  private(set) var lastStart = StartingPoint()

  private let test: KillTest
  private let reference: KillTest.Reference
  /// Killed starts whose cost is unknown until a later start resumes.
  private var unsettled: [(trace: Trace, killedAt: Double)] = []

  /// The timeout of an undisturbed start in seconds, far above its usual duration.
  private var patience: Double { 60 + 20 * reference.seconds }

  init(
    _ number: Int, of test: KillTest, _ reference: KillTest.Reference, in root: String
  ) throws(SpoolError) {
    self.number = number
    self.test = test
    self.reference = reference
    place = try ScratchStore(at: "\(root)/series-\(number)")
  }

  /// Starts the run once and examines its output.
  /// - Parameters:
  ///   - moment: when to kill it, in seconds after its start; nil for never.
  ///   - signal: what kills it then.
  ///   - operation: the store operation before which it kills itself.
  func attempt(
    killAt moment: Double? = nil, by signal: Int32 = SIGKILL, crashBefore operation: Int? = nil
  ) throws(SpoolError) -> Outcome {
    let process = try test.start(in: place, crashBefore: operation)
    let wake = process.watch(untilAge: moment ?? patience, shouldStop: test.shouldStop)
    let age = process.age
    let ending = wake == .ended ? process.end() : process.kill(wake == .timedOut ? signal : SIGKILL)
    processorSeconds += process.processorSeconds
    if wake == .stopped { return .stopped }
    settle(process.trace.start)
    add(
      process.trace.damagedParts.map { part in
        Difference(
          kind: .damaged(part), path: place.path, referencePath: nil, after: circumstances)
      })
    switch ending {
    case .signalled(SIGKILL) where wake == .timedOut && moment == nil:
      return fail(.endlessRun(seconds: patience))
    case .signalled(SIGKILL) where wake == .timedOut || operation != nil,
      // A process that has hardly begun does not catch the signal yet.
      .signalled(signal) where wake == .timedOut,
      .exited(128 + signal) where wake == .timedOut:
      try noteKill(process.trace, at: age, operation)
      return .killed
    case .exited(0):
      if kills > 0 {
        let again = max(0, processorSeconds - reference.processorSeconds) / Double(kills)
        test.update { $0.repeatedWork.append(again) }
      }
      try check(isComplete: true)
      return .finished
    case .exited(let code): return fail(.failedRun(exitCode: code))
    case .signalled(let signal): return fail(.failedRun(exitCode: 128 + signal))
    }
  }

  private func noteKill(_ trace: Trace, at age: Double, _ operation: Int?) throws(SpoolError) {
    kills += 1
    test.update { $0.kills += 1 }
    unsettled.append((trace, age))
    test.report(
      .killed(
        number: test.tally.kills, series: number, afterSeconds: age, beforeOperation: operation))
    try check(isComplete: false)
  }

  /// Computes the cost of the preceding kills once a start is known to resume.
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

  private var circumstances: String {
    kills == 0 ? "no kill in series \(number)" : "kill \(kills) in series \(number)"
  }

  private func check(isComplete: Bool) throws(SpoolError) {
    let found = try reference.differences(in: place, isComplete: isComplete, after: circumstances)
    test.update { tally in
      tally.checks += 1
      guard isComplete else { return }
      tally.outputs += reference.fileCount
      // Leftover and unexpected files fail the series, but damage no expected file.
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

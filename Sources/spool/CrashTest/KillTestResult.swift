import Glibc
import Platform

package struct KillTestResult: Sendable, Encodable {
  /// The maximum and the median of some values.
  package struct Spread: Hashable, Sendable, Encodable {
    package let worst: Double
    /// The upper median.
    package let median: Double

    init?(_ values: [Double]) {
      let sorted = values.sorted()
      guard let worst = sorted.last else { return nil }
      self.worst = worst
      median = sorted[sorted.count / 2]
    }
  }

  package let kills: Int
  /// Starts that resumed inside a pass.
  package let resumes: Int
  /// Complete runs, killed or not.
  package let series: Int
  /// Comparisons of an output folder.
  package let checks: Int
  /// Files that the finished runs should have left.
  package let outputs: Int
  /// Those with the reference's bytes.
  package let identicalOutputs: Int
  /// Seconds of the recording that were streamed again after a kill, mostly for encoders that
  /// lagged behind; encoded parts are not encoded again.
  package let soundRepeated: Spread?
  /// Upper bound of the work lost, in seconds by the test's clock: from the last report that
  /// remained valid to the kill.
  package let bound: Spread?
  /// Seconds of lost work as stated by the run itself.
  package let statedLost: Spread?
  /// Processor seconds a kill: those of a series beyond the undisturbed run's, divided by its
  /// kills. Includes the start-up of a process.
  package let repeatedWork: Spread?
  /// Seconds from a start to its first sign of work.
  package let latency: Spread?
  /// Duration of the undisturbed run in seconds; nil if the test was stopped before its end.
  package let undisturbedSeconds: Double?
  /// Duration of the recording in seconds, if the undisturbed run reported it.
  package let mediaSeconds: Double?
  /// Store operations in one run; nil if not counted.
  package let operations: Int?
  /// Empty if the test passed.
  package let differences: [Difference]
  /// Whether the test was stopped early.
  package let isStopped: Bool
  /// Duration of the test in seconds.
  package let seconds: Double
  /// The scratch folder, if it was kept.
  package let keptFolder: String?

  init(_ tally: Tally, isStopped: Bool, seconds: Double, keptFolder: String?) {
    kills = tally.kills
    resumes = tally.resumes
    series = tally.series
    checks = tally.checks
    outputs = tally.outputs
    identicalOutputs = tally.identicalOutputs
    soundRepeated = Spread(tally.losses.map(\.soundSeconds))
    bound = Spread(tally.losses.map(\.workSeconds))
    repeatedWork = Spread(tally.repeatedWork)
    statedLost = Spread(tally.losses.compactMap(\.statedSeconds))
    latency = Spread(tally.latencies)
    undisturbedSeconds = tally.undisturbedSeconds
    mediaSeconds = tally.mediaSeconds
    operations = tally.operations
    differences = tally.differences
    self.isStopped = isStopped
    self.seconds = seconds
    self.keptFolder = keptFolder
  }
}

/// Counts and figures so far.
struct Tally {
  var kills = 0
  var resumes = 0
  var series = 0
  /// Comparisons of an output folder.
  var checks = 0
  /// Expected files of finished series, and those that were identical.
  var outputs = 0
  var identicalOutputs = 0
  var losses: [Loss] = []
  var latencies: [Double] = []
  /// For each finished series, processor seconds beyond the undisturbed run's, divided by its
  /// kills.
  var repeatedWork: [Double] = []
  var differences: [Difference] = []
  /// Durations of the undisturbed run and of its recording, in seconds.
  var undisturbedSeconds: Double?
  var mediaSeconds: Double?
  /// Store operations in one run; nil if not counted.
  var operations: Int?
}

/// When a run is killed.
package enum KillPlan: Hashable, Sendable {
  /// At random times, evenly distributed over the remaining duration: repeatedly within one series
  /// of starts until the run ends, then in the next series.
  /// - Parameters:
  ///   - kills: the total number.
  ///   - seed: determines the times, within the machine's timing.
  case atRandom(kills: Int, seed: UInt64)

  /// Once a series: before the store's first write operation, then `stride` operations later, and
  /// so on until a run survives.
  case beforeOperations(stride: Int)
}

/// Progress of a crash test.
package enum KillTestEvent: Sendable {
  /// The undisturbed run is done.
  case reference(files: [OutputDigest], seconds: Double)
  /// A run was killed this long after its start.
  case killed(number: Int, series: Int, afterSeconds: Double, beforeOperation: Int?)
  /// A start after a kill resumed, this long after its beginning, with the cost of the kills before
  /// it.
  case wentOn(series: Int, afterSeconds: Double, isInsidePass: Bool, losses: [Loss])
  /// A series of starts ended.
  case seriesEnded(Int, kills: Int, differenceCount: Int)
  case differs(Difference)
}

/// Why a crash test could not be carried out, as opposed to a failed test.
package struct CrashTestError: Error, Hashable, Sendable {
  package let message: String
  /// Nil if the message is sufficient.
  package let reason: String?
  package let advice: String?
  /// The exit code of the undisturbed run, if that failed.
  package let exitCode: Int32?

  init(_ message: String, reason: String? = nil, advice: String? = nil, exitCode: Int32? = nil) {
    self.message = message
    self.reason = reason
    self.advice = advice
    self.exitCode = exitCode
  }

  /// The error of a failed system call.
  static func system(_ action: String, _ path: String, code: Int32 = errno) -> CrashTestError {
    CrashTestError(
      "cannot \(action) \(path)", reason: unsafe String(cString: strerror(code)),
      advice: SystemError(code).isFullDisk ? "choose another folder with --scratch" : nil)
  }
}

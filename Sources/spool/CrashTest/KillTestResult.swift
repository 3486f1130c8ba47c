import Glibc
import Platform

/// The counts and figures of a crash test.
struct KillTestResult: Sendable, Encodable {
  /// The maximum and the median of some values.
  struct Spread: Hashable, Sendable, Encodable {
    let worst: Double
    /// The upper median.
    let median: Double

    init?(_ values: [Double]) {
      let sorted = values.sorted()
      guard let worst = sorted.last else { return nil }
      self.worst = worst
      median = sorted[sorted.count / 2]
    }
  }

  var kills = 0
  /// Starts that resumed inside a pass.
  var resumes = 0
  /// Complete runs, killed or not.
  var series = 0
  /// Comparisons of an output folder.
  var checks = 0
  /// Files that the finished runs should have left.
  var outputs = 0
  /// Those with the reference's bytes.
  var identicalOutputs = 0
  /// The costs of the kills.
  var losses: [Trace.Loss] = []
  /// Seconds from each start to its first sign of work.
  var latencies: [Double] = []
  /// For each finished series, processor seconds beyond the undisturbed run's, divided by its
  /// kills. Includes the start-up of a process.
  var repeatedWork: [Double] = []
  /// Duration of the undisturbed run in seconds; nil if the test was stopped before its end.
  var undisturbedSeconds: Double?
  /// Duration of the recording in seconds, if the undisturbed run reported it.
  var mediaSeconds: Double?
  /// Store operations in one run; nil if not counted.
  var operations: Int?
  /// Empty if the test passed.
  var differences: [Difference] = []
  /// Whether the test was stopped early.
  var isStopped = false
  /// Duration of the test in seconds.
  var seconds = 0.0
  /// The scratch folder, if it was kept.
  var keptFolder: String?

  /// Seconds of the recording that were streamed again after a kill, mostly for encoders that
  /// lagged behind; encoded parts are not encoded again.
  var soundRepeated: Spread? { Spread(losses.map(\.soundSeconds)) }
  /// Upper bound of the work lost, in seconds by the test's clock: from the last report that
  /// remained valid to the kill.
  var bound: Spread? { Spread(losses.map(\.workSeconds)) }
  /// Seconds of lost work as stated by the run itself.
  var statedLost: Spread? { Spread(losses.compactMap(\.statedSeconds)) }

  func encode(to encoder: any Encoder) throws {
    try JSONLine([
      "kills": kills, "resumes": resumes, "series": series, "checks": checks, "outputs": outputs,
      "identicalOutputs": identicalOutputs, "soundRepeatedSeconds": soundRepeated,
      "boundSeconds": bound, "statedLostSeconds": statedLost,
      "repeatedWorkSeconds": Spread(repeatedWork), "latencySeconds": Spread(latencies),
      "undisturbedSeconds": undisturbedSeconds,
      "mediaSeconds": mediaSeconds, "operations": operations, "differences": differences,
      "isStopped": isStopped, "seconds": seconds, "keptFolder": keptFolder,
    ]).encode(to: encoder)
  }
}

/// When a run is killed.
enum KillPlan: Hashable, Sendable {
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
enum KillTestEvent: Sendable {
  /// The undisturbed run is done.
  case reference(files: [KillTest.Reference.Output], seconds: Double)
  /// A run was killed this long after its start.
  case killed(number: Int, series: Int, afterSeconds: Double, beforeOperation: Int?)
  /// A start after a kill resumed, this long after its beginning, with the cost of the kills before
  /// it.
  case wentOn(series: Int, afterSeconds: Double, isInsidePass: Bool, losses: [Trace.Loss])
  /// A series of starts ended.
  case seriesEnded(Int, kills: Int, differenceCount: Int)
  case differs(Difference)
}

extension SpoolError {
  /// A failed system call of a crash test, by its `errno`.
  static func system(_ action: String, _ path: String, _ error: SystemError = .last) -> SpoolError {
    SpoolError(action, path, error)
  }
}

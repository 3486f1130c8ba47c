/// What a crash test found.
public struct KillTestResult: Sendable, Encodable {
  /// The worst and the middle one of some figures.
  public struct Spread: Hashable, Sendable, Encodable {
    /// The largest.
    public let worst: Double
    /// The one in the middle; of an even number the higher of the two.
    public let median: Double

    /// Nil where there are no figures.
    init?(_ values: [Double]) {
      let sorted = values.sorted()
      guard let worst = sorted.last else { return nil }
      self.worst = worst
      median = sorted[sorted.count / 2]
    }
  }

  /// How often the run was killed.
  public let kills: Int
  /// How many starts went on inside a pass.
  public let resumes: Int
  /// How many times the whole run was done, killed or not.
  public let series: Int
  /// How often an output folder was looked through.
  public let checks: Int
  /// How many files the finished runs should have left.
  public let outputs: Int
  /// How many of those were there with the reference's bytes.
  public let identicalOutputs: Int
  /// Seconds of the recording that were streamed again after a kill. Most of it only for encoders
  /// that lagged behind: what they had encoded is not encoded again.
  public let soundRepeated: Spread?
  /// Seconds from the last report of a killed process that was still good afterwards to its kill, by
  /// the test's own clock: a bound that no loss exceeds.
  public let bound: Spread?
  /// Seconds of work that the run itself stated as lost, where it did.
  public let statedLost: Spread?
  /// Seconds of processor time that a kill cost: those of a series beyond those of the undisturbed
  /// run, over its kills. What a process takes to start is part of it.
  public let repeatedWork: Spread?
  /// Seconds from a start to the moment when it was known to go on.
  public let latency: Spread?
  /// Seconds that the undisturbed run took; nil where the test was stopped before its end.
  public let undisturbedSeconds: Double?
  /// How long the recording is, in seconds, as far as the undisturbed run told.
  public let mediaSeconds: Double?
  /// Operations of the store in one run; nil where they were not counted.
  public let operations: Int?
  /// What is not as it should be. Empty is the proof.
  public let differences: [Difference]
  /// Whether the test was stopped before its end.
  public let isStopped: Bool
  /// How long the test took, in seconds.
  public let seconds: Double
  /// The scratch folder, where it was kept.
  public let keptFolder: String?

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

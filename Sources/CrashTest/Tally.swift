/// What was counted so far.
struct Tally {
  var kills = 0
  var resumes = 0
  var series = 0
  /// How often an output folder was looked through.
  var checks = 0
  /// Files that finished series should have left, and those that were as they should be.
  var outputs = 0
  var identicalOutputs = 0
  var losses: [Loss] = []
  var latencies: [Double] = []
  /// For each finished series, the processor time beyond the undisturbed run's, a kill, in seconds.
  var repeatedWork: [Double] = []
  var differences: [Difference] = []
  /// Seconds that the undisturbed run took, and how long its recording is.
  var undisturbedSeconds: Double?
  var mediaSeconds: Double?
  /// Operations of the store in one run; nil where they were not counted.
  var operations: Int?
}

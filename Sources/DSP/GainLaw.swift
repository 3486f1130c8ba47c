import AudioModel

/// How a gain follows a level: the heart of a gate or a compressor, for one lane.
///
/// The state is plain memory. As everywhere, the gains must not depend on how the levels are cut
/// into runs.
protocol GainLaw {
  /// What is carried from frame to frame, and what was counted on the way.
  associatedtype State: BitwiseCopyable
  /// What was counted for the report.
  associatedtype Statistics: BitwiseCopyable

  /// The most frames that are treated at a time.
  static var run: Int { get }

  var state: State { get set }
  var statistics: Statistics { get set }

  /// Replaces `count` levels by gains. The last vector of eight may reach beyond `count`: there is
  /// room within a run.
  /// - Returns: false where every gain is exactly 1; the values are then undefined.
  mutating func replaceLevelsByGains(_ values: UnsafeMutablePointer<Float>, count: Int) -> Bool
}

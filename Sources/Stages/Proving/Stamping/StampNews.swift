public import PipelineModel
public import Proof

/// What became of one attempt to get a time stamp.
public struct StampNews: Sendable {
  /// What it was about, as it was before.
  public let stamp: AwaitedStamp
  /// The time stamp that lies in its place now, or why none does.
  public let outcome: Result<TimeStamp, StampTrouble>
}

/// Why a receipt goes on waiting for a time stamp.
public struct StampTrouble: Error, Hashable, Sendable {
  /// What failed, in one sentence.
  public let message: String
  /// Whether it is the authority's, so that asking it again at once makes no sense.
  let isOfAuthority: Bool
}

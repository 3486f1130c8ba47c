internal import PipelineModel

/// That a run is kept, whatever is freed.
struct Pin: Hashable, Sendable, Codable {
  /// The run.
  let run: RunID
  /// Since when, in seconds since 1970.
  let pinnedAt: Double
}

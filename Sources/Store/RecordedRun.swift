internal import PipelineModel

/// A run and its place in the order in which runs were recorded. No clock tells that order: one that
/// was set back gives a later run an earlier time.
struct RecordedRun: Hashable, Sendable, Codable {
  let run: RunRecord
  /// Counts from 1; 0 for a run from before runs were numbered, whose time has to tell.
  let number: Int64

  private enum CodingKeys: String, CodingKey {
    case number
  }

  init(_ run: RunRecord, number: Int64) {
    self.run = run
    self.number = number
  }

  /// The number lies among what the run itself says, so that records without one are read as well.
  init(from decoder: any Decoder) throws {
    run = try RunRecord(from: decoder)
    number =
      try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Int64.self, forKey: .number)
      ?? 0
  }

  func encode(to encoder: any Encoder) throws {
    try run.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(number, forKey: .number)
  }

  /// Whether it comes before another: those of no number, and any two of the same, by their times.
  static func isBefore(_ one: RecordedRun, _ other: RecordedRun) -> Bool {
    (one.number, one.run.startedAt, one.run.id.name)
      < (other.number, other.run.startedAt, other.run.id.name)
  }
}

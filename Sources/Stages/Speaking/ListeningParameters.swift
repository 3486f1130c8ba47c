/// The parameters of a stage that listens for words: its own, and those that all of them have. In
/// pipelines they stand side by side.
struct ListeningParameters<Own: Codable & Sendable>: Codable, Sendable {
  /// Those of the stage alone.
  let own: Own
  /// What listens.
  let model: ModelChoice
  /// What the words must keep to.
  let limits: WordLimits.Parameters

  init(from decoder: any Decoder) throws {
    own = try Own(from: decoder)
    model = try ModelChoice(from: decoder)
    limits = try WordLimits.Parameters(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    try own.encode(to: encoder)
    try model.encode(to: encoder)
    try limits.encode(to: encoder)
  }
}

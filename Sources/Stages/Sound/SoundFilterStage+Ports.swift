import PipelineModel

extension StageDescriptor {
  /// A stage that takes sound and gives sound as it flows by.
  static func soundFilter(
    _ kind: String, revision: Int, summary: String, discussion: String,
    parameters: [ParameterDescriptor], shorthand: String? = nil
  ) -> StageDescriptor {
    StageDescriptor(
      kind: kind, revision: revision, summary: summary, discussion: discussion,
      flow: .streaming(.sound, .filter),
      inputs: [Port(.sound, .sound, "the sound to treat")],
      outputs: [Port(.sound, .sound, "the treated sound")],
      parameters: parameters, shorthand: shorthand)
  }
}

import PipelineModel

extension StageDescriptor {
  /// A stage that takes sound and gives sound as it flows by. `report` says what the processor's
  /// report tells, where it gives one.
  static func soundFilter(
    _ kind: String, revision: Int, summary: String, discussion: String,
    parameters: [ParameterDescriptor], shorthand: String? = nil, report: String? = nil
  ) -> StageDescriptor {
    StageDescriptor(
      kind: kind, revision: revision, summary: summary, discussion: discussion,
      flow: .streaming(.sound, .filter),
      inputs: [Port(.sound, .sound, "the sound to treat")],
      outputs: [Port(.sound, .sound, "the treated sound")]
        + (report.map { [Port(.measurement, .measurement, "\($0), as JSON")] } ?? []),
      parameters: parameters, shorthand: shorthand)
  }

  /// A stage that takes sound, hears it to its end, and then gives sound.
  static func analysedFilter(
    _ kind: String, revision: Int, summary: String, discussion: String,
    parameters: [ParameterDescriptor], shorthand: String? = nil, report: String
  ) -> StageDescriptor {
    StageDescriptor(
      kind: kind, revision: revision, summary: summary, discussion: discussion,
      flow: .streaming(.sound, .analysedFilter),
      inputs: [Port(.sound, .sound, "the sound to treat")],
      outputs: [
        Port(.sound, .sound, "the treated sound"),
        Port(.measurement, .measurement, "\(report), as JSON"),
      ],
      parameters: parameters, shorthand: shorthand)
  }
}

import AudioModel
import PipelineModel

/// A stage that moves sound in time.
protocol TimeMovingStage: SoundFilterStage {
  /// Where what is left begins in what the stage took, where the rest follows it as it was; nil where
  /// anything else was moved too.
  func beginning(at rate: Hertz) -> Frames?
}

extension TimeMovingStage {
  /// More was moved than the beginning.
  func beginning(at rate: Hertz) -> Frames? { nil }

  /// A stage that moves sound in time, and tells where it went.
  static func timeChange(
    _ kind: String, revision: Int, summary: String, discussion: String,
    parameters: [ParameterDescriptor], shorthand: String? = nil
  ) -> StageDescriptor {
    StageDescriptor(
      kind: kind, revision: revision, summary: summary,
      discussion: discussion + """
         \nThe measurement is a map of the time, as JSON: the length in seconds `before` and \
        `after`, and the `pieces` that are left, each `from` and `to` when it was, and `at` and \
        `until` when it is; words and markers move with it.
        """,
      flow: .streaming(.sound, .filter),
      inputs: [Port(.sound, .sound, "the sound to treat")],
      outputs: [
        Port(.sound, .sound, "the treated sound"),
        Port(.measurement, .measurement, "where each stretch of the old time went, as JSON"),
      ],
      parameters: parameters, shorthand: shorthand)
  }
}

extension Seconds {
  /// For people: `2.5 s`, to the millisecond.
  var words: String {
    let rounded = (value * 1000).rounded() / 1000
    return rounded == rounded.rounded() ? "\(Int(rounded)) s" : "\(rounded) s"
  }
}

import PipelineModel

/// The size of a picture, as every stage that draws one lets it be chosen.
struct PictureSize: Codable, Hashable, Sendable {
  /// Pixels from side to side.
  let width: Int
  /// Pixels from top to bottom.
  let height: Int

  /// The parameters that it is made of.
  static func parameters(
    widths: ClosedRange<Int> = 200...8000, heights: ClosedRange<Int> = 120...4000
  ) -> [ParameterDescriptor] {
    [
      ParameterDescriptor(
        "width", .integer(widths), .defaulted("1600"), "the picture's width in pixels"),
      ParameterDescriptor(
        "height", .integer(heights), .defaulted("400"), "the picture's height in pixels"),
    ]
  }

  /// How the files are called.
  static let name = ParameterDescriptor(
    "name", .fileName(fields: ["stem"]), .defaulted("{stem}"),
    "the beginning of the files' names; {stem} is the recording's", isInKey: false)
}

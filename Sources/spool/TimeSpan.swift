import Arguments
import PipelineModel

/// A short time as users type it: `2s`, `500 ms`, `1 min`.
struct TimeSpan: ArgumentValue {
  /// How long it is.
  let seconds: Double
  let argument: String

  static let expectation = "a time above 0, like 2s, 500ms or 1min"

  init?(argument: String) {
    guard let seconds = try? Unit.seconds.parse(argument), seconds > 0, seconds < 1e9 else {
      return nil
    }
    self.seconds = seconds
    self.argument = argument
  }
}

import Arguments
import PipelineModel

/// A place in a recording as users type it: `12:04`, `00:12:04.5`, `724.5`, `3 min`.
struct MediaTime: ArgumentValue {
  /// Seconds from the beginning.
  let seconds: Double
  let argument: String

  static let expectation = "a time, like 00:12:04, 12:04.5 or 724.5"

  init?(argument: String) {
    guard let seconds = try? Unit.seconds.parse(argument), 0 <= seconds, seconds < 1e9 else {
      return nil
    }
    self.seconds = seconds
    self.argument = argument
  }
}

import PipelineModel

/// Something that keeps a watch from beginning.
struct WatchProblem {
  /// Where in the settings' file it stands; nil where it came from the command line.
  let location: SourceLocation?
  /// What is wrong, as one sentence.
  let message: String
  /// What would be right, or what to type.
  let advice: String?
  /// Another file's problems, ready to be shown.
  var detail: String?

  init(
    at location: SourceLocation?, _ message: String, advice: String? = nil, detail: String? = nil
  ) {
    self.location = location
    self.message = message
    self.advice = advice
    self.detail = detail
  }
}

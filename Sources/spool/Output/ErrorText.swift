import PipelineEngine
import PipelineModel

/// An error in its three parts: what failed on what, why, and what to do next.
struct ErrorText {
  private let what: String
  private let error: StageError

  init(_ error: StageError) {
    what = error.message
    self.error = error
  }

  init(_ failure: RunError) {
    var place = ""
    if let step = failure.step {
      place = failure.kind == step.name ? "\(step): " : "\(step) (\(failure.kind ?? "")): "
      // A message that begins with the stage's name says by itself where it failed.
      let words = failure.error.message
      if failure.kind == step.name, words.hasPrefix("\(step) ") || words.hasPrefix("\(step)'") {
        place = ""
      }
    }
    what =
      place + failure.error.message
      + (failure.recording.map { failure.error.message.contains($0) ? "" : " — \($0)" } ?? "")
    error = failure.error
  }

  func render(_ console: Console) -> String {
    var lines = [console.red("error:") + " " + console.bold(Format.visible(what))]
    if let reason = error.reason { lines.append("why:   \(Format.visible(reason))") }
    if let advice = error.advice { lines.append("next:  \(Format.visible(advice))") }
    return lines.joined(separator: "\n")
  }
}

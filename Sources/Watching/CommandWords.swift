internal import PipelineModel
internal import Sidecars

/// What a watch's log says of a device's command.
enum CommandWords {
  /// `retry applied`, or, where it came before, when it was applied and that nothing was done now.
  static func text(_ request: NoteCommand.Request, _ result: NoteCommandResult) -> String {
    let reason = result.reason.map { ": \($0)" } ?? ""
    guard !result.isFresh else { return "\(request.name) \(result.status.rawValue)\(reason)" }
    if result.status == .waiting { return "\(request.name) came again and still waits\(reason)" }
    let time = result.decidedAt.map { " at \(Timestamp(secondsSince1970: $0))" } ?? ""
    return "\(request.name) came again: it was \(result.status.rawValue) before,\(time)\(reason); "
      + "nothing was done now"
  }
}

internal import PipelineModel
internal import Sidecars

/// What a watch's log says of a device's command.
enum CommandWords {
  /// `refused: noteId: is missing, …`, or, where it came before, what became of it then.
  static func text(malformed reason: String, _ result: NoteCommandResult) -> String {
    if result.isFresh { return "refused: \(reason)" }
    let time = result.decidedAt.map { " at \(Timestamp(secondsSince1970: $0))" } ?? ""
    guard let request = result.request else {
      return "came again: it was refused before,\(time): \(reason); nothing was done now"
    }
    return "refused: \(reason); a \(request.name) of its id was \(result.status.rawValue) before,"
      + time
  }

  /// `retry, which waited for its note, is applied`.
  static func text(late result: NoteCommandResult) -> String {
    "\(result.request?.name ?? "a command"), which waited for its note, is "
      + result.status.rawValue + (result.reason.map { ": \($0)" } ?? "")
  }

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

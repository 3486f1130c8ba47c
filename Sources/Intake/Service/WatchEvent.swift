package import PipelineModel
package import Platform
package import Store

/// One event of a watch: a line of its log.
package struct WatchEvent: Hashable, Sendable, Encodable {
  package enum Event: String, Hashable, Sendable, Encodable, CaseIterable {
    case watching
    case received
    case duplicate
    case conflict
    /// Work that an earlier process began is resumed.
    case resumed
    /// It is processed, and on its way to the destinations that it requires.
    case uploading
    case uploaded
    /// A destination has given back all bytes of a file.
    case delivered
    case retrying
    /// A recording waits for a `retry` command.
    case failed
    case quarantined
    /// A file has left the inbox as the rules say.
    case released
    case sidecar
    case transcript
    case command
    /// A file is not complete after a long time.
    case unsettled
    /// A file in the inbox stays where it is.
    case refused
    /// A file in the inbox is of a kind that it does not take.
    case ignored
    /// The inbox is unreachable.
    case lost
    /// Processing pauses: a folder for results is unusable, or no receipt can be signed.
    case paused
    case back
    /// A failure that no recording caused.
    case trouble
    /// A receipt got its time stamp.
    case stamped
    /// The store freed what no recent run needs.
    case collected
    case warning
    case reloaded
    case stopping
    case stopped
  }

  package let at: DateTime
  package let event: Event
  /// An absolute path; nil for all inboxes.
  package var inbox: String?
  /// The recording's name in the store.
  package var recording: String?
  /// The file, printable.
  package let file: String?
  /// The same file below the inbox, in the lossless form of ``RecordingFile/path``; nil if there is none.
  package let exactFile: String?
  /// Details, printable.
  package var text: String?
  /// The exports, as absolute paths.
  package var exports: [String]?
  /// The findings of the run's steps, by step; nil if there are none.
  package var findings: [String: JSONValue]?
  /// The damage that the run's steps met, by step; nil if there is none.
  package var damage: [String: RecordingDamage]?
  /// Seconds that the work took, or until the next attempt.
  package var seconds: Double?
  /// Where a released file is now: `accepted`, `quarantine`, `left`, `deleted` or `gone`.
  package var place: String?
  /// The destination that a delivered file has reached.
  package var destination: String?
  /// Bytes that a collection freed, and those of artifacts that are left.
  package var (freedBytes, keptBytes): (Int?, Int?)

  private enum CodingKeys: String, CodingKey {
    case at, event, inbox, recording = "note"
    case file, exactFile, text, exports, findings, damage, seconds, place, destination
    case freedBytes, keptBytes
  }

  /// - Parameter time: in seconds since 1970.
  package init(
    _ event: Event, at time: Double, inbox: String? = nil, recording: String? = nil,
    file: String? = nil, text: String? = nil, exports: [String]? = nil,
    findings: [String: JSONValue]? = nil, damage: [String: RecordingDamage]? = nil,
    seconds: Double? = nil, place: String? = nil
  ) {
    self.event = event
    at = DateTime(secondsSince1970: time)
    self.inbox = inbox
    self.recording = recording
    self.file = file
    exactFile = inbox == nil ? nil : file.flatMap(PrintableText.bytes).map(PrintableText.escaped)
    self.text = text
    self.exports = exports
    self.findings = findings
    self.damage = damage
    self.seconds = seconds
    self.place = place
  }

  /// A recording that is uploaded since destinations have confirmed it.
  package init(confirmed recording: Recording, by destinations: [String], at time: Double) {
    self.init(
      .uploaded, at: time, inbox: recording.inbox, recording: recording.key.name,
      file: recording.fileName, text: "confirmed by \(destinations.joined(separator: ", "))")
  }
}

extension Recording {
  /// The name of its file, in the lossless form of ``RecordingFile/path``; nil if it is not known.
  package var exactFileName: String? {
    PrintableText.bytes(of: fileName).map(PrintableText.escaped)
  }
}

extension RecordingRepository {
  /// The recordings that arrived as a file of this name, the newest first, and those of files that
  /// only look like that where their names are printed. If there are none, those of which a copy arrived
  /// so, or of which a file has this path in its inbox. O(files).
  package func recordings(
    called name: String
  ) throws(SpoolError) -> (exact: [Recording], printed: [Recording]) {
    let printable = PrintableText.of(Array(name.utf8))
    let exact = try recordings(ofFile: printable)
    let printed = printable == name ? [] : try recordings(ofFile: name)
    if exact.isEmpty, printed.isEmpty, let path = InboxPath(name) {
      return (try recordings(ofFileAt: path.escaped), [])
    }
    return (exact, printed)
  }
}

/// The log texts of a watch for a device's command.
extension RecordingCommandResult {
  /// `refused: noteId: is missing, …`, or the earlier result if the command is a repeat.
  func words(malformed reason: String) -> String {
    if isFresh { return "refused: \(reason)" }
    let time = decidedAt.map { " at \(DateTime.text(of: $0))" } ?? ""
    guard let request else {
      return "came again: it was refused before,\(time): \(reason); nothing was done now"
    }
    return "refused: \(reason); a \(request.name) of its id was \(status.rawValue) before,"
      + time
  }

  /// `retry, which waited for its recording, is applied`.
  var lateWords: String {
    "\(request?.name ?? "a command"), which waited for its recording, is "
      + status.rawValue + (reason.map { ": \($0)" } ?? "")
  }

  /// `retry applied`, or, for a repeat, when it was applied and that nothing changed now.
  func words(on request: RecordingCommand.Request) -> String {
    let reason = self.reason.map { ": \($0)" } ?? ""
    guard !isFresh else { return "\(request.name) \(status.rawValue)\(reason)" }
    if status == .waiting { return "\(request.name) came again and still waits\(reason)" }
    let time = decidedAt.map { " at \(DateTime.text(of: $0))" } ?? ""
    return "\(request.name) came again: it was \(status.rawValue) before,\(time)\(reason); "
      + "nothing was done now"
  }
}

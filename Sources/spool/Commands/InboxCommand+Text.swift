import Intake
import PipelineEngine
import PipelineModel
import Platform
import Store

/// Recordings as text.
extension CommandContext {
  static func list(
    _ recordings: [Recording], _ paths: [RecordingKey: [String]]
  ) -> String {
    guard !recordings.isEmpty else { return "no such recordings" }
    let isOneInbox = Set(recordings.map(\.inbox)).count == 1
    return recordings.map { recording in
      let line =
        "\(Format.pad(recording.key.name, 14))\(Format.pad(recording.status, 13))"
        + "\(Format.time(recording.stateSince))  \(isOneInbox ? "" : recording.inbox + "/")"
        + recording.shownPath(paths[recording.key]?.first)
        + (recording.reason.map { ": \($0)" } ?? "")
      return Format.visible(line)
    }.joined(separator: "\n")
  }

  /// All details of one recording.
  /// - Parameter option: the store option for suggested commands.
  static func page(_ recording: Recording, _ page: Recording.Page, _ option: StoreOption)
    -> String
  {
    let facts = StoredFacts(of: recording)
    var lines = ["recording: \(recording.key)", "file:      \(recording.fileName)"]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append(Format.pad(name + ":", max(11, name.utf8.count + 2)) + value) }
    }
    add("noteId", recording.shownID)
    for alias in page.aliases { add("also noteId", alias) }
    add("title", recording.title)
    add("tags", recording.tags.isEmpty ? nil : recording.tags.joined(separator: ", "))
    add("created", facts.createdAt)
    add("duration", facts.milliseconds.map { Format.duration(Double($0) / 1000) })
    add("recorder", facts.recorder)
    for (name, value) in facts.devices.sorted(by: { $0.key < $1.key }) { add(name, value) }
    for (name, value) in facts.unknown.sorted(by: { $0.key < $1.key }) {
      add(name, value.compact)
    }
    add("state", "\(recording.status) since \(Format.time(recording.stateSince))")
    add("reason", recording.reason)
    add("attempts", recording.attempts > 0 ? "\(recording.attempts)" : nil)
    add("again at", recording.nextAttempt.map { Format.time($0) })
    add("pipeline", recording.pipeline)
    add("inbox", recording.inbox)
    add("content", "\(recording.content.digest.hex) (\(ByteCount(recording.content.byteCount)))")
    add("original", recording.original?.name)
    if page.isOriginalLost {
      let lost = InspectionFinding.lostOriginal(
        of: recording.key, confirmedBy: page.places.first)
      add("lost", "its original; \(lost)")
    }
    if !page.places.isEmpty { add("confirmed", "by " + page.places.joined(separator: ", ")) }
    for other in page.duplicates {
      add("same sound", "\(other.fileName) (\(other.key)), which came later")
    }
    for copy in page.copies {
      add("left", "\(copy.path), which the step \(copy.step) wrote of the same samples")
    }
    add("doubt", facts.doubt)
    for problem in facts.problems { add("sidecar", problem) }
    for difference in facts.differences { add("differs", difference) }
    add("conflict", recording.conflict.map { "it claims to be \($0)" })
    add("run", page.run.map { "\($0.id) (\($0.state.rawValue))" })
    for line in RecordingDamage.lines(page.run?.damage ?? [:]) { add("damaged", line) }
    for words in page.run.map(WordQuality.all) ?? [] { add("words", words.line) }
    for export in page.run?.published ?? [] {
      add("export", export.path + (FilePath.exists(export.path) ? "" : ", which is not there"))
    }
    let first = page.files.filter { $0.role == .recording }.map(\.id).min()
    for file in page.files {
      // One that was lost, and came again.
      if file.place == .gone, file.digest != nil,
        page.files.contains(where: {
          $0.role == file.role && $0.digest == file.digest && $0.isInPlace
        })
      {
        continue
      }
      let isCopy = file.role == .recording && file.id != first
      add(
        isCopy ? "copy's file" : "\(file.role.rawValue) file",
        file.isInPlace && file.location != file.path
          ? "\(file.location) (\(file.place.rawValue); it came as \(file.path))"
          : "\(file.path) (\(file.place.rawValue))")
    }
    if let text = page.files.last(where: { $0.role == .transcript }),
      [.quarantined, .failed].contains(recording.state)
    {
      add("other text", "put a better one into the inbox as \(text.path)")
    }
    for path in page.leftFiles { add("left there", "\(path), which was not taken in") }
    for file in page.unusedFiles {
      add(
        "left there",
        "\(file.printablePath), which came with an earlier file of this name, \(file.recording)")
    }
    for event in page.events {
      lines.append(
        "  \(Format.time(event.at))  \(Format.pad(event.state.rawValue, 12))"
          + (event.reason ?? ""))
    }
    lines = lines.map { Format.visible($0) }
    lines += recording.nextCommands.filter { !$0.hasPrefix("spool inbox show") }
      .compactMap { NextCommand(option.completing($0))?.text }
    return lines.joined(separator: "\n")
  }
}

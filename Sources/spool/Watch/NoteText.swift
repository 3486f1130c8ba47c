import JSONText
import Sidecars
import Hashing
import Inbox
import PipelineEngine
import PipelineModel

/// Notes for people.
enum NoteText {
  /// One line for each.
  static func list(_ notes: [Note]) -> String {
    guard !notes.isEmpty else { return "no such notes" }
    return notes.map { note in
      let line =
        "\(Format.pad(note.key.name, 14))\(Format.pad(note.standing, 13))"
        + "\(Format.time(note.stateSince))  \(note.fileName)"
        + (note.reason.map { ": \($0)" } ?? "")
      return Format.visible(line)
    }.joined(separator: "\n")
  }

  /// All that is known of one.
  /// - Parameter option: names the store in what a user is told to type.
  static func page(_ note: Note, _ page: NotePage, _ option: StoreOption) -> String {
    let facts = KeptFacts(of: note)
    var lines = ["note:      \(note.key)", "file:      \(note.fileName)"]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append(Format.pad(name + ":", max(11, name.utf8.count + 2)) + value) }
    }
    add("noteId", note.shownID)
    for alias in page.aliases { add("also noteId", alias) }
    add("title", note.title)
    add("tags", note.tags.isEmpty ? nil : note.tags.joined(separator: ", "))
    add("created", facts.createdAt)
    add("duration", facts.milliseconds.map { Format.duration(Double($0) / 1000) })
    add("recorder", facts.recorder)
    for (name, value) in facts.devices.sorted(by: { $0.key < $1.key }) { add(name, value) }
    for (name, value) in facts.unknown.sorted(by: { $0.key < $1.key }) {
      add(name, value.compact)
    }
    add("state", "\(note.standing) since \(Format.time(note.stateSince))")
    add("reason", note.reason)
    add("attempts", note.attempts > 0 ? "\(note.attempts)" : nil)
    add("again at", note.nextAttempt.map { Format.time($0) })
    add("pipeline", note.pipeline)
    add("inbox", note.inbox)
    add("recording", "\(note.recording.digest.hex) (\(ByteCount(note.recording.byteCount)))")
    add("original", note.original?.name)
    add("doubt", facts.doubt)
    for problem in facts.problems { add("sidecar", problem) }
    add("conflict", note.conflict.map { "it claims to be \($0)" })
    add("run", page.run.map { "\($0.id) (\($0.state.rawValue))" })
    for words in page.run.map(WordQuality.all) ?? [] { add("words", words.line) }
    for export in page.run?.published ?? [] { add("export", export.path) }
    for file in page.files { add(file.role.rawValue, "\(file.path) (\(file.place.rawValue))") }
    for event in page.events {
      lines.append(
        "  \(Format.time(event.at))  \(Format.pad(event.state.rawValue, 12))"
          + (event.reason ?? ""))
    }
    lines += note.nextCommands.filter { !$0.hasPrefix("spool inbox show") }
      .map { "next:  \(option.completing($0))" }
    return lines.map { Format.visible($0) }.joined(separator: "\n")
  }
}

internal import JSONText
internal import Sidecars
internal import Hashing
internal import PipelineModel

/// What devices are told, as canonical JSON: one line, names in order.
enum AcknowledgementText {
  /// The acknowledgement of a note under one of its names.
  /// - Parameters:
  ///   - name: by which its device knows it.
  ///   - aliases: what other devices call it.
  ///   - claimants: the notes that claim its identity with other bytes.
  static func acknowledgement(
    of note: Note, named name: String, aliases: [String] = [], claimants: [NoteKey]
  ) -> String {
    var fields = description(of: note, aliases, claimants)
    fields["type"] = .text("ack")
    fields["noteId"] = .optional(name == note.key.name ? note.shownID : name)
    return object(fields)
  }

  /// All current notes.
  static func snapshot(
    of notes: [Note], _ counts: [String: Int], aliases: [NoteKey: [String]],
    claims: [NoteKey: [NoteKey]], version: Int64, at time: Double
  ) -> String {
    let counts = (NoteState.allCases.map(\.rawValue) + ["cancelled"])
      .map { ($0, JSONValue.number("\(counts[$0] ?? 0)")) }
    return object([
      "type": .text("state"), "version": .number("\(version)"), "writtenAt": .time(time),
      "counts": .object(Dictionary(uniqueKeysWithValues: counts)),
      "notes": .list(
        notes.map { note in
          var fields = description(
            of: note, aliases[note.key] ?? [], claims[note.key] ?? [])
          fields["noteId"] = .optional(note.shownID)
          fields["pipeline"] = .text(note.pipeline)
          return .object(fields)
        }),
    ])
  }

  /// The answer to a command.
  static func answer(to result: NoteCommandResult) -> String {
    let isPlain = AcknowledgementName.isPlain(result.id)
    return object([
      "type": .text("result"),
      "id": .text(isPlain ? result.id : PrintableText.of(Array(result.id.utf8))),
      "status": .text(result.status.rawValue),
      "reason": .optional(result.reason), "note": .optional(result.note?.name),
      "decidedAt": .time(result.decidedAt),
    ])
  }

  /// An object as a whole file.
  static func object(_ fields: [String: JSONValue]) -> String {
    JSONValue.object(fields).compact + "\n"
  }

  private static func description(
    of note: Note, _ aliases: [String], _ claimants: [NoteKey]
  ) -> [String: JSONValue] {
    let kept = KeptFacts(of: note)
    let isWrong = note.state == .failed || note.state == .quarantined
    return [
      "id": .text(note.key.name), "status": .text(note.state.rawValue),
      "cancelled": .boolean(note.isCancelled), "aliases": .list(aliases.map { .text($0) }),
      "receivedAt": .time(note.receivedAt), "acceptedAt": .time(note.acceptedAt),
      "uploadedAt": .time(note.uploadedAt),
      "error": .optional(isWrong ? note.reason ?? note.state.rawValue : nil),
      "attempts": .number("\(note.attempts)"), "retryAt": .time(note.nextAttempt),
      "name": .text(note.fileName), "title": .optional(note.title),
      "tags": .list(note.tags.map { .text($0) }),
      "createdAt": .optional(kept.createdAt),
      "transcript": .optional(kept.transcript),
      "differences": .list(kept.differences.map { .text($0) }),
      "digest": .text(note.recording.digest.hex),
      "duplicateOf": .optional(note.original?.name),
      "conflictsWith": .optional(note.conflict?.name),
      "claimedBy": .list(claimants.map { .text($0.name) }),
      "revision": .number("\(note.revision)"),
    ]
  }
}

extension JSONValue {
  /// Text, or null for nil.
  static func optional(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }

  /// A time in ISO 8601, or null for nil.
  /// - Parameter seconds: since 1970.
  static func time(_ seconds: Double?) -> JSONValue {
    .optional(seconds.map { Timestamp(secondsSince1970: $0).description })
  }
}

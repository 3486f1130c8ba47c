import PipelineModel
import Platform
import Store

/// The files that devices read, as canonical JSON: one line, keys in order.
enum AcknowledgementText {
  /// The acknowledgement of a recording under one of its names.
  /// - Parameters:
  ///   - name: its device's name for it.
  ///   - aliases: other devices' names for it.
  ///   - claimants: the recordings that claim its identity with other bytes.
  ///   - damage: what the steps of its run met, by step.
  ///   - copies: the places that have confirmed all of it, and how far the others are.
  ///   - expected: when the others have it; nil if that is unknown.
  static func acknowledgement(
    of recording: Recording, named name: String, aliases: [String] = [], claimants: [RecordingKey],
    damage: [String: RecordingDamage] = [:], copies: RecordingCopies = RecordingCopies(),
    expected: DeliveryQueue.Expectation? = nil
  ) -> String {
    var fields = description(of: recording, aliases, claimants)
    fields["type"] = .text("ack")
    fields.merge(copies.fields(of: recording, expected)) { _, new in new }
    if !damage.isEmpty { fields["damage"] = .object(damage.mapValues(\.json)) }
    fields["noteId"] = .optional(name == recording.key.name ? recording.shownID : name)
    return object(fields)
  }

  /// All current recordings.
  static func snapshot(
    of recordings: [Recording], _ counts: [String: Int], aliases: [RecordingKey: [String]],
    claims: [RecordingKey: [RecordingKey]], copies: [RecordingKey: RecordingCopies] = [:],
    expected: [RecordingKey: DeliveryQueue.Expectation] = [:],
    version: Int64, at time: Double
  ) -> String {
    let counts = (RecordingState.allCases.map(\.rawValue) + ["cancelled"])
      .map { ($0, JSONValue.number("\(counts[$0] ?? 0)")) }
    return object([
      "type": .text("state"), "version": .number("\(version)"), "writtenAt": .time(time),
      "counts": .object(Dictionary(uniqueKeysWithValues: counts)),
      "notes": .list(
        recordings.map { recording in
          var fields = description(
            of: recording, aliases[recording.key] ?? [], claims[recording.key] ?? [])
          fields["noteId"] = .optional(recording.shownID)
          fields["pipeline"] = .text(recording.pipeline)
          let key = recording.original ?? recording.key
          let own = copies[key] ?? RecordingCopies()
          fields.merge(own.fields(of: recording, expected[key])) { _, new in new }
          return .object(fields)
        }),
    ])
  }

  /// The answer to a command.
  static func answer(to result: RecordingCommandResult) -> String {
    let isPlain = AcknowledgementName.isPlain(result.id)
    return object([
      "type": .text("result"),
      "id": .text(isPlain ? result.id : PrintableText.of(Array(result.id.utf8))),
      "status": .text(result.status.rawValue),
      "reason": .optional(result.reason), "note": .optional(result.recording?.name),
      "decidedAt": .time(result.decidedAt),
    ])
  }

  /// The reason for a recording's quarantine, for the file beside it.
  /// - Parameter option: names the store in commands that a user types.
  static func reason(for recording: Recording, _ option: StoreOption = .usual) -> String {
    object([
      "type": .text("reason"), "id": .text(recording.key.name),
      "noteId": .optional(recording.shownID), "name": .text(recording.fileName),
      "digest": .text(recording.content.digest.hex), "reason": .optional(recording.reason),
      "conflictsWith": .optional(recording.conflict?.name),
      "quarantinedAt": .time(recording.stateSince),
      "next": .list(recording.nextCommands.map { .text(option.completing($0)) }),
    ])
  }

  /// The reason for the quarantine of a file that was meant as a command.
  /// - Parameter time: in seconds since 1970.
  static func reason(forCommand path: InboxPath, _ reason: String, at time: Double) -> String {
    object([
      "type": .text("reason"), "name": .text(path.description), "reason": .text(reason),
      "quarantinedAt": .time(time),
    ])
  }

  static func object(_ fields: [String: JSONValue]) -> String {
    JSONValue.object(fields).compact + "\n"
  }

  private static func description(
    of recording: Recording, _ aliases: [String], _ claimants: [RecordingKey]
  ) -> [String: JSONValue] {
    let kept = StoredFacts(of: recording)
    let isWrong = recording.state == .failed || recording.state == .quarantined
    return [
      "id": .text(recording.key.name), "status": .text(recording.state.rawValue),
      "cancelled": .boolean(recording.isCancelled), "aliases": .list(aliases.map { .text($0) }),
      "receivedAt": .time(recording.receivedAt), "acceptedAt": .time(recording.acceptedAt),
      "uploadedAt": .time(recording.uploadedAt),
      "error": .optional(isWrong ? recording.reason ?? recording.state.rawValue : nil),
      "attempts": .number("\(recording.attempts)"), "retryAt": .time(recording.nextAttempt),
      "name": .text(recording.fileName), "title": .optional(recording.title),
      "tags": .list(recording.tags.map { .text($0) }),
      "createdAt": .optional(kept.createdAt),
      "transcript": .optional(kept.transcript),
      "differences": .list(kept.differences.map { .text($0) }),
      "digest": .text(recording.content.digest.hex),
      "duplicateOf": .optional(recording.original?.name),
      "conflictsWith": .optional(recording.conflict?.name),
      "claimedBy": .list(claimants.map { .text($0.name) }),
      "revision": .number("\(recording.revision)"),
    ]
  }
}

extension RecordingCopies {
  /// What acknowledgements say: how many places have the recording, from when it is uploaded, and until then
  /// how much of it is there, how fast it is sent, and when that will end.
  fileprivate func fields(
    of recording: Recording, _ expected: DeliveryQueue.Expectation?
  ) -> [String: JSONValue] {
    switch recording.state {
    case .uploaded:
      [
        "copies": .number("\(1 + destinations.count)"),
        "places": .list(destinations.map { .text($0) }),
      ]
    case .uploading:
      ["progress": .number(Self.shown(fraction))].merging(
        expected.map {
          [
            "bytesPerSecond": .number("\(Int($0.bytesPerSecond))"),
            "expectedEnd": .time($0.end),
          ]
        } ?? [:]
      ) { $1 }
    case .received, .processing, .failed, .quarantined: [:]
    }
  }

  /// Three digits behind the point.
  private static func shown(_ fraction: Double) -> String {
    let thousandths = Int((min(1, max(0, fraction)) * 1000).rounded(.down))
    if thousandths % 1000 == 0 { return "\(thousandths / 1000)" }
    var digits = String(thousandths)
    digits = String(repeating: "0", count: 3 - digits.count) + digits
    while digits.hasSuffix("0") { digits.removeLast() }
    return "0." + digits
  }
}

extension JSONValue {
  static func optional(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }

  /// A time in ISO 8601, UTC, always with three digits of a second's fraction; or null.
  /// - Parameter seconds: since 1970.
  static func time(_ seconds: Double?) -> JSONValue {
    .optional(seconds.map(DateTime.text(of:)))
  }
}

enum AcknowledgementName {
  /// The acknowledgement of a recording.
  static func acknowledgement(_ name: String) -> InboxPath { path(name, ".ack.json") }

  /// The answer to a command.
  static func answer(to id: String) -> InboxPath { path(id, ".result.json") }

  static let snapshot = path("state", ".json")

  /// A name that cannot lead out of the outbox: anything but letters, digits, hyphens, underscores
  /// and points is replaced by its digest.
  private static func path(_ name: String, _ ending: String) -> InboxPath {
    let stem =
      isPlain(name) ? name : NoteID(name)?.text ?? "x-" + SHA256.digest(of: name).short
    guard let path = InboxPath(stem + ending) else { preconditionFailure("a plain name") }
    return path
  }

  /// Whether a text may be part of a file name as it is.
  static func isPlain(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
      && text.utf8.first != UInt8(ascii: "-")
      && text.utf8.allSatisfy { byte in
        DigitScanner.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
          || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
          || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains(byte)
      }
  }
}

/// The folder for an inbox's acknowledgements, and its relation to those of others.
struct Outbox: Hashable, Sendable {
  let path: String
  /// The outboxes of other inboxes for the same pipeline: a recording is acknowledged in all of
  /// them, whichever inbox it came by.
  var others: [String] = []
  /// The other pipelines that use the folder, whose recordings its snapshot shows too.
  var pipelines: [String] = []
}

internal import JSONText

/// Takes the known fields out of a sidecar's object, and notes what is wrong with them.
struct SidecarReader {
  private var fields: [String: JSONValue]
  private var problems: [SidecarProblem] = []

  init(_ fields: [String: JSONValue]) { self.fields = fields }

  /// What the fields say. What is of a wrong type is a problem, and as if it were not there.
  mutating func sidecar() -> Sidecar {
    var sidecar = Sidecar()
    sidecar.noteID = noteID()
    sidecar.createdAt = value("createdAt", "a time such as 2026-11-21T14:05:33Z") { value in
      Self.text(value).flatMap { Timestamp(iso8601: $0) }
    }
    sidecar.milliseconds = milliseconds()
    sidecar.title = words("title")
    sidecar.watchModel = words("watchModel")
    sidecar.watchOSVersion = words("watchOSVersion")
    sidecar.phoneModel = words("phoneModel")
    sidecar.iOSVersion = words("iOSVersion")
    sidecar.tags = tags()
    sidecar.unknown = fields
    sidecar.problems = problems.sorted { ($0.field ?? "") < ($1.field ?? "") }
    return sidecar
  }

  private mutating func noteID() -> NoteID? {
    let read: (JSONValue) -> NoteID? = { Self.text($0).flatMap { NoteID($0) } }
    let first = value("noteId", "a UUID", read)
    let second = value("uuid", "a UUID", read)
    if let first, let second, first != second {
      report("uuid", "\(second)", expected: "the same UUID as noteId, \(first)")
    }
    return first ?? second
  }

  private mutating func milliseconds() -> Int? {
    let exact = value("durationMs", "milliseconds, a number from 0") {
      Self.milliseconds($0, scale: 1)
    }
    let seconds = value("duration", "seconds, a number from 0") {
      Self.milliseconds($0, scale: 1000)
    }
    // A player rounds to whole seconds; more apart than that, one of them is wrong.
    if let exact, let seconds, abs(exact - seconds) > 1000 {
      report("duration", "\(seconds) ms", expected: "about the \(exact) ms of durationMs")
    }
    return exact ?? seconds
  }

  private mutating func tags() -> [String] {
    guard let written = taken("tags") else { return [] }
    guard case .list(let values) = written else {
      report("tags", written.summary, expected: "a list of texts")
      return []
    }
    var tags: [String] = []
    for (index, value) in values.enumerated() {
      guard let tag = Self.text(value).flatMap({ PlainText($0, limit: 100)?.text }) else {
        report("tags[\(index)]", value.summary, expected: "a text")
        continue
      }
      if !tags.contains(tag) { tags.append(tag) }
      if tags.count == Self.tagLimit {
        if index + 1 < values.count {
          report("tags", "\(values.count) tags", expected: "at most \(Self.tagLimit)")
        }
        break
      }
    }
    return tags
  }

  private static let tagLimit = 100

  /// A text to show; one of nothing but space is as none.
  private mutating func words(_ field: String) -> String? {
    let text = value(field, "a text", Self.text)
    return text.flatMap { PlainText($0, limit: 1000)?.text }
  }

  private mutating func value<Value>(
    _ field: String, _ expected: String, _ read: (JSONValue) -> Value?
  ) -> Value? {
    guard let written = taken(field) else { return nil }
    if let value = read(written) { return value }
    report(field, written.summary, expected: expected)
    return nil
  }

  /// A known field, taken out of the others; nil where it is missing or null.
  private mutating func taken(_ field: String) -> JSONValue? {
    let value = fields.removeValue(forKey: field)
    return value == .null ? nil : value
  }

  private mutating func report(_ field: String, _ found: String, expected: String) {
    problems.append(SidecarProblem(field: field, found: found, expected: expected))
  }

  private static func text(_ value: JSONValue) -> String? {
    if case .text(let text) = value { return text }
    return nil
  }

  /// A number of at most ten years.
  private static func milliseconds(_ value: JSONValue, scale: Double) -> Int? {
    guard let number = value.number else { return nil }
    let milliseconds = (number * scale).rounded()
    guard milliseconds >= 0, milliseconds < 10 * 366 * 86_400_000 else { return nil }
    return Int(milliseconds)
  }
}

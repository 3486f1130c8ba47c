package import PipelineModel
import Platform

/// A device's JSON description of a recording. Its content is untrusted: none of it becomes part of
/// a path without ``PrintableText/fileName(_:byteLimit:)``.
package struct Sidecar: Hashable, Sendable {
  /// `noteId` or `uuid`.
  var noteID: NoteID?
  /// `createdAt`.
  var createdAt: DateTime?
  /// The declared length in milliseconds: `durationMs`, or `duration` in seconds.
  var milliseconds: Int?
  /// `title`.
  package internal(set) var title: String?
  /// The recording device: `watchModel`.
  var watchModel: String?
  /// `watchOSVersion`.
  var watchOSVersion: String?
  /// The sending device: `phoneModel`.
  var phoneModel: String?
  /// `iOSVersion`.
  var iOSVersion: String?
  /// The user's keywords without repeats, in order: `tags`.
  package internal(set) var tags: [String] = []
  /// `chapters`, those without problems, in their order; nil if it has no such field.
  package internal(set) var chapters: [RunRequest.Chapter]?
  var written: [String: JSONValue] = [:]
  /// The variables that it sets for its recording in a batch or an inbox, `spool.set`, as `--set` takes
  /// their values.
  package var settings: [String: String] {
    guard case .object(let values)? = written["spool"]?["set"] else { return [:] }
    return values.compactMapValues { value in
      switch value {
      case .text(let text), .number(let text): text
      case .boolean(let isTrue): "\(isTrue)"
      case .null: nil
      // JSON is YAML.
      default: value.compact
      }
    }
  }
  /// All other fields.
  var unknown: [String: JSONValue] = [:]
  /// Every problem, by the name of its field. Valid fields are kept.
  var problems: [SidecarProblem] = []

  /// Whether its text is an object at all.
  var isReadable = true

  /// Whether its text ends before its value does, as while it is being written.
  var isCutOff = false

  init() {}

  /// The largest sidecar in bytes.
  package static let byteLimit = 1 << 20
  /// The deepest nesting of lists and objects.
  static let depthLimit = 32

  var isEmpty: Bool {
    var bare = self
    (bare.problems, bare.written) = ([], [:])
    (bare.isReadable, bare.isCutOff) = (true, false)
    return bare == Sidecar()
  }

  /// Whether it is not a sidecar but a recogniser's transcript under the same name: it has words or
  /// segments, and no field of a sidecar.
  var isTranscript: Bool {
    guard isReadable else { return false }
    var bare = self
    bare.unknown = [:]
    // Recognisers' answers have it too, in seconds.
    if written["duration"] != nil { bare.milliseconds = nil }
    return bare.isEmpty && problems.isEmpty
      && ["segments", "words", "transcription"].contains { unknown[$0]?.list != nil }
  }

  /// Stands for a sidecar that is too long.
  init(tooLong byteCount: Int) {
    self.init()
    isReadable = false
    problems = [
      SidecarProblem(
        field: nil, found: "\(byteCount) bytes", expected: "at most \(Self.byteLimit) bytes")
    ]
  }

  /// Whether invalid JSON may only be incomplete: it ends where more is expected or within a word,
  /// or continues with zeros of preallocated space.
  private static func isCutOff(_ bytes: [UInt8], at error: JSONSyntaxError) -> Bool {
    let rest = bytes.dropFirst(error.offset)
    return rest.isEmpty || rest.first == 0
      || ["true", "false", "null"].contains { $0.utf8.starts(with: rest) }
  }

  /// The number of problems that are listed one by one.
  private static let problemLimit = 20

  /// Parses a sidecar. Never fails: errors are among its problems.
  package init(json bytes: [UInt8]) {
    guard bytes.count <= Self.byteLimit else {
      self.init(tooLong: bytes.count)
      return
    }
    self.init()
    let bytes = TextEncoding.utf8(of: bytes)
    do throws(JSONSyntaxError) {
      let read = try JSONReader.value(of: bytes, depthLimit: Self.depthLimit)
      guard case .object(let fields) = read.value else {
        isReadable = false
        problems = [
          SidecarProblem(field: nil, found: read.value.summary, expected: "an object with fields")
        ]
        return
      }
      var reader = SidecarReader(fields)
      self = reader.sidecar()
      written = fields
      problems += read.repeatedNames.map {
        SidecarProblem(field: $0, found: "the name twice", expected: "each name once")
      }
      let rest = problems.count - Self.problemLimit
      if rest > 0 {
        problems.removeLast(rest)
        problems.append(
          SidecarProblem(
            field: nil, found: "\(rest) more mistakes", expected: "a sidecar as documented"))
      }
    } catch {
      isReadable = false
      isCutOff = Self.isCutOff(bytes, at: error)
      problems = [
        SidecarProblem(
          field: nil, found: error.found, expected: error.expected, line: error.line,
          column: error.column)
      ]
    }
  }
}

/// Reads the known fields of a sidecar's object and records their problems.
struct SidecarReader {
  private var fields: [String: JSONValue]
  private var problems: [SidecarProblem] = []
  /// The names of the known fields.
  private var names: [String] = []

  init(_ fields: [String: JSONValue]) { self.fields = fields }

  /// A field of a wrong type is a problem and otherwise ignored.
  mutating func sidecar() -> Sidecar {
    var sidecar = Sidecar()
    sidecar.noteID = noteID()
    sidecar.createdAt = value("createdAt", "a time such as 2026-11-21T14:05:33Z") { value in
      value.text.flatMap { DateTime(iso8601: $0) }
    }
    sidecar.milliseconds = milliseconds()
    sidecar.title = words("title")
    sidecar.watchModel = words("watchModel")
    sidecar.watchOSVersion = words("watchOSVersion")
    sidecar.phoneModel = words("phoneModel")
    sidecar.iOSVersion = words("iOSVersion")
    sidecar.tags = tags()
    sidecar.chapters = chapters()
    reportMisspelt()
    sidecar.unknown = fields
    sidecar.problems = problems.sorted { ($0.field ?? "") < ($1.field ?? "") }
    return sidecar
  }

  /// Reports fields that have the name of another one but for its case or an `s` at its end.
  private mutating func reportMisspelt() {
    if isOfRecogniser { return }
    for name in fields.keys.sorted() {
      let plain = name.lowercased()
      guard let known = names.first(where: { [plain, plain + "s"].contains($0.lowercased()) })
      else { continue }
      report(
        known, "the name \"\(PrintableText.of(Array(name.prefix(40).utf8)))\"", expected: known)
    }
  }

  /// Whether it has the lists of a recogniser's answer.
  private var isOfRecogniser: Bool {
    ["segments", "words", "transcription"].contains { fields[$0]?.list != nil }
  }

  private mutating func noteID() -> NoteID? {
    let read: (JSONValue) -> NoteID? = { $0.text.flatMap { NoteID($0) } }
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
    // Players round to whole seconds; a larger difference is an error in one of them.
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
      guard let tag = value.text.flatMap({ PrintableText.plain($0, limit: 100) }) else {
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

  /// Chapters as `{"start": 12.5, "title": "Guests"}`, or with `startTime` as in the chapters of
  /// podcasts in JSON. Recognisers' answers have chapters of other kinds.
  private mutating func chapters() -> [RunRequest.Chapter]? {
    guard !isOfRecogniser, let written = taken("chapters") else { return nil }
    guard case .list(let values) = written else {
      report("chapters", written.summary, expected: "a list of objects with start and title")
      return nil
    }
    if values.count > Self.chapterLimit {
      report("chapters", "\(values.count) chapters", expected: "at most \(Self.chapterLimit)")
    }
    var chapters: [RunRequest.Chapter] = []
    for (index, value) in values.prefix(Self.chapterLimit).enumerated() {
      let start = [value["start"], value["startTime"]].compactMap(\.self).first ?? .null
      guard let seconds = start.number, seconds >= 0, seconds < 360_000 else {
        report(
          "chapters[\(index)].start", start.summary, expected: "seconds, a number from 0 to 360000")
        continue
      }
      let title = value["title"] ?? .null
      if title != .null, title.text == nil {
        report("chapters[\(index)].title", title.summary, expected: "a text")
      }
      chapters.append(
        RunRequest.Chapter(
          start: seconds, title: title.text.flatMap { PrintableText.plain($0, limit: 1000) }))
    }
    return chapters
  }

  /// Files hold no more.
  private static let chapterLimit = 999

  /// A printable text; nil if blank.
  private mutating func words(_ field: String) -> String? {
    let text = value(field, "a text", \.text)
    return text.flatMap { PrintableText.plain($0, limit: 1000) }
  }

  private mutating func value<Value>(
    _ field: String, _ expected: String, _ read: (JSONValue) -> Value?
  ) -> Value? {
    guard let written = taken(field) else { return nil }
    if let value = read(written) { return value }
    report(field, written.summary, expected: expected)
    return nil
  }

  /// Removes and returns a known field; nil if it is missing or null.
  private mutating func taken(_ field: String) -> JSONValue? {
    names.append(field)
    let value = fields.removeValue(forKey: field)
    return value == .null ? nil : value
  }

  private mutating func report(_ field: String, _ found: String, expected: String) {
    problems.append(SidecarProblem(field: field, found: found, expected: expected))
  }

  /// A number of at most ten years.
  private static func milliseconds(_ value: JSONValue, scale: Double) -> Int? {
    guard let number = value.number else { return nil }
    let milliseconds = (number * scale).rounded()
    guard milliseconds >= 0, milliseconds < 10 * 366 * 86_400_000 else { return nil }
    return Int(milliseconds)
  }
}

struct SidecarProblem: Hashable, Sendable, Codable {
  /// The printable field, such as `durationMs` or `tags[2]`; nil for the whole file.
  let field: String?
  /// For example `the text "abc"`.
  let found: String
  /// For example `milliseconds, a number from 0`.
  let expected: String
  /// The line, from 1, if the file is no JSON.
  let line: Int?
  /// The byte in that line, from 1.
  let column: Int?

  init(
    field: String?, found: String, expected: String, line: Int? = nil, column: Int? = nil
  ) {
    self.field = field.map { PrintableText.of(Array($0.prefix(80).utf8)) }
    self.found = found
    self.expected = expected
    self.line = line
    self.column = column
  }
}

extension Sidecar {
  /// What is wrong with its title and its chapters, which exports have, one sentence each.
  package var exportProblems: [String] {
    problems.filter { problem in
      ["title", "chapters"].contains { problem.field?.hasPrefix($0) == true }
    }.map(\.description)
  }

  /// Where its text is no JSON, and why; nil if it is JSON of any kind.
  package var syntaxProblem: String? { problems.first { $0.line != nil }?.description }
}

extension SidecarProblem: CustomStringConvertible {
  /// One line: `durationMs: found the text "abc", expected milliseconds, …`.
  var description: String {
    let place = field ?? line.map { "line \($0), column \(column ?? 1)" } ?? "the file"
    return "\(place): found \(found), expected \(expected)"
  }
}

extension JSONValue {
  /// The value as in a pipeline's file.
  var node: DocumentNode {
    let place = SourceLocation(line: 1, column: 1)
    func scalar(_ text: String, isQuoted: Bool = false) -> DocumentNode {
      DocumentNode(.scalar(text, isQuoted: isQuoted), at: place)
    }
    switch self {
    case .null: return scalar("null")
    case .boolean(let flag): return scalar(flag ? "true" : "false")
    case .number(let number): return scalar(number)
    case .text(let text): return scalar(text, isQuoted: true)
    case .list(let values): return DocumentNode(.sequence(values.map(\.node)), at: place)
    case .object(let members):
      let entries = members.sorted { $0.key < $1.key }.map {
        DocumentNode.Entry(key: $0.key, location: place, value: $0.value.node)
      }
      return DocumentNode(.mapping(entries), at: place)
    }
  }

  /// For messages: `the number 12`, `a list`, `the text "abc"`.
  var summary: String {
    switch self {
    case .null: "null"
    case .boolean(let isTrue): "\(isTrue)"
    case .number(let digits): "the number \(digits.prefix(24))"
    case .text(let text):
      "the text \"\(PrintableText.of(Array(text.prefix(40).utf8)))\(text.count > 40 ? "…" : "")\""
    case .list: "a list"
    case .object: "an object"
    }
  }
}

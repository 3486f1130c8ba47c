package import PipelineModel
package import Platform
package import Store

/// What is known about a recording, with its source: the sidecar takes precedence over the
/// container, and that over the name.
struct RecordingFacts: Hashable, Sendable {
  enum Source: String, Hashable, Sendable, Codable {
    case sidecar
    case container
    case fileName
  }

  struct Sourced<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value
    let source: Source
  }

  /// Nil if no source states one.
  let noteID: Sourced<NoteID>?
  let createdAt: Sourced<DateTime>?
  /// Milliseconds, as the source says.
  let milliseconds: Sourced<Int>?
  let title: Sourced<String>?
  let recorder: Sourced<String>?

  init(sidecar: Sidecar?, container: ContainerFacts?, name: FileName) {
    let fileName = FileNameFacts(name)
    noteID = Self.first((sidecar?.noteID, .sidecar), (fileName.noteID, .fileName))
    createdAt = Self.first(
      (sidecar?.createdAt, .sidecar), (container?.createdAt, .container),
      (fileName.createdAt, .fileName))
    milliseconds = Self.first(
      (sidecar?.milliseconds, .sidecar), (container?.milliseconds, .container))
    title = Self.first(
      (sidecar?.title, .sidecar), (container?.title, .container), (fileName.title, .fileName))
    recorder = Self.first(
      (sidecar?.watchModel ?? sidecar?.phoneModel, .sidecar), (container?.recorder, .container))
  }

  private static func first<Value>(_ known: (Value?, Source)...) -> Sourced<Value>? {
    for case (let value?, let source) in known { return Sourced(value: value, source: source) }
    return nil
  }
}

/// What a file name tells about its recording: `2026-11-21_14-05 Team meeting.m4a`.
struct FileNameFacts: Hashable, Sendable {
  /// The first time or date in the name; its zone is never known.
  private(set) var createdAt: DateTime?
  private(set) var noteID: NoteID?
  /// The remaining words; nil if there are none.
  private(set) var title: String?

  /// Reads a name. O(n²) in its at most 255 bytes.
  init(_ name: FileName) {
    var bytes = name.stem
    if let (range, id) = Self.first(in: bytes, Self.noteID) {
      noteID = id
      bytes.replaceSubrange(range, with: " ".utf8)
    }
    if let (range, time) = Self.first(in: bytes, Self.time) {
      createdAt = time
      bytes.replaceSubrange(range, with: " ".utf8)
    }
    title = Self.title(bytes)
  }

  /// The first match that is not the tail of a longer number.
  private static func first<Value>(
    in bytes: [UInt8], _ read: (ArraySlice<UInt8>) -> (count: Int, value: Value)?
  ) -> (Range<Int>, Value)? {
    for start in bytes.indices where start == 0 || !bytes[start - 1].isWordByte {
      if let (count, value) = read(bytes[start...]) { return (start..<start + count, value) }
    }
    return nil
  }

  private static func noteID(_ bytes: ArraySlice<UInt8>) -> (Int, NoteID)? {
    for count in [36, 32] where bytes.count >= count {
      let isCutOff = bytes.dropFirst(count).first.map(\.isWordByte) ?? false
      let text = String(decoding: bytes.prefix(count), as: UTF8.self)
      if !isCutOff, let id = NoteID(text) { return (count, id) }
    }
    return nil
  }

  /// A date with an optional time of day: `2026-11-21_14-05`, `20261121-140533`,
  /// `2026-11-21T14.05.33`, `20261121140533`, `2026-11-21`.
  private static func time(_ bytes: ArraySlice<UInt8>) -> (Int, DateTime)? {
    var rest = DigitScanner(bytes)
    guard let year = rest.number(digits: 4), (1970...2100).contains(year) else { return nil }
    let mark = ["-", "_", "."].first { rest.skip($0) }
    guard let month = rest.number(digits: 2), mark.map({ rest.skip($0) }) ?? true,
      let day = rest.number(digits: 2), let date = DateTime(dayOf: year, month, day)
    else { return nil }
    var clock = rest
    let isApart = ["T", "t", "_", "-", " ", "."].contains { clock.skip($0) }
    if let (hour, minute, second) = timeOfDay(&clock),
      let time = DateTime(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    {
      return (bytes.count - clock.rest.count, time)
    }
    // More digits make it a number of another kind.
    guard isApart || !rest.isAtDigit else { return nil }
    return (bytes.count - rest.rest.count, date)
  }

  private static func timeOfDay(_ rest: inout DigitScanner) -> (Int, Int, Int)? {
    guard let hour = rest.number(digits: 2) else { return nil }
    let mark = ["-", ".", ":", "_", "h"].first { rest.skip($0) }
    guard let minute = rest.number(digits: 2) else { return nil }
    var second = 0
    var behind = rest
    if mark.map({ behind.skip($0) }) ?? true, let written = behind.number(digits: 2),
      !behind.isAtDigit
    {
      second = written
      rest = behind
    }
    return rest.isAtDigit ? nil : (hour, minute, second)
  }

  /// Underscores are spaces; a rest without a letter is no title.
  private static func title(_ bytes: [UInt8]) -> String? {
    let spaced = bytes.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: " ") : $0 }
    guard let text = PrintableText.plain(String(decoding: spaced, as: UTF8.self), limit: 255),
      text.contains(where: \.isLetter)
    else { return nil }
    let edges: Set<Character> = [" ", "-", ".", ",", "(", "["]
    var title = text[...]
    while let first = title.first, edges.contains(first) { title.removeFirst() }
    while let last = title.last, edges.contains(last) { title.removeLast() }
    return title.isEmpty ? nil : String(title)
  }
}

extension UInt8 {
  /// Whether it is a letter from A to Z or a digit.
  fileprivate var isWordByte: Bool {
    DigitScanner.isDigit(self)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(asciiLowercase)
  }
}

/// What a recording's container declares.
struct ContainerFacts: Hashable, Sendable {
  let createdAt: DateTime?
  let title: String?
  /// The device or program that recorded it.
  let recorder: String?
  /// Its length in milliseconds.
  let milliseconds: Int?

  /// Reads a container's tags, with names in lower case, as libavformat returns them.
  /// - Parameter duration: the sound's length in seconds, if known.
  init(tags: [String: String], duration: Double? = nil) {
    createdAt = Self.timeTags.lazy.compactMap { tags[$0] }.compactMap { Self.time($0, tags) }.first
    title = tags["title"].flatMap { PrintableText.plain($0, limit: 1000) }
    recorder =
      Self.recorderTags.lazy.compactMap { tags[$0] }
      // FFmpeg's libraries name themselves as the encoder of every copy that they write.
      .filter { !$0.hasPrefix("Lavf") && !$0.hasPrefix("Lavc") }
      .compactMap { PrintableText.plain($0, limit: 200) }.first
    milliseconds = duration.flatMap { seconds in
      seconds.isFinite && seconds >= 0 && seconds < 1e9 ? Int((seconds * 1000).rounded()) : nil
    }
  }

  /// The tags for a time, the most exact first.
  private static let timeTags = [
    "com.apple.quicktime.creationdate", "creation_time", "date_recorded", "origination_date",
    "date",
  ]
  /// The tags for what recorded it, devices before programs.
  private static let recorderTags = [
    "com.apple.quicktime.model", "com.android.model", "model", "originator", "recorder",
    "com.apple.quicktime.software", "software", "encoder",
  ]

  /// A container without a time holds the first day of its own era.
  private static func time(_ text: String, _ tags: [String: String]) -> DateTime? {
    let written = text.count == 8 ? timeOfDay(text, tags) : text
    guard let time = written.flatMap({ DateTime(iso8601: $0) }), time.localSeconds > 0 else {
      return nil
    }
    return time
  }

  /// The date with this time of day, which libavformat gives as `creation_time` if a WAV file's `bext`
  /// chunk has it; EBU Tech 3285 allows other marks between the numbers. Nil if the text is none, or
  /// there is no date.
  private static func timeOfDay(_ text: String, _ tags: [String: String]) -> String? {
    func numbers(_ text: String, _ counts: [Int]) -> [Substring]? {
      let parts = text.split(omittingEmptySubsequences: false) { "-_:. ".contains($0) }
      return parts.map(\.utf8.count) == counts ? parts : nil
    }
    guard let time = numbers(text, [2, 2, 2]),
      let date = (tags["origination_date"] ?? tags["date"]).flatMap({ numbers($0, [4, 2, 2]) })
    else { return nil }
    return date.joined(separator: "-") + "T" + time.joined(separator: ":")
  }
}

/// What the store keeps of a recording's sidecar.
package struct StoredFacts: Sendable {
  /// What the sidecar asks of the pipeline, its field `spool`; nil if nothing.
  package let request: DocumentNode?
  /// What is wrong with the sidecar, one sentence each.
  package let problems: [String]

  /// Why the recording may be incomplete; nil if nothing indicates it.
  package let doubt: String?

  /// The name of its transcript's file; nil if it has none.
  package let transcript: String?

  /// Contradictions in the sidecars of copies, one sentence each.
  package let differences: [String]

  /// When it was recorded, in ISO 8601; nil if unknown.
  package let createdAt: String?
  /// Its length in milliseconds, as its sidecar or container says; nil if unknown.
  package let milliseconds: Int?
  package let recorder: String?
  /// The sidecar's fields about devices, by name.
  package let devices: [String: String]
  /// The sidecar's unknown fields.
  package let unknown: [String: JSONValue]

  /// Whether nothing of the recording may leave the machine before a person releases it.
  package var isSensitive: Bool { Sidecar.isSensitive(unknown) }

  package init(of recording: Recording) {
    let fields = JSONValue.object(FactsText.fields(of: recording.facts))
    func fact(_ name: String) -> JSONValue? { fields[name]?["value"] }
    func texts(_ name: String) -> [String] { fields[name]?.list?.compactMap(\.text) ?? [] }
    request = fields["unknown"]?[SidecarOverrides.field]?.node
    if case .object(let unknown)? = fields["unknown"] {
      self.unknown = unknown.filter { $0.key != SidecarOverrides.field }
    } else {
      unknown = [:]
    }
    titleOfName =
      fields["title"]?["source"]?.text == RecordingFacts.Source.fileName.rawValue
      ? fact("title")?.text : nil
    doubt = fields["doubt"]?.text
    transcript = fields["transcript"]?.text
    createdAt = fact("createdAt")?.text
    recorder = fact("recorder")?.text
    milliseconds = fact("durationMs")?.integer
    devices = Dictionary(
      uniqueKeysWithValues: FactsText.deviceFields.compactMap { name in
        fields[name]?.text.map { (name, $0) }
      })
    differences = texts("differences")
    problems = texts("problems")
  }

  /// The title that its file name tells, where nothing else told one when it arrived.
  private let titleOfName: String?

  /// When it was recorded: perhaps no time, but a month or a year, as its sidecar says it.
  package func createdAt(with sidecar: Sidecar?) -> String? {
    sidecar?.createdAt == nil ? sidecar?.writtenDate ?? createdAt : createdAt
  }

  /// The fields for the names of the recording's exports, in lower case.
  /// - Parameter tags: of the recording: a cut one is read only when it is taken in after all.
  package func nameFields(
    of recording: Recording, sidecar: Sidecar? = nil, tags: [String: String]
  ) -> [String: String] {
    var fields = NameFields.fields(of: unknown)
    for (name, value) in devices { fields[name.lowercased()] = value }
    // No time, but perhaps a month or a year.
    fields["createdat"] =
      sidecar?.createdAt == nil ? sidecar?.written["createdAt"]?.text ?? createdAt : createdAt
    let isOfName = recording.title == titleOfName && tags["title"]?.isEmpty == false
    fields["title"] = isOfName ? nil : recording.title
    fields["noteid"] = recording.shownID
    return fields
  }
}

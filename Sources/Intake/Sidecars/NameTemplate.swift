import PipelineModel
package import Platform

/// The template of export names: `{album}/{date}-{title}.{ext}`, below the output folder.
///
/// A slash in the template begins a folder; one in a field does not. Every field is cleaned, so
/// that no tag and no sidecar leads out of the output folder. `.{ext}` at the end stands for each
/// export's own extension.
package struct NameTemplate: Hashable, Sendable {
  private enum Piece: Hashable {
    case text(String)
    case field(String)
  }

  package let text: String
  private let parts: [[Piece]]

  package init(_ text: String) throws(SpoolError) {
    self.text = text
    let body = text.hasSuffix(".{ext}") ? String(text.dropLast(6)) : text
    guard !body.isEmpty, !body.hasPrefix("/") else {
      throw SpoolError("a name begins below the output folder, not with a slash")
    }
    var parts: [[Piece]] = []
    for part in body.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
      .map({ Substring($0) })
    {
      guard !part.isEmpty, part != ".", part != ".." else {
        throw SpoolError("\"\(part)\" is no folder for exports")
      }
      parts.append(try Self.pieces(part))
    }
    self.parts = parts
    try refuseUnknownFields()
    try refuseExtension()
  }

  /// The extensions of Spool's exports: at a template's end, one of them would precede each
  /// export's own and mislead.
  private static let extensions: Set<String> = [
    "aac", "aif", "aiff", "alac", "caf", "flac", "json", "m4a", "m4b", "mka", "mp3", "mp4", "oga",
    "ogg", "opus", "rf64", "srt", "txt", "vtt", "w64", "wav", "wave", "webm",
  ]

  /// Throws if the template gives all exports one extension.
  private func refuseExtension() throws(SpoolError) {
    guard case .text(let end)? = parts.last?.last else { return }
    let ending = PathText.fileExtension(of: "_" + end)
    guard Self.extensions.contains(ending.lowercased()) else { return }
    throw SpoolError(
      "it ends with .\(ending), and each export has an extension of its own",
      advice: "leave it out, or write .{ext} in its place")
  }

  /// Throws for all unknown fields at once.
  private func refuseUnknownFields() throws(SpoolError) {
    var unknown: [String] = []
    for case .field(let name) in parts.joined()
    where !NameFields.isKnown(name) && !unknown.contains(name) {
      unknown.append(name)
    }
    guard !unknown.isEmpty else { return }
    let words = unknown.map { name in
      let nearest = NameFields.nearest(to: name).map { ", perhaps {\($0)}" } ?? ""
      return "there is no field {\(name)}\(nearest)"
    }
    throw SpoolError(words.joined(separator: "; "), advice: "the fields are \(NameFields.choice)")
  }

  /// Whether a field needs the recording's tags, beyond its path.
  package var needsTags: Bool {
    parts.joined().contains { piece in
      if case .field(let name) = piece { return !["stem", "folder"].contains(name) }
      return false
    }
  }

  /// The name of a file's exports below the output folder, without extension.
  func fill(_ fields: NameFields) -> String {
    var names: [String] = []
    for part in parts {
      // The recording's own folders stay folders.
      if part == [.field("folder")] {
        names += fields.folders.map(Self.clean)
        continue
      }
      let text = part.map { piece in
        switch piece {
        case .text(let text): text
        case .field(let name): Self.clean(fields[name])
        }
      }.joined()
      names.append(Self.fit(text))
    }
    return names.joined(separator: "/")
  }

  /// What `{date}` stands for, of the recording at a path: also of a delivery's path.
  /// - Parameters:
  ///   - sidecar: its fields, with names in lower case.
  ///   - tags: the recording's, with names in lower case.
  package static func date(
    of path: String, sidecar: [String: String], tags: [String: String]
  ) -> String {
    clean(NameFields(path: path, sidecar: sidecar, tags: tags)["date"])
  }

  /// The longest name in bytes: a number, an extension and a temporary suffix still fit into 255.
  private static let maximumByteCount = 180

  private static func clean(_ field: String) -> String {
    PrintableText.fileName(field, byteLimit: maximumByteCount) ?? "_"
  }

  /// Joins cleaned fields and the template's own words into one name that is not hidden, no option
  /// and not too long.
  private static func fit(_ text: String) -> String {
    var result = text
    while let last = result.last, last.isWhitespace { result.removeLast() }
    while let first = result.first, first.isWhitespace { result.removeFirst() }
    if let first = result.first, first == "." || first == "-" {
      result = "_" + result.dropFirst()
    }
    while result.utf8.count > maximumByteCount { result.removeLast() }
    return result.isEmpty ? "_" : result
  }

  private static func pieces(_ text: Substring) throws(SpoolError) -> [Piece] {
    var pieces: [Piece] = []
    var rest = text
    while let opening = rest.firstIndex(of: "{") {
      if opening > rest.startIndex { pieces.append(.text(String(rest[..<opening]))) }
      guard let closing = rest[opening...].firstIndex(of: "}") else {
        throw SpoolError("a brace is not closed in \"\(text)\"")
      }
      let name = rest[rest.index(after: opening)..<closing].lowercased()
      guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || "_-.".contains($0) })
      else { throw SpoolError("\"{\(name)}\" is no field, as {title} is") }
      guard name != "ext" else {
        throw SpoolError("{ext} stands at the end, after a dot: each export has its own")
      }
      pieces.append(.field(name))
      rest = rest[rest.index(after: closing)...]
    }
    if !rest.isEmpty { pieces.append(.text(String(rest))) }
    return pieces
  }
}

/// The fields of a name template. Unknown ones are refused: `titel` would name every export
/// `unknown titel`.
extension NameFields {
  /// The prefix of a field that only the sidecar gives.
  static let sidecarMark = "sidecar."
  /// The prefix of a field that only the recording's tags give.
  static let tagMark = "tag."

  /// Fields that every recording has.
  static let own = ["stem", "folder", "title", "date"]
  /// Fields of sidecars.
  private static let ofSidecars = [
    "noteid", "uuid", "createdat", "duration", "durationms", "watchmodel", "watchosversion",
    "phonemodel", "iosversion",
  ]
  /// Tags as libavformat names them in sound containers, and those of broadcast WAV.
  private static let ofTags = [
    "album", "album_artist", "artist", "author", "bpm", "comment", "composer", "copyright",
    "creation_time", "description", "disc", "encoded_by", "encoder", "episode_id", "genre",
    "grouping", "isrc", "language", "location", "lyrics", "make", "model", "network",
    "origination_date", "origination_time", "originator", "originator_reference", "performer",
    "publisher", "show", "synopsis", "time_reference", "track", "umid", "year",
  ]

  /// Whether a name, in lower case, is a field.
  static func isKnown(_ name: String) -> Bool {
    for mark in [sidecarMark, tagMark] where name.hasPrefix(mark) {
      return name.count > mark.count
    }
    let plain = name.replacing("-", with: "_")
    return own.contains(plain) || ofSidecars.contains(plain) || ofTags.contains(plain)
  }

  /// The nearest field; nil if none is near.
  static func nearest(to name: String) -> String? {
    Problem.nearest(to: name, in: own) ?? Problem.nearest(to: name, in: ofTags + ofSidecars)
  }

  /// The allowed fields, for messages.
  static var choice: String {
    own.map { "{\($0)}" }.joined(separator: ", ")
      + ", a sidecar's field or a tag such as {watchModel}, {artist} or {album}, and any other as "
      + "{sidecar.NAME} or {tag.NAME}"
  }
}

/// The fields for a recording's export names: from its sidecar, then its tags, then its file name.
struct NameFields: Sendable {
  /// The recording's, below the batch's folder or the inbox.
  let path: String
  /// The sidecar's fields, with names in lower case.
  var sidecar: [String: String] = [:]
  /// The recording's tags, with names in lower case.
  var tags: [String: String] = [:]

  /// A sidecar's text and number fields, with names in lower case.
  static func fields(of sidecar: [String: JSONValue]) -> [String: String] {
    var fields: [String: String] = [:]
    for (name, value) in sidecar.sorted(by: { $0.key < $1.key }) {
      switch value {
      case .text(let text), .number(let text): fields[name.lowercased()] = text
      default: break
      }
    }
    return fields
  }

  /// The names of the folders around it.
  var folders: [String] {
    PathText.folder(of: path).pathNames
  }

  /// A field's text; `unknown album` for an unknown album.
  subscript(name: String) -> String {
    switch name {
    case "stem": return stem
    case "folder": return folders.last ?? ""
    case "date": return date
    case "title": return given("title") ?? stem
    case _ where name.hasPrefix(NameFields.sidecarMark):
      return given(name, by: NameFields.sidecarMark, in: [sidecar])
    case _ where name.hasPrefix(NameFields.tagMark):
      return given(name, by: NameFields.tagMark, in: [tags])
    default: return given(name) ?? "unknown \(name)"
    }
  }

  private var stem: String { PathText.stem(of: PathText.name(of: path)) }

  private func given(_ name: String, by mark: String, in sources: [[String: String]]) -> String {
    let name = String(name.dropFirst(mark.count))
    return given(name, in: sources) ?? "unknown \(name)"
  }

  private func given(_ name: String) -> String? { given(name, in: [sidecar, tags]) }

  private func given(_ name: String, in sources: [[String: String]]) -> String? {
    for source in sources {
      let text = source[name] ?? source[name.replacing("-", with: "_")]
      if let text, text.contains(where: { !$0.isWhitespace }) { return text }
    }
    return nil
  }

  /// The fields for a date, by precedence.
  private static let dateFields = ["date", "createdat", "creation_time", "year"]

  /// `2026-03-14`: the first day of the sidecar, the tags or the stem that the calendar has; else the
  /// month or the year with which a date of the sidecar or the tags begins, `1987-05` or `1987`, as of
  /// an impossible day; else `undated`.
  private var date: String {
    let said = [sidecar, tags].flatMap { source in
      Self.dateFields.compactMap { given($0, in: [source]) }
    }
    for text in said + [stem] { if let day = Self.day(in: text) { return day } }
    return said.lazy.compactMap(Self.month).first ?? said.lazy.compactMap(Self.year).first
      ?? "undated"
  }

  /// Whether a text begins with a year, as dates do of which more is not known.
  static func isDate(_ text: String) -> Bool { year(text) != nil }

  /// The month with which a date begins, as `1987-05`; nil if none is there.
  private static func month(_ text: String) -> String? {
    var rest = DigitScanner(text)
    guard let year = year(text), rest.number(digits: 4) != nil, rest.skip("-"),
      let month = rest.number(digits: 2), (1...12).contains(month), !rest.isAtDigit
    else { return nil }
    return "\(year)-\(month < 10 ? "0" : "")\(month)"
  }

  /// The year with which a date begins; nil if none is there.
  private static func year(_ text: String) -> String? {
    var rest = DigitScanner(text)
    guard let year = rest.number(digits: 4), (1...9999).contains(year), !rest.isAtDigit else {
      return nil
    }
    return String(text.prefix(4))
  }

  /// The first `2026-03-14` or `20260314` in a text, as the former.
  static func day(in text: String) -> String? {
    let bytes = Array(text.utf8)
    for start in bytes.indices where start == 0 || !DigitScanner.isDigit(bytes[start - 1]) {
      var rest = DigitScanner(bytes[start...])
      guard let year = rest.number(digits: 4), (1900...2199).contains(year) else { continue }
      let isParted = rest.skip("-")
      guard let month = rest.number(digits: 2), !isParted || rest.skip("-"),
        let day = rest.number(digits: 2), !rest.isAtDigit,
        DateTime(year: year, month: month, day: day) != nil
      else { continue }
      func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
      return "\(year)-\(two(month))-\(two(day))"
    }
    return nil
  }
}

/// How exports are called: `{album}/{date}-{title}.{ext}`, below the output folder.
///
/// A slash in the template begins a folder; one in a field does not. Every field is cleaned, so that
/// no tag and no sidecar leads out of the output folder. Each export has its own extension, which is
/// what `.{ext}` at the end stands for.
public struct NameTemplate: Hashable, Sendable {
  /// What is wrong with a template.
  public struct Problem: Error, Hashable, Sendable {
    /// What was found, as one sentence without a full stop.
    public let message: String
    /// What there is instead; nil where the message says that.
    public var choice: String?
  }

  private enum Piece: Hashable {
    case text(String)
    case field(String)
  }

  /// The template as written.
  public let text: String
  private let parts: [[Piece]]

  /// Reads a template.
  public init(_ text: String) throws(Problem) {
    self.text = text
    let body = text.hasSuffix(".{ext}") ? String(text.dropLast(6)) : text
    guard !body.isEmpty, !body.hasPrefix("/") else {
      throw Problem(message: "a name begins below the output folder, not with a slash")
    }
    var parts: [[Piece]] = []
    for part in body.split(separator: "/", omittingEmptySubsequences: false) {
      guard !part.isEmpty, part != ".", part != ".." else {
        throw Problem(message: "\"\(part)\" is no folder for exports")
      }
      parts.append(try Self.pieces(part))
    }
    self.parts = parts
    try refuseUnknownFields()
    try refuseExtension()
  }

  /// The endings of what Spool exports: at a template's end, one of them would stand before each
  /// export's own, and promise what the file is not.
  private static let extensions: Set<String> = [
    "aac", "aif", "aiff", "alac", "caf", "flac", "json", "m4a", "m4b", "mka", "mp3", "mp4", "oga",
    "ogg", "opus", "rf64", "srt", "txt", "vtt", "w64", "wav", "wave", "webm",
  ]

  /// Throws where the template gives all exports one extension.
  private func refuseExtension() throws(Problem) {
    guard case .text(let end)? = parts.last?.last else { return }
    let ending = PathText.fileExtension(of: "_" + end)
    guard Self.extensions.contains(ending.lowercased()) else { return }
    throw Problem(
      message: "it ends with .\(ending), and each export has an extension of its own",
      choice: "leave it out, or write .{ext} in its place")
  }

  /// Throws for all unknown fields at once.
  private func refuseUnknownFields() throws(Problem) {
    var unknown: [String] = []
    for case .field(let name) in parts.joined()
    where !NameField.isKnown(name) && !unknown.contains(name) {
      unknown.append(name)
    }
    guard !unknown.isEmpty else { return }
    let words = unknown.map { name in
      let nearest = NameField.nearest(to: name).map { ", perhaps {\($0)}" } ?? ""
      return "there is no field {\(name)}\(nearest)"
    }
    throw Problem(
      message: words.joined(separator: "; "), choice: "the fields are \(NameField.choice)")
  }

  /// Whether anything of the recording itself is asked for, beyond its path.
  package var needsTags: Bool {
    parts.joined().contains { piece in
      if case .field(let name) = piece { return !["stem", "folder"].contains(name) }
      return false
    }
  }

  /// The name of a file's exports below the output folder, without extension.
  package func fill(_ fields: NameFields) -> String {
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

  /// The longest name in bytes: a number, an extension and a temporary suffix still fit into 255.
  private static let maximumByteCount = 180

  private static func clean(_ field: String) -> String {
    SafeName(field, byteLimit: maximumByteCount)?.text ?? "_"
  }

  /// Makes cleaned fields and the template's own words between them one name that is not hidden, no
  /// option and not too long.
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

  private static func pieces(_ text: Substring) throws(Problem) -> [Piece] {
    var pieces: [Piece] = []
    var rest = text
    while let opening = rest.firstIndex(of: "{") {
      if opening > rest.startIndex { pieces.append(.text(String(rest[..<opening]))) }
      guard let closing = rest[opening...].firstIndex(of: "}") else {
        throw Problem(message: "a brace is not closed in \"\(text)\"")
      }
      let name = rest[rest.index(after: opening)..<closing].lowercased()
      guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || "_-.".contains($0) })
      else { throw Problem(message: "\"{\(name)}\" is no field, as {title} is") }
      guard name != "ext" else {
        throw Problem(message: "{ext} stands at the end, after a dot: each export has its own")
      }
      pieces.append(.field(name))
      rest = rest[rest.index(after: closing)...]
    }
    if !rest.isEmpty { pieces.append(.text(String(rest))) }
    return pieces
  }
}

package import Media
package import PipelineModel
package import Platform

/// The tags and the cover that a pipeline states in the place of the recording's.
package struct StatedTags: Sendable {
  /// By libavformat's names. An empty text takes the recording's own away.
  let texts: [String: String]
  /// The picture's path; nil for the recording's own.
  package let cover: String?

  /// Throws every text that the formats have no place for.
  /// - Parameter metadata: by the names of `parameters`; nil for those that are not stated.
  package init(_ metadata: [String: String?] = [:], cover: String? = nil) throws(SpoolError) {
    let given = metadata.compactMapValues(\.self)
    let flaws = given.sorted { $0.key < $1.key }.compactMap { Self.flaw(in: $0.value, of: $0.key) }
    if let error = SpoolError.all(flaws) { throw error }
    texts = Dictionary(uniqueKeysWithValues: given.map { (Self.tag($0.key), $0.value) })
    self.cover = cover
  }

  /// The picture; nil where none is stated.
  /// - Throws: where it cannot be a cover.
  package func picture() throws(SpoolError) -> CoverArt? {
    try cover.map { (path) throws(SpoolError) in
      do throws(SpoolError) { return try CoverArt(file: path) } catch {
        throw error.located(at: ["cover"])
      }
    }
  }

  /// The names that can be stated, in the order of help.
  package static let names = parameters.map(\.name)

  /// What stages declare.
  package static let parameters: [ParameterDescriptor] = [
    ("title", "the title"),
    ("artist", "who is heard"),
    ("album", "the album, or the show of an episode"),
    ("album-artist", "who made the album"),
    ("composer", "who wrote the work"),
    ("genre", "the genre"),
    ("date", "when it came out: 2026, 2026-03 or 2026-03-14"),
    ("track", "its number on the album: 3 or 3/12"),
    ("disc", "the disc's number: 1 or 1/2"),
    ("comment", "a comment"),
    ("description", "what it is about"),
    ("copyright", "who holds the rights"),
    ("publisher", "who publishes it"),
  ].map {
    ParameterDescriptor($0.0, .text(maximumLength: 10_000), .optional, $0.1, isInKey: false)
  }

  /// `album-artist` is `album_artist` in libavformat.
  static func tag(_ name: String) -> String { name.replacing("-", with: "_") }

  /// The names that pipelines have for tags.
  static func names(of tags: Set<String>) -> [String] { names.filter { tags.contains(tag($0)) } }

  /// What cannot be written of a text; nil if all can.
  private static func flaw(in text: String, of name: String) -> SpoolError? {
    let (isRight, what, allowed) =
      switch name {
      case "date":
        (text.wholeMatch(of: /[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?/) != nil, "date", "2026-03-14, 2026")
      case "track", "disc":
        (text.wholeMatch(of: /[0-9]{1,4}(\/[0-9]{1,4})?/) != nil, "number", "3, 3/12")
      default: (!text.unicodeScalars.contains("\0"), "text", "text without the character 0")
      }
    guard !isRight, !text.isEmpty else { return nil }
    return SpoolError(
      "\(name) of metadata", reason: "\"\(text)\" is no \(what)", advice: allowed
    ).located(at: ["metadata", name])
  }

  /// What files of a format cannot hold of it, in one line for users; nil if they hold all.
  package func loss(in target: ExportTarget) -> String? {
    let names = Self.names.filter { texts[Self.tag($0)]?.isEmpty == false }
    let dropped = target.spec.droppedTags(
      of: Dictionary(uniqueKeysWithValues: names.map { (Self.tag($0), "") }))
    let lost =
      (cover != nil && target.format == .wav ? ["cover"] : [])
      + names.filter { dropped.contains(Self.tag($0)) }
    guard !lost.isEmpty else { return nil }
    return "the \(target.format) file has no place for \(lost.joined(separator: ", "))"
  }
}

internal import PipelineModel

/// The words that may stand in braces in a name template. A misspelt one would give every export
/// `unknown titel` for a name, and is refused instead.
enum NameField {
  /// What begins a field that only the sidecar may give.
  static let sidecarMark = "sidecar."
  /// What begins a field that only the recording's tags may give.
  static let tagMark = "tag."

  /// Fields that every recording has.
  static let own = ["stem", "folder", "title", "date"]
  /// Fields that sidecars give.
  private static let ofSidecars = [
    "noteid", "uuid", "createdat", "duration", "durationms", "watchmodel", "watchosversion",
    "phonemodel", "iosversion",
  ]
  /// Tags as libavformat names them in the containers that hold sound, and those of broadcast WAV.
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

  /// The field that was probably meant; nil where none is near.
  static func nearest(to name: String) -> String? {
    Problem.nearest(to: name, in: own) ?? Problem.nearest(to: name, in: ofTags + ofSidecars)
  }

  /// What may be written, for people.
  static var choice: String {
    own.map { "{\($0)}" }.joined(separator: ", ")
      + ", a sidecar's field or a tag such as {watchModel}, {artist} or {album}, and any other as "
      + "{sidecar.NAME} or {tag.NAME}"
  }
}

/// The user's settings file, `~/.config/spool/config.yaml`.
package struct SettingsDefinition: Hashable, Sendable {
  /// How long what only older runs need is kept, in seconds; infinite for ever.
  package var soundAge: Double = 30 * 86_400
  /// Bytes of artifacts that may stay; nil for no limit.
  package var size: Int?
  /// Whether a collection runs by itself.
  package var isAutomatic = true

  package init() {}
}

package typealias ParsedSettings = Parsed<SettingsDefinition>

extension Parsed where Definition == SettingsDefinition {
  /// O(n).
  package init(_ text: String) {
    self.init(YAMLDocument(text), empty: SettingsDefinition()) { $0.settings($1) }
  }
}

extension DocumentReader {
  private static let settingsKeys = Vocabulary(
    ["retention"], synonyms: ["retain": "retention", "gc": "retention", "keep": "retention"])
  private static let retentionKeys = Vocabulary(
    ["intermediate-sound", "words", "size", "auto"],
    synonyms: [
      "sound": "intermediate-sound", "age": "intermediate-sound", "transcripts": "words",
      "limit": "size", "automatic": "auto",
    ])

  fileprivate mutating func settings(_ root: DocumentNode) -> SettingsDefinition {
    var settings = SettingsDefinition()
    // A file of comments says nothing, and is no mistake.
    guard !root.isNull, let entries = rootEntries(root, of: "the file", Self.settingsKeys) else {
      return settings
    }
    for entry in entries {
      guard entry.key == "retention" else {
        reportUnknown(entry, among: Self.settingsKeys, of: "the settings")
        continue
      }
      let parts = self.entries(entry.value, of: entry.key, allowed: Self.retentionKeys.list) ?? []
      for part in parts { retention(part, &settings) }
    }
    return settings
  }

  private mutating func retention(
    _ entry: DocumentNode.Entry, _ settings: inout SettingsDefinition
  ) {
    switch entry.key {
    case "intermediate-sound":
      let allowed = "forever, or a time such as 12 h, 30 days or 4 weeks"
      settings.soundAge =
        value(entry.value, of: entry.key, allowed: allowed, words: ["forever"], Self.age)
        ?? settings.soundAge
    case "words":
      // They are small, and may have taken hours.
      _ = value(entry.value, of: entry.key, allowed: "forever", words: ["forever"]) {
        $0 == "forever" ? true : nil
      }
    case "size":
      let allowed = "unlimited, or a size such as 500 MB or 50 GB"
      let size: Int?? = value(
        entry.value, of: entry.key, allowed: allowed, words: ["unlimited"]
      ) { text -> Int?? in text == "unlimited" ? .some(nil) : Self.byteCount(text).map { .some($0) }
      }
      settings.size = size ?? settings.size
    case "auto": settings.isAutomatic = flag(entry.value, of: entry.key) ?? settings.isAutomatic
    default: reportUnknown(entry, among: Self.retentionKeys, of: "retention")
    }
  }

  private static func age(_ text: String) -> Double? {
    if text == "forever" { return .infinity }
    let units: [String: Double] = [
      "s": 1, "min": 60, "h": 3600, "hour": 3600, "hours": 3600, "d": 86_400, "day": 86_400,
      "days": 86_400, "w": 604_800, "week": 604_800, "weeks": 604_800,
    ]
    return quantity(text, units)
  }

  private static func byteCount(_ text: String) -> Int? {
    let units: [String: Double] = [
      "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 0x1p10, "mib": 0x1p20,
      "gib": 0x1p30, "tib": 0x1p40,
    ]
    return quantity(text.lowercased(), units).flatMap { Int(exactly: $0.rounded()) }
  }

  /// A number that is not negative with one of these units, in the base unit.
  private static func quantity(_ text: String, _ units: [String: Double]) -> Double? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }
    guard let number = Double(digits), let factor = units[String(unit)] else { return nil }
    return number * factor
  }
}

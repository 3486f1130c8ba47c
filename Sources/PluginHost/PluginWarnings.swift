/// What a plugin warned of: each distinct text once, and only so many of them.
struct PluginWarnings {
  private var kept: [String] = []
  private var known: Set<String> = []
  private var leftOut = 0

  /// Texts that are kept.
  private static let most = 20
  /// Characters of one.
  private static let longest = 500

  /// Takes another one. O(its length).
  mutating func add(_ text: String) {
    let text = text.count > Self.longest ? "\(text.prefix(Self.longest))…" : text
    guard !known.contains(text) else { return }
    guard kept.count < Self.most else {
      leftOut += 1
      return
    }
    known.insert(text)
    kept.append(text)
  }

  /// For people: those that were kept, and how many were not.
  var texts: [String] {
    guard leftOut > 0 else { return kept }
    return kept + ["\(leftOut) more \(leftOut == 1 ? "warning is" : "warnings are") left out"]
  }
}

import JSONText

/// A word's flags as files in JSON have them: a list of names, `flags`. Programs that know nothing of it
/// pass it over.
extension WordFlags {
  /// The flags of a word; none where it has no list of them. O(n).
  init(of word: JSONNode) {
    self.init(names: word.member("flags")?.value.list?.compactMap(\.text) ?? [])
  }

  /// The list of names; nil where no flag is set.
  var json: JSONValue? { isEmpty ? nil : .list(names.map(JSONValue.text)) }
}

/// A step into a piece of JSON.
enum JSONStep: Hashable, Sendable {
  /// To the member of an object; of several of one name, to the last.
  case name(String)
  /// To an item of a list, from 0.
  case index(Int)
}

extension [JSONStep] {
  /// The way for messages: `segments[2].start`.
  var shown: String {
    var text = ""
    for step in self {
      switch step {
      case .name(let name): text += (text.isEmpty ? "" : ".") + PrintableText.shown(name)
      case .index(let index): text += "[\(index)]"
      }
    }
    return text
  }
}

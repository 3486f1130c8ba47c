import JSONText

/// JSON for people and for tools that compare lines: every member of the outermost object on a line
/// of its own, and every item of its lists too.
enum JSONLayout {
  /// The text of an object's members, in the order given; those that are nil are left out. O(n).
  static func text(_ members: KeyValuePairs<String, JSONValue?>) -> String {
    let written = members.compactMap { name, value in
      value.map { "\(JSONString.quoted(name)): \(text(of: $0))" }
    }
    return "{\n  " + written.joined(separator: ",\n  ") + "\n}\n"
  }

  private static func text(of value: JSONValue) -> String {
    guard let items = value.list, !items.isEmpty else { return value.compact }
    return "[\n    " + items.map(\.compact).joined(separator: ",\n    ") + "\n  ]"
  }
}

/// A piece of JSON as it was written: numbers keep their digits, so that what is kept for others
/// loses nothing.
public indirect enum JSONValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean(Bool)
  /// A number's digits, as RFC 8259 allows them.
  case number(String)
  /// Text.
  case text(String)
  /// A list.
  case list([JSONValue])
  /// Names and values.
  case object([String: JSONValue])

  /// A whole number.
  public static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

  /// A finite number, in the digits of RFC 8785.
  public static func decimal(_ value: Double) -> JSONValue {
    .number(ECMAScriptNumber.text(of: value))
  }

  /// An object without the members that are nil.
  public static func object(leavingOut members: [String: JSONValue?]) -> JSONValue {
    .object(members.compactMapValues { $0 })
  }

  /// The member of an object; nil where there is none, or this is no object.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// The text; nil for anything else.
  public var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  /// The list; nil for anything else.
  public var list: [JSONValue]? {
    if case .list(let list) = self { list } else { nil }
  }

  /// The whole number; nil for anything else.
  public var integer: Int? {
    if case .number(let digits) = self { Int(digits) } else { nil }
  }

  /// The number, as near as a `Double` comes to it; nil for everything else.
  public var number: Double? {
    if case .number(let digits) = self { Double(digits) } else { nil }
  }
}

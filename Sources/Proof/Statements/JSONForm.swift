internal import Platform

/// The required form of untrusted JSON. The shipped JSON Schema is generated from it, so that both
/// agree.
indirect enum JSONForm: Sendable {
  struct Member: Sendable {
    let name: String
    let form: JSONForm
    var isRequired = true
    var note: String?
  }

  /// Exactly this text.
  case constant(String)
  /// One of these texts.
  case oneOf([String])
  /// Any text.
  case text(canBeEmpty: Bool)
  /// Base64.
  case base64
  /// A SHA-256: 64 lower-case hexadecimal digits.
  case hex
  /// A time in UTC with milliseconds, as ``UniversalTime`` writes it.
  case time
  case integer(least: Int)
  /// An object with exactly these members.
  case object([Member])
  /// An object with any names and members of one form.
  case map(JSONForm)
  /// Any object.
  case anything
  /// An array of elements of one form.
  case list(JSONForm, least: Int)

  /// A deviation from the form.
  struct Flaw: Hashable {
    /// The path of names and indices to it; empty for the value itself.
    var path: String
    let reason: String
  }

  /// The first deviation; nil if there is none. O(n).
  func flaw(in value: JSONValue) -> Flaw? {
    switch (self, value) {
    case (.constant(let wanted), .text(let text)):
      return wanted == text ? nil : Flaw(path: "", reason: "is not \(wanted)")
    case (.oneOf(let wanted), .text(let text)):
      return wanted.contains(text)
        ? nil : Flaw(path: "", reason: "is none of \(wanted.joined(separator: ", "))")
    case (.text(let canBeEmpty), .text(let text)):
      return canBeEmpty || !text.isEmpty ? nil : Flaw(path: "", reason: "is empty")
    case (.base64, .text): return nil
    case (.hex, .text(let text)):
      return Self.isHex(text) ? nil : Flaw(path: "", reason: "is no SHA-256")
    case (.time, .text(let text)):
      return Self.isTime(text) ? nil : Flaw(path: "", reason: "is no moment in UTC")
    case (.integer(let least), .number):
      return value.integer.map { $0 >= least } == true
        ? nil : Flaw(path: "", reason: "is no whole number from \(least) on")
    case (.object(let members), .object(let values)): return Self.flaw(of: members, in: values)
    case (.map(let form), .object(let values)):
      return values.sorted { $0.key < $1.key }.lazy.compactMap { name, value in
        form.flaw(in: value).map { Flaw(path: Self.join(name, $0.path), reason: $0.reason) }
      }.first
    case (.anything, .object): return nil
    case (.list(let form, let least), .list(let values)):
      if values.count < least { return Flaw(path: "", reason: "has too few entries") }
      return values.enumerated().lazy.compactMap { index, value in
        form.flaw(in: value).map {
          Flaw(path: Self.join("\(index + 1)", $0.path), reason: $0.reason)
        }
      }.first
    default: return Flaw(path: "", reason: "is of another kind than it has to be")
    }
  }

  private static func flaw(of members: [Member], in values: [String: JSONValue]) -> Flaw? {
    for member in members {
      guard let value = values[member.name] else {
        if member.isRequired { return Flaw(path: member.name, reason: "is missing") }
        continue
      }
      if let flaw = member.form.flaw(in: value) {
        return Flaw(path: join(member.name, flaw.path), reason: flaw.reason)
      }
    }
    let known = Set(members.map(\.name))
    return values.keys.sorted().first { !known.contains($0) }
      .map { Flaw(path: $0, reason: "is a member that no receipt has") }
  }

  private static func join(_ name: String, _ path: String) -> String {
    path.isEmpty ? name : "\(name).\(path)"
  }

  private static func isHex(_ text: String) -> Bool {
    text.utf8.count == 64
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
      }
  }

  private static func isTime(_ text: String) -> Bool {
    let pattern = "0000-00-00T00:00:00.000Z"
    return text.utf8.count == pattern.utf8.count
      && zip(text.utf8, pattern.utf8).allSatisfy { byte, wanted in
        wanted == UInt8(ascii: "0")
          ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == wanted
      }
  }
}

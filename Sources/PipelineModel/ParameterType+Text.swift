internal import JSONText

extension ParameterType {
  /// A resolved value as a user would type it: `-18 dB`, `[wav, m4a]`, `{ type: peak, gain: 3 dB }`.
  /// What does not fit the type, because another version of the stage kind wrote it, is shown as
  /// JSON.
  public func text(of value: Value) -> String {
    switch (self, value) {
    case (_, .null): "none"
    case (.number(let unit, _), .number(let number)): unit.format(number)
    case (.choice, .text(let text)), (.text, .text(let text)),
      (.fileName, .text(let text)), (.path, .text(let text)):
      ParameterType.scalar(text)
    case (.list(let element, _), .list(let values)):
      "[" + values.map { element.text(of: $0) }.joined(separator: ", ") + "]"
    case (.group(let members), .group(let values)): ParameterType.text(of: values, members)
    case (.named(let element, _), .group(let values)):
      "{ "
        + values.sorted { $0.key < $1.key }
        .map { "\(ParameterType.scalar($0.key)): \(element.text(of: $0.value))" }
        .joined(separator: ", ") + " }"
    default: value.canonicalJSON
    }
  }

  private static func text(
    of values: [String: Value], _ members: [ParameterDescriptor]
  ) -> String {
    let known = members.compactMap { member in
      values[member.name].flatMap { value in
        value == .null ? nil : "\(member.name): \(member.type.text(of: value))"
      }
    }
    let names = Set(members.map(\.name))
    let others = values.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
      .map { "\($0.key): \($0.value.canonicalJSON)" }
    return "{ " + (known + others).joined(separator: ", ") + " }"
  }

  /// A text that YAML reads as itself, in quotes where it has to be.
  private static func scalar(_ text: String) -> String {
    let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || "-_./".contains($0) }
    return isPlain && !text.isEmpty ? text : JSONString.quoted(text)
  }
}

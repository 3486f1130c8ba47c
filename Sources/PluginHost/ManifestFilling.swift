import PipelineModel

/// Puts something where a manifest says nothing, or nothing that can be understood, so that the rest
/// of it can be looked at as well: all problems are told at once.
struct ManifestFilling {
  private var count = 0

  /// A group in which nothing that is required is missing.
  mutating func fill(_ value: Value, as members: [ParameterDescriptor]) -> Value {
    guard case .group(var values) = value else { return value }
    for member in members {
      let given = values[member.name] ?? .null
      values[member.name] =
        given == .null && member.presence != .optional
        ? stopgap(for: member.type) : fill(given, as: member.type)
    }
    return .group(values)
  }

  private mutating func fill(_ value: Value, as type: ParameterType) -> Value {
    switch (value, type) {
    case (.group, .group(let members)): return fill(value, as: members)
    case (.list(let values), .list(let element, _)):
      var filled: [Value] = []
      for value in values {
        filled.append(value == .null ? stopgap(for: element) : fill(value, as: element))
      }
      return .list(filled)
    case (.text(let word), .choice(let words)):
      return words.contains(word) ? value : stopgap(for: type)
    default: return value
    }
  }

  /// Something valid; a name that nothing else has.
  private mutating func stopgap(for type: ParameterType) -> Value {
    switch type {
    case .number, .integer, .choice, .flag: return type.least ?? .text("")
    case .list: return .list([])
    case .named: return .group([:])
    case .group(let members): return fill(.group([:]), as: members)
    case .text, .fileName, .path:
      count += 1
      return .text("unnamed-\(count)")
    }
  }
}

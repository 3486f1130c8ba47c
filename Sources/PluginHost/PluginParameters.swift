public import JSONText
public import PipelineModel

extension PluginManifest.Kind {
  /// Resolved parameters as the program gets them: numbers in the units of the manifest.
  public func message(_ values: Value) -> JSONValue {
    guard case .group(let members) = values else { return .object([:]) }
    var result: [String: JSONValue] = [:]
    for parameter in parameters {
      result[parameter.name] = Self.json(members[parameter.name] ?? .null, parameter.type)
    }
    return .object(result)
  }

  /// The files that resolved parameters name, by parameter.
  public func files(_ values: Value) -> [String: String] {
    guard case .group(let members) = values else { return [:] }
    var files: [String: String] = [:]
    for parameter in parameters where parameter.type == .path {
      if case .text(let path)? = members[parameter.name] { files[parameter.name] = path }
    }
    return files
  }

  /// The parameters that stand as the manifest has them, as far as values tell.
  /// - Parameter values: resolved parameters.
  public func defaulted(_ values: Value) -> [String: String] {
    guard case .group(let members) = values else { return [:] }
    var texts: [String: String] = [:]
    for parameter in parameters {
      guard case .defaulted(let text) = parameter.presence,
        case .text(let value)? = members[parameter.name],
        value == text || parameter.type == .path && value.hasSuffix("/\(text)")
      else { continue }
      texts[parameter.name] = text
    }
    return texts
  }

  /// The programs that resolved parameters name, as they are called, by parameter. One that still has
  /// a placeholder in it is not known yet.
  public func programs(_ values: Value) -> [String: String] {
    guard case .group(let members) = values else { return [:] }
    var programs: [String: String] = [:]
    for name in commands {
      guard case .text(let line)? = members[name], let program = ShellWords.first(of: line),
        !program.isEmpty, !program.contains("{")
      else { continue }
      programs[name] = program
    }
    return programs
  }

  private static func json(_ value: Value, _ type: ParameterType) -> JSONValue {
    switch (value, type) {
    case (.number(let number), .number(let unit, _)):
      // 0.008 s are 8 ms, not 8.000000000000002.
      .decimal((number / unit.factor * 1e9).rounded() / 1e9)
    case (.number(let number), _): .decimal(number)
    case (.flag(let flag), _): .boolean(flag)
    case (.text(let text), _): .text(text)
    case (.list(let values), .list(let element, _)): .list(values.map { json($0, element) })
    default: .null
    }
  }
}

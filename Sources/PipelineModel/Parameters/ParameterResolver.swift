import Platform

/// Converts written parameters into values in base units, and collects every error.
package struct ParameterResolver {
  package private(set) var problems: [Problem] = []
  /// The owner of the parameters, for messages: `gate`.
  private let owner: String
  /// The base of relative paths; nil for the current folder.
  private let folder: String?
  /// The names of the pipeline's variables, which texts do not hold.
  private let variables: [String]
  /// The places of values that are unknown, which is no problem here.
  private let unknown: Set<SourceLocation>

  /// What may stand among the parameters besides them: the names of inputs.
  private let inputs: [String]

  /// - Parameters:
  ///   - folder: the base of relative paths; nil for the current folder.
  ///   - variables: the names of the pipeline's variables.
  ///   - inputs: what may stand among the parameters besides them, such as `from`.
  ///   - unknown: the places of values that are unknown, and reported elsewhere.
  package init(
    owner: String, folder: String? = nil, variables: [String] = [],
    inputs: [String] = [], unknown: Set<SourceLocation> = []
  ) {
    self.inputs = inputs
    self.owner = owner
    self.folder = folder
    self.variables = variables
    self.unknown = unknown
  }

  /// The values of a group: every declared member is present, `.null` if it was left out.
  /// `shorthand` names the member that a node other than a mapping stands for.
  package mutating func resolve(
    _ node: DocumentNode, as members: [ParameterDescriptor], shorthand: String? = nil,
    context: String? = nil
  ) -> Value {
    var given: [String: DocumentNode] = [:]
    let owner = context ?? self.owner
    let node = mapping(typed: node, of: members, shorthand: shorthand)
    switch node.content {
    case .mapping(let entries):
      for entry in entries {
        if members.contains(where: { $0.name == entry.key }) {
          given[entry.key] = entry.value
        } else {
          let inputs = context == nil ? inputs : []
          reportUnknown(entry, among: members.map(\.name) + inputs, of: owner)
        }
      }
    case _ where node.isNull: break
    default:
      if let shorthand {
        given[shorthand] = node
      } else {
        report(
          node, "\(owner) takes a mapping of parameters, not \(node.summary)",
          allowed: names(members))
      }
    }
    var values: [String: Value] = [:]
    for member in members {
      values[member.name] = resolve(given[member.name], member, owner: owner, at: node)
    }
    return .group(values)
  }

  private mutating func resolve(
    _ node: DocumentNode?, _ member: ParameterDescriptor, owner: String, at place: DocumentNode
  ) -> Value {
    if let node, unknown.contains(node.location) { return .null }
    if let node, !node.isNull {
      let name = "\(member.name) of \(owner)"
      switch member.type {
      case .text, .fileName, .path: refuseVariable(in: node, name)
      default: break
      }
      return resolve(node, as: member.type, name: name)
    }
    switch member.presence {
    case .required:
      report(place, "\(owner) needs \(member.name)", allowed: member.type.allowed)
      return .null
    case .optional:
      return .null
    case .defaulted(let text):
      if case .group(let members) = member.type {
        let empty = DocumentNode(.mapping([]), at: place.location)
        return resolve(empty, as: members, context: "\(member.name) of \(owner)")
      }
      let node = DocumentNode(.scalar(text, isQuoted: false), at: place.location)
      return resolve(node, as: member.type, name: "\(member.name) of \(owner)")
    }
  }

  mutating func resolve(_ node: DocumentNode, as type: ParameterType, name: String) -> Value {
    guard let node = self.node(typed: node, as: type, name: name) else { return .null }
    switch (type, node.content) {
    case (.number(let unit, let range), .scalar(let text, _)):
      return number(text, unit, range, name, node)
    case (.integer(let range), .scalar(let text, _)):
      guard let number = Int(text) else {
        report(node, "\(name) is a whole number, not \"\(text)\"", allowed: type.allowed)
        return .null
      }
      if !range.contains(number) {
        report(node, "\(name) is out of range at \(number)", allowed: type.allowed)
      }
      return .number(Double(number))
    case (.range(let element), .scalar(let text, let isQuoted)):
      return range(text, of: element, name, node, isQuoted: isQuoted)
    case (.choice(let words), .scalar(let text, _)):
      if !words.contains(text) {
        report(
          node, "\(name) cannot be \"\(text)\"", allowed: type.allowed,
          suggestion: Problem.nearest(to: text, in: words))
      }
      return .text(text)
    case (.flag, .scalar("true", isQuoted: false)): return .flag(true)
    case (.flag, .scalar("false", isQuoted: false)): return .flag(false)
    case (.text(let length), .scalar(let text, _)):
      if text.count > length {
        report(node, "\(name) is too long (\(text.count) characters)", allowed: type.allowed)
      }
      return .text(text)
    case (.command(let length), .scalar(let text, _)):
      return command(text, maximumLength: length, name, node)
    case (.fileName(let fields), .scalar(let text, _)):
      for flaw in FileNameRule(fields: fields).flaws(of: text) {
        report(
          node, "\(name) \(flaw.message)", allowed: flaw.allowed, suggestion: flaw.suggestion)
      }
      return .text(text)
    case (.path, .scalar(let text, _)):
      if text.isEmpty || text.utf8.contains(0) {
        report(node, "\(name) is no path", allowed: type.allowed)
      }
      return .text(placed(text))
    case (.list(let element, let count), .sequence(let nodes)):
      if !count.contains(nodes.count) {
        report(node, "\(name) has \(nodes.count) elements", allowed: type.allowed)
      }
      return .list(nodes.map { resolve($0, as: element, name: name) })
    case (.list(let element, _), .scalar), (.list(let element, _), .mapping),
      (.list(let element, _), .typed):
      return .list([resolve(node, as: element, name: name)])
    case (.group(let members), .mapping): return resolve(node, as: members, context: name)
    case (.named(let element, let limit), .mapping(let entries)):
      if entries.count > limit {
        report(node, "\(name) has \(entries.count) members", allowed: type.allowed)
      }
      var values: [String: Value] = [:]
      for entry in entries where !entry.value.isNull {
        values[entry.key] = resolve(entry.value, as: element, name: "\(entry.key) in \(name)")
      }
      return .group(values)
    default:
      report(node, "\(name) cannot be \(node.summary)", allowed: type.allowed)
      return .null
    }
  }

  /// The path from the base of relative paths.
  private func placed(_ path: String) -> String {
    guard let folder, !path.hasPrefix("/") else { return path }
    return folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
  }

  /// A program and its arguments. A program with a slash in it starts from the base of relative
  /// paths, as other files do: where it is called, another folder is the current one.
  private mutating func command(
    _ text: String, maximumLength: Int, _ name: String, _ node: DocumentNode
  ) -> Value {
    let allowed = ParameterType.command(maximumLength: maximumLength).allowed
    if text.count > maximumLength {
      report(node, "\(name) is too long (\(text.count) characters)", allowed: allowed)
    }
    guard let words = ShellWords.words(of: text) else {
      report(node, "\(name) does not close a quotation", allowed: allowed)
      return .text(text)
    }
    guard let program = words.first, !program.isEmpty else {
      report(node, "\(name) names no program", allowed: allowed)
      return .text(text)
    }
    // What stands in braces is a path of its own.
    guard folder != nil, program.contains("/"), !program.contains("{") else { return .text(text) }
    let path = placed(program.hasPrefix("./") ? String(program.dropFirst(2)) : program)
    return .text(path == program ? text : ShellWords.line(text, calling: path))
  }

  private mutating func number(
    _ text: String, _ unit: Unit, _ range: ClosedRange<Double>, _ name: String,
    _ node: DocumentNode
  ) -> Value {
    let type = ParameterType.number(unit, range)
    do {
      let value = try unit.parse(text)
      let limits = range.lowerBound * unit.factor...range.upperBound * unit.factor
      if !limits.contains(value) {
        report(node, "\(name) is out of range at \(unit.format(value))", allowed: type.allowed)
      }
      return .number(value)
    } catch {
      report(node, error, of: text, name, unit.alternatives, allowed: type.allowed)
      return .null
    }
  }

  /// Reports a text that is no number with one of these units.
  mutating func report(
    _ node: DocumentNode, _ failure: Unit.ParseFailure, of text: String, _ name: String,
    _ units: [String], allowed: String
  ) {
    switch failure {
    case .notANumber:
      report(node, "\(name) is a number, not \"\(text)\"", allowed: allowed)
    case .wrongUnit(let symbol) where symbol.first?.isLetter != true && symbol.first != "%":
      report(node, "\(name) is one number, not \"\(text)\"", allowed: allowed)
    case .wrongUnit(let symbol):
      let wanted = units.isEmpty ? "has no unit" : "takes \(units.joined(separator: ", "))"
      report(
        node, "\(name) \(wanted), not \"\(symbol)\"", allowed: allowed,
        suggestion: Problem.nearest(to: symbol, in: units))
    }
  }

  /// Reports a variable in a text, which would stay as it is written.
  private mutating func refuseVariable(in node: DocumentNode, _ name: String) {
    guard case .scalar(let text, _) = node.content else { return }
    let words = text.split(separator: "$", omittingEmptySubsequences: false).dropFirst()
      .map { String($0.prefix { NameRule.step.allows("a\($0)") }) }
    guard let variable = words.first(where: variables.contains) else { return }
    report(
      node, "\(name) has the variable $\(variable) in a text, where it is not replaced",
      allowed: "$\(variable) alone, without quotes")
  }

  private mutating func reportUnknown(
    _ entry: DocumentNode.Entry, among names: [String], of owner: String
  ) {
    problems.append(
      Problem(
        at: entry.location, "\"\(entry.key)\" is not a parameter of \(owner)",
        allowed: names.isEmpty ? "no parameters" : names.joined(separator: ", "),
        suggestion: Problem.nearest(to: entry.key, in: names)))
  }

  mutating func report(
    _ node: DocumentNode, _ message: String, allowed: String? = nil, suggestion: String? = nil
  ) {
    if unknown.contains(node.location) { return }
    problems.append(
      Problem(at: node.location, message, allowed: allowed, suggestion: suggestion))
  }

  private func names(_ members: [ParameterDescriptor]) -> String? {
    members.isEmpty ? nil : members.map(\.name).joined(separator: ", ")
  }
}

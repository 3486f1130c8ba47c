internal import PipelineModel

/// Everything wrong that was found so far, and the readings of simple values that may add to it.
struct Findings {
  /// What was found, in the order found.
  private(set) var problems: [Problem] = []

  /// Adds a problem.
  mutating func report(
    _ location: SourceLocation, _ message: String, allowed: String? = nil,
    suggestion: String? = nil
  ) {
    problems.append(Problem(at: location, message, allowed: allowed, suggestion: suggestion))
  }

  /// The value of `key` as text; nil, and a problem, where it is something else.
  mutating func text(
    _ node: DocumentNode, of key: String, allowed: String = "text"
  ) -> String? {
    if case .scalar(let text, _) = node.content, !node.isNull { return text }
    report(
      node.location, node.isNull ? "\(key) has no value" : "\(key) is \(node.summary)",
      allowed: allowed)
    return nil
  }

  /// The entries of a mapping; none where it is empty, nil and a problem where it is none.
  mutating func entries(
    _ node: DocumentNode, of key: String, allowed: String
  ) -> [DocumentNode.Entry]? {
    if case .mapping(let entries) = node.content { return entries }
    if node.isNull { return [] }
    report(node.location, "\(key) is \(node.summary)", allowed: "a mapping: \(allowed)")
    return nil
  }

  /// The value of `key` as a name. One that breaks the rule is reported, and still given.
  mutating func name(_ node: DocumentNode, of key: String, rule: NameRule) -> String? {
    guard let name = text(node, of: key, allowed: rule.allowed) else { return nil }
    checkName(name, at: node.location, what: "a value of \(key)", rule: rule)
    return name
  }

  /// Reports a name that breaks its rule.
  mutating func checkName(
    _ name: String, at location: SourceLocation, what: String, rule: NameRule
  ) {
    guard !rule.allows(name) else { return }
    report(location, "\"\(name)\" cannot be \(what)", allowed: rule.allowed)
  }

  /// The value of `key` as YAML 1.2's boolean; nil, and a problem, where it is something else.
  mutating func flag(_ node: DocumentNode, of key: String) -> Bool? {
    let allowed = "true, false"
    if case .scalar(let text, isQuoted: false) = node.content {
      if ["true", "True", "TRUE"].contains(text) { return true }
      if ["false", "False", "FALSE"].contains(text) { return false }
    }
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    // What YAML 1.1 took for booleans.
    let meant = ["yes": "true", "on": "true", "no": "false", "off": "false"][text.lowercased()]
    report(
      node.location, "\(key) is \"\(text)\"", allowed: allowed,
      suggestion: meant ?? Problem.nearest(to: text, in: ["true", "false"]))
    return nil
  }

  /// The value of `key` as a whole number; nil, and a problem, where it is something else.
  mutating func integer(
    _ node: DocumentNode, of key: String, within range: ClosedRange<Int>
  ) -> Int? {
    let allowed = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    report(node.location, "\(key) is \"\(text)\"", allowed: allowed)
    return nil
  }

  /// The value of `key` as a share from 0 % to 100 %, whole percents.
  mutating func percent(_ node: DocumentNode, of key: String) -> Int? {
    let allowed = "a share from 0 % to 100 %, such as 10 %"
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    let digits = text.prefix { $0.isNumber }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }
    if let percent = Int(digits), unit.isEmpty || unit == "%", (0...100).contains(percent) {
      return percent
    }
    report(node.location, "\(key) is \"\(text)\"", allowed: allowed)
    return nil
  }

  /// The value of `key` in seconds; nil, and a problem, where it is no time above zero.
  mutating func duration(_ node: DocumentNode, of key: String) -> Double? {
    let allowed = "a time above zero, such as 90 s, 10 min or 1.5 h"
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    if let seconds = try? Unit.seconds.parse(text), seconds > 0 { return seconds }
    report(node.location, "\(key) is \"\(text)\"", allowed: allowed)
    return nil
  }
}

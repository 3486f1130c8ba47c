internal import PipelineModel

/// Reads one entry of `vars`: `target: -16 LUFS`, or a mapping with `value`, `summary` and
/// `overridable`.
struct VariableReader {
  /// Everything wrong so far.
  private(set) var findings: Findings

  private static let keys = Vocabulary(
    ["value", "summary", "overridable"], synonyms: ["default": "value", "description": "summary"])

  /// Starts with what was found before.
  init(findings: Findings) { self.findings = findings }

  /// The variable; nil where it has no value, which is a problem.
  mutating func read(_ entry: DocumentNode.Entry) -> VariableDefinition? {
    let name = entry.key
    findings.checkName(name, at: entry.location, what: "a variable's name", rule: .step)
    var value: DocumentNode? = entry.value
    var summary: String?
    var isOverridable = false
    if case .mapping(let members) = entry.value.content, isDescribed(members) {
      value = nil
      for member in members {
        switch member.key {
        case "value": value = member.value
        case "summary": summary = findings.text(member.value, of: "summary")
        case "overridable":
          isOverridable = findings.flag(member.value, of: "overridable") ?? false
        default:
          findings.report(
            member.location, "\"\(member.key)\" is not a part of a variable",
            allowed: Self.keys.list, suggestion: Self.keys.nearest(to: member.key))
        }
      }
    }
    guard let value, !value.isNull else {
      findings.report(
        value?.location ?? entry.location, "the variable \"\(name)\" has no value",
        allowed: "text, a number with its unit, a list or a mapping")
      return nil
    }
    return VariableDefinition(
      name: name, value: value, summary: summary, isOverridable: isOverridable)
  }

  /// Whether a mapping describes a variable rather than being its value.
  private func isDescribed(_ members: [DocumentNode.Entry]) -> Bool {
    let keys = members.map(\.key)
    return keys.contains("value")
      || !keys.isEmpty && keys.allSatisfy { ["summary", "overridable"].contains($0) }
  }
}

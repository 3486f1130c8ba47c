import PipelineModel

/// Makes a parameter of what a manifest says of it, and finds what contradicts itself.
struct ManifestParameterReader {
  /// What was wrong before, and what this finds.
  private(set) var findings: ManifestFindings

  private let draft: ManifestDraft.Parameter
  private let place: ManifestPlace

  init(
    _ draft: ManifestDraft.Parameter, at place: ManifestPlace, _ findings: ManifestFindings
  ) {
    self.draft = draft
    self.place = place
    self.findings = findings
  }

  /// The parameter; nil where what it takes cannot be made out.
  mutating func parameter() -> ParameterDescriptor? {
    checkName()
    guard let type = type() else { return nil }
    let presence: ParameterDescriptor.Presence =
      draft.required ? .required : draft.default.map { .defaulted($0) } ?? .optional
    // Of a file the contents count, which the stage adds to the key, and not where it lies.
    let descriptor = ParameterDescriptor(
      draft.name, type, presence, draft.help, isInKey: type != .path)
    if draft.required, draft.default != nil {
      findings.report(
        place["default"], "what is required has no default", becauseOf: [place["required"]])
    } else if draft.default != nil {
      var resolver = ParameterResolver(owner: "the default")
      _ = resolver.resolve(
        DocumentNode(.mapping([]), at: place["default"].location), as: [descriptor])
      let form = [
        "range", "choices", "text", "command", "unit", "whole", "flag", "path", "default",
      ]
      if form.allSatisfy({ !place[$0].isThere || findings.isClear(place[$0]) }) {
        findings.report(resolver.problems)
      }
    }
    return descriptor
  }

  private mutating func checkName() {
    findings.checkName(draft.name, "a parameter", place["name"])
    if StepDefinition.reservedKeys.contains(draft.name) {
      findings.report(
        place["name"], "a parameter cannot be called \"\(draft.name)\"",
        allowed: "another word: each step of a pipeline has a key \(draft.name) already")
    }
  }

  /// Exactly one form is wanted; none means a number.
  private mutating func type() -> ParameterType? {
    let forms = [
      draft.choices != nil, draft.flag, draft.text != nil, draft.path, draft.command != nil,
    ]
    guard forms.count(where: { $0 }) <= 1, !forms.contains(true) || draft.range == nil else {
      findings.report(
        place["name"], "\"\(draft.name)\" has two forms",
        allowed: "range, choices, flag, text, command or path")
      return nil
    }
    if let choices = draft.choices { return .choice(checked(choices)) }
    if draft.flag { return .flag }
    if let length = draft.text ?? draft.command { return .text(maximumLength: length) }
    if draft.path { return .path }
    let unit = Unit(named: draft.unit)
    if unit == nil {
      findings.report(
        place["unit"], "there is no unit \"\(draft.unit)\"",
        allowed: Unit.declarable.map(\.symbol).filter { !$0.isEmpty }.joined(separator: ", "))
    }
    guard let range = range(), let unit else { return nil }
    return draft.whole
      ? .integer(Int(range.lowerBound)...Int(range.upperBound)) : .number(unit, range)
  }

  private mutating func range() -> ClosedRange<Double>? {
    guard let range = draft.range, range.count == 2 else {
      findings.report(
        place["name"], "the number \"\(draft.name)\" has no range",
        allowed: "range: [least, most], in its unit",
        becauseOf: ["range", "choices", "flag", "text", "command", "path"].map { place[$0] }
          .filter(\.isThere))
      return nil
    }
    guard range[0] <= range[1] else {
      let (least, most) = (Unit.number.format(range[1]), Unit.number.format(range[0]))
      findings.report(
        place["range"], "the range of \"\(draft.name)\" begins above its end",
        allowed: "[\(least), \(most)]")
      return nil
    }
    if draft.whole, range.contains(where: { $0 != $0.rounded() }) {
      findings.report(
        place["range"], "\"\(draft.name)\" is a whole number, and its range is not of those",
        allowed: "whole numbers")
    }
    return range[0]...range[1]
  }

  private mutating func checked(_ choices: [String]) -> [String] {
    for (index, choice) in choices.enumerated() where choices[..<index].contains(choice) {
      findings.report(place["choices"][index], "the choice \"\(choice)\" is there twice")
    }
    return choices
  }
}

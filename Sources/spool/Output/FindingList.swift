import Store

/// What an inspection found, for people: damage first; of many findings of one kind, a few and how
/// many more.
struct FindingList {
  private static let shownCount = 5
  private let findings: [InspectionFinding]

  init(_ findings: [InspectionFinding]) { self.findings = findings }

  var lines: [String] {
    var lines: [String] = []
    for isDamage in [true, false] {
      for kind in InspectionFinding.Kind.allCases {
        let some = findings.filter { $0.kind == kind && $0.isDamage == isDamage }
        if let line = Self.folded(kind, some) {
          lines.append(line)
          continue
        }
        for finding in some.prefix(Self.shownCount) { lines += Self.lines(finding) }
        if some.count > Self.shownCount {
          lines.append("  … and \(some.count - Self.shownCount) more like this")
        }
      }
    }
    return lines
  }

  /// What users do with their exports, in one line: it must not bury what is damaged.
  private static func folded(
    _ kind: InspectionFinding.Kind, _ some: [InspectionFinding]
  ) -> String? {
    guard let first = some.first else { return nil }
    let example = Format.visible(first.path)
    let which = some.count == 1 ? example : "such as \(example)"
    switch kind {
    case .exportMissing:
      return "remark:  \(Count.of(some.count, "export")) moved or deleted since, \(which)"
    case .exportChanged:
      return "remark:  \(Count.of(some.count, "export")) changed since, \(which)"
    default: return nil
    }
  }

  private static func lines(_ finding: InspectionFinding) -> [String] {
    let label = finding.isDamage ? "damaged:" : "remark: "
    var lines = [
      "\(label) \(Format.visible(finding.path))", "  why:   \(Format.visible(finding.problem))",
      "  means: \(Format.visible(finding.meaning))",
    ]
    if let advice = finding.advice { lines.append("  next:  \(advice)") }
    return lines
  }
}

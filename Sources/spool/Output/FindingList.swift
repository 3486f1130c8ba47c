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
        for finding in some.prefix(Self.shownCount) { lines += Self.lines(finding) }
        if some.count > Self.shownCount {
          lines.append("  … and \(some.count - Self.shownCount) more like this")
        }
      }
    }
    return lines
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

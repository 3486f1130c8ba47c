import PipelineEngine
import PipelineModel
import Platform
import Store

/// An error in three parts: message, reason, advice.
struct ErrorText {
  private let what: String
  private let error: SpoolError

  init(_ error: SpoolError) {
    what = error.message
    self.error = error
  }

  init(_ failure: RunError) {
    var place = ""
    if let step = failure.step {
      place = failure.kind == step.name ? "\(step): " : "\(step) (\(failure.kind ?? "")): "
      // Avoids repeating the stage's name.
      let words = failure.error.message
      if failure.kind == step.name, words.hasPrefix("\(step) ") || words.hasPrefix("\(step)'") {
        place = ""
      }
    }
    what =
      place + failure.error.message
      + (failure.recording.map { failure.error.message.contains($0) ? "" : " — \($0)" } ?? "")
    error = failure.error
  }

  func render(_ console: Console) -> String {
    var lines = [console.red("error:") + " " + console.bold(Format.visible(what))]
    if let reason = error.reason { lines.append("why:   \(Format.visible(reason))") }
    if let advice = error.advice { lines.append("next:  \(Format.visible(advice))") }
    return lines.joined(separator: "\n")
  }
}

/// Inspection findings as text: damage first; frequent kinds are abbreviated.
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

  /// Changes by the user to exports, in one line, so that they do not bury damage.
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

extension Problem {
  /// The problem as `--json` shows it.
  /// - Parameter path: its file.
  func value(in path: String) -> Value {
    .group([
      "file": .text(path),
      "line": location.map { .number(Double($0.line)) } ?? .null,
      "column": location.map { .number(Double($0.column)) } ?? .null,
      "message": .text(message),
      "allowed": allowed.map { .text($0) } ?? .null,
      "suggestion": suggestion.map { .text($0) } ?? .null,
    ])
  }
}

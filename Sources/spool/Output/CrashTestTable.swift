import CrashTest

/// What a crash test found, as a table.
struct CrashTestTable {
  private let result: KillTestResult

  init(_ result: KillTestResult) { self.result = result }

  /// The table, with an empty line before it and the verdict behind it.
  var text: String {
    var rows = [
      ("kills", "\(result.kills)"),
      ("resumes", "\(result.resumes) starts went on inside a pass"),
      ("series", "\(result.series)"),
      ("identical outputs", "\(result.identicalOutputs) of \(result.outputs)"),
      ("looks at the folder", "\(result.checks)"),
    ]
    if let operations = result.operations { rows.append(("store operations", "\(operations)")) }
    rows.append(("sound lost", spread(result.soundLost, "of sound")))
    rows.append(("work lost", spread(result.workLost, "of time")))
    if let stated = result.statedLost {
      rows.append(("  as the run says", spread(stated, "of time")))
    }
    rows.append(("start to going on", spread(result.latency, "")))
    let lines = rows.map { Format.pad($0, 22) + $1 }
    return ([""] + lines + ["", verdict]).joined(separator: "\n")
  }

  private var verdict: String {
    let kept = result.keptFolder.map { "\nkept: \($0)" } ?? ""
    let time = Format.duration(result.seconds)
    if !result.differences.isEmpty { return "NOT identical: see above\(kept)" }
    if result.isStopped { return "stopped after \(time); identical so far\(kept)" }
    return "all identical, in \(time)\(kept)"
  }

  private func spread(_ spread: KillTestResult.Spread?, _ unit: String) -> String {
    guard let spread else { return "–" }
    let words = "worst \(Format.duration(spread.worst)), median \(Format.duration(spread.median))"
    return unit.isEmpty ? words : "\(words) \(unit)"
  }
}

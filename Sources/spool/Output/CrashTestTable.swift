import CrashTest

/// What a crash test found, as a table.
struct CrashTestTable {
  private let result: KillTestResult

  init(_ result: KillTestResult) { self.result = result }

  /// The table, with an empty line before it and the verdict behind it.
  var text: String {
    var rows = [
      ("kills", "\(result.kills)"),
      ("resumes", resumes),
      ("series", "\(result.series)"),
      ("identical outputs", "\(result.identicalOutputs) of \(result.outputs)"),
      ("looks at the folder", "\(result.checks)"),
    ]
    if let operations = result.operations { rows.append(("store operations", "\(operations)")) }
    rows.append(("loss of time", spread(result.bound, "by this test's clock")))
    rows.append(("  in the runs' words", spread(result.statedLost, "")))
    rows.append(("loss of sound", spread(result.soundRepeated, "of the recording, done again")))
    rows.append(("processor time a kill", spread(result.repeatedWork, "more than undisturbed")))
    rows.append(("start to going on", spread(result.latency, "")))
    let lines = rows.map { Format.pad($0, 22) + $1 }
    return ([""] + lines + [""] + remark + [verdict]).joined(separator: "\n")
  }

  private var resumes: String {
    switch result.resumes {
    case 0: "no start went on inside a pass"
    case 1: "1 start went on inside a pass"
    default: "\(result.resumes) starts went on inside a pass"
    }
  }

  /// The shortest undisturbed run, in seconds, in which a kill at random mostly finds notes: one is
  /// made every half second, and starting takes part of the time.
  private static let telling = 5.0

  /// Says why no start could go on inside a pass, and which recording would show it.
  private var remark: [String] {
    guard result.kills > 0, result.resumes == 0, let seconds = result.undisturbedSeconds,
      seconds < Self.telling
    else { return [] }
    var lines = [
      "A pass is noted every half second; at \(Format.duration(seconds)) in all, the recording is "
        + "too short for that."
    ]
    if let media = result.mediaSeconds {
      let minutes = (media * Self.telling / seconds / 60).rounded(.up)
      lines.append("One of about \(Format.decimal(minutes, places: 0)) min would show it.")
    }
    return lines + [""]
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
    return unit.isEmpty ? words : "\(words), \(unit)"
  }
}

import CrashTest

/// Shows a crash test as it goes on, as lines for people or as JSON.
struct CrashTestRecorder {
  /// One line for so many kills is enough, where every kill has a series of its own.
  private static let killsPerLine = 10

  private let plan: KillPlan
  private let isJSON: Bool
  private let console: Console

  init(_ plan: KillPlan, isJSON: Bool, _ console: Console) {
    self.plan = plan
    self.isJSON = isJSON
    self.console = console
  }

  /// Takes note of an event.
  func record(_ event: KillTestEvent) {
    if isJSON {
      console.print(JSONText.of(CrashTestLine(event)))
    } else if let text = text(event) {
      console.print(text)
    }
  }

  /// Says what came of it.
  func conclude(_ result: KillTestResult) {
    if isJSON {
      console.print(JSONText.of(CrashTestLine(result)))
    } else {
      console.print(CrashTestTable(result).text)
    }
  }

  private func text(_ event: KillTestEvent) -> String? {
    switch event {
    case .reference(let files, let seconds):
      let list = files.map { "  \($0.sha256.prefix(16))…  \(Format.visible($0.name))" }
      return (["undisturbed: \(Format.duration(seconds))"] + list + ["", intent])
        .joined(separator: "\n")
    case .killed(let number, _, _, let operation?):
      guard number % Self.killsPerLine == 0 else { return nil }
      return "  killed \(Count.of(number, "time")), at last before operation \(operation)"
    case .seriesEnded(let number, let kills, let differenceCount):
      guard case .atRandom = plan else { return nil }
      let verdict = differenceCount == 0 ? "identical" : Count.of(differenceCount, "problem")
      let count = Format.pad(Format.padLeft("\(kills)", 3) + (kills == 1 ? " kill" : " kills"), 12)
      return "  series \(Format.padLeft(String(number), 3))\(count)\(verdict)"
    case .differs(let difference):
      let reference = difference.referencePath.map { "\n    reference: \($0)" } ?? ""
      return """
          WRONG after \(difference.after): \(difference.words)
            \(difference.path)\(reference)
        """
    case .killed, .wentOn: return nil
    }
  }

  private var intent: String {
    switch plan {
    case .atRandom(let kills, let seed): "\(Count.of(kills, "kill")) at random, --seed \(seed)"
    case .beforeOperations(1): "one kill before every operation that changes the store"
    case .beforeOperations(let stride):
      "one kill before every \(Count.ordinal(stride)) operation that changes the store"
    }
  }
}

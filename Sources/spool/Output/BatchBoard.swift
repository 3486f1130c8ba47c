import Batch

/// What a batch looks like at a moment: a line for each file under way, and one for all of them. A
/// pure value.
struct BatchBoard {
  /// When the board was last drawn, and how many lines that took.
  var drawnAt = 0.0
  var drawnLineCount = 0
  private var forecast = BatchForecast.nothing
  private var running: [(path: String, share: Double, fraction: Double)] = []
  /// The share of the whole work that is done, in files that are ended.
  private var endedShare = 0.0
  private var doneCount = 0
  private var failedCount = 0
  private var beganAt = 0.0

  /// Takes note of an event.
  mutating func take(_ event: BatchEvent, now: Double) {
    switch event {
    case .planned(let forecast):
      self.forecast = forecast
      beganAt = now
    case .started(let path, let share): running.append((path, share, 0))
    case .progress(let path, let fraction):
      if let index = running.firstIndex(where: { $0.path == path }) {
        running[index].fraction = fraction
      }
    case .finished(let result):
      guard let index = running.firstIndex(where: { $0.path == result.path }) else { return }
      endedShare += running.remove(at: index).share
      if [.done, .reused].contains(result.outcome) { doneCount += 1 }
      if result.outcome == .failed { failedCount += 1 }
    case .listening, .settled, .warning, .ended: break
    }
  }

  /// How much of the work is done, from 0 to 1: a file counts as what it is likely to cost.
  private var fraction: Double {
    guard forecast.pendingCount > 0 else { return 1 }
    return min(running.reduce(endedShare) { $0 + $1.share * $1.fraction }, 1)
  }

  /// One line for each file under way, then one for all.
  func lines(now: Double, width: Int) -> [String] {
    let name = max(12, width - 22)
    var lines = running.map { file in
      "  \(Format.pad(Self.shortened(file.path, to: name), name))  "
        + Format.bar(file.fraction, width: 8) + Format.padLeft("\(Int(file.fraction * 100)) %", 6)
    }
    var total =
      Format.bar(fraction, width: 20) + Format.padLeft("\(Int(fraction * 100)) %", 6)
      + "  \(doneCount + failedCount) of \(forecast.pendingCount)"
    if failedCount > 0 { total += ", \(failedCount) failed" }
    let wall = now - beganAt
    if fraction > 0.01, fraction < 1, wall > 1 {
      total += ", \(Format.duration(wall * (1 - fraction) / fraction)) left"
    }
    lines.append(total)
    return lines
  }

  /// The end of a path says more than its beginning.
  private static func shortened(_ path: String, to width: Int) -> String {
    let path = Format.visible(path)
    return path.count <= width ? path : "…" + path.suffix(width - 1)
  }

  /// How many files have been ended, as a plain line counts them.
  var position: String { "[\(doneCount + failedCount)/\(forecast.pendingCount)]" }
}

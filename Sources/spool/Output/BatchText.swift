import Batch
import PipelineEngine
import PipelineModel

/// What is said of a batch at its beginning and its end.
enum BatchText {
  /// `12 files, 3.4 h: 8 to do, 4 reused · needs 1.2 GB of 80 GB free · about 3 min`.
  static func plan(_ forecast: BatchForecast) -> String {
    let count =
      forecast.pendingCount + forecast.reusedCount + forecast.troubleCount + forecast.leftOutCount
    let about = forecast.isSampled ? "about " : ""
    var parts = ["\(count) \(count == 1 ? "file" : "files")"]
    if forecast.mediaSeconds > 0 {
      parts[0] += ", \(about)\(Format.duration(forecast.mediaSeconds)) of sound"
    }
    var shares = ["\(forecast.pendingCount) to do", "\(forecast.reusedCount) reused"]
    if forecast.leftOutCount > 0 { shares.append("\(forecast.leftOutCount) left out") }
    if forecast.troubleCount > 0 { shares.append("\(forecast.troubleCount) cannot be taken") }
    parts[0] += ": " + shares.joined(separator: ", ")
    if forecast.pendingCount > 0 {
      parts.append(need(forecast))
      if forecast.seconds > 0 { parts.append("about \(Format.duration(forecast.seconds))") }
      parts.append("\(forecast.workerCount) at once")
    }
    return parts.joined(separator: " · ")
  }

  /// `left out: 12 no recordings, 3 links, 1 hidden`; nil where nothing was.
  static func skipped(_ skipped: SkippedFiles) -> String? {
    let parts = SkippedFiles.Reason.allCases.compactMap { reason -> String? in
      guard let count = skipped.counts[reason], count > 0 else { return nil }
      switch reason {
      case .noRecording: return count == 1 ? "1 that is no recording" : "\(count) no recordings"
      case .link: return count == 1 ? "1 link" : "\(count) links"
      case .special:
        return count == 1 ? "1 pipe, socket or device" : "\(count) pipes, sockets or devices"
      case .hidden: return "\(count) hidden"
      case .excluded: return "\(count) by --exclude"
      }
    }
    return parts.isEmpty ? nil : "left out: " + parts.joined(separator: ", ")
  }

  /// `renamed: 2, for the exports of other files have their names`; nil where none are.
  static func renamed(_ count: Int) -> String? {
    guard count > 0 else { return nil }
    return "renamed: \(count), for the exports of other files have "
      + (count == 1 ? "its name" : "their names")
  }

  /// `listening to all files for normalize`, and from the second time on which time it is.
  static func listening(_ step: StepID, round: Int) -> String {
    "listening to all files for \(step)" + (round > 1 ? ", round \(round)" : "")
  }

  /// `normalize: album-gain 4.2 dB for all files`.
  static func settled(_ step: StepID, _ figures: [String: String]) -> String {
    guard !figures.isEmpty else { return "\(step): every file stands for itself" }
    let words = figures.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return "\(step): \(words.joined(separator: ", ")) for all files"
  }

  private static func need(_ forecast: BatchForecast) -> String {
    // Of what cannot be opened, and of what is in the store already, nothing is known.
    if forecast.neededByteCount == 0 {
      return "\(ByteCount(forecast.outputFreeByteCount)) free"
    }
    if forecast.sharesDisk {
      return "needs about \(ByteCount(forecast.neededByteCount)) of "
        + "\(ByteCount(forecast.storeFreeByteCount)) free"
    }
    return "needs about \(ByteCount(forecast.storeByteCount)) of "
      + "\(ByteCount(forecast.storeFreeByteCount)) free in the store and "
      + "\(ByteCount(forecast.publishedByteCount)) of "
      + "\(ByteCount(forecast.outputFreeByteCount)) for the exports"
  }

  /// The last lines: what became of the files, and one line for each that failed.
  static func summary(_ summary: BatchSummary, isQuiet: Bool) -> [String] {
    var lines = summary.failed.map(failure)
    guard !isQuiet else { return lines }
    if !lines.isEmpty { lines = ["", "failed"] + lines }
    var counts = ["\(summary.doneCount) done"]
    if summary.reusedCount > 0 { counts.append("\(summary.reusedCount) reused") }
    if !summary.failed.isEmpty { counts.append("\(summary.failed.count) failed") }
    if summary.interruptedCount > 0 { counts.append("\(summary.interruptedCount) not done yet") }
    var last = counts.joined(separator: ", ") + ", in \(Format.duration(summary.seconds))"
    if summary.mediaSeconds > 0 {
      last += ", \(Format.speed(media: summary.mediaSeconds, wall: summary.seconds))"
    }
    lines += ["", last]
    lines += [skipped(summary.skipped), renamed(summary.renamedCount)].compactMap { $0 }
    if let path = summary.reportPath { lines.append("details in \(Format.visible(path))") }
    return lines
  }

  /// File, what, why, what next.
  static func failure(_ result: BatchFileResult) -> String {
    var text = result.path + ": "
    if let failure = result.failure {
      let what = failure.step.map { "\($0): " } ?? ""
      text += what + failure.message
      if let reason = failure.reason { text += " — \(reason)" }
      if let advice = failure.advice { text += " — next: \(advice)" }
    }
    return "  " + Format.visible(text)
  }
}

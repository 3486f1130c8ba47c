import Intake
import PipelineEngine
import PipelineModel
import Platform
import Synchronization

/// Shows a batch as text: on a terminal a few live lines, elsewhere a plain line for each finished
/// file.
final class BatchTerminalRecorder: BatchRecorder {
  private let order: BatchOrder
  private let isQuiet: Bool
  private let console: Console
  private let clock: SystemClock
  private let state: Mutex<State>

  private struct State {
    var board = BatchBoard()
    var lines: LiveLines
    var words = WordTally()
    var warnings = WarningTally()
    /// How many recordings have nothing in their files that tells where they were to end.
    var untoldCount = 0
  }

  init(_ order: BatchOrder, isQuiet: Bool, clock: SystemClock, console: Console) {
    self.order = order
    self.isQuiet = isQuiet
    self.clock = clock
    self.console = console
    state = Mutex(State(lines: LiveLines(console, interval: 0.2)))
  }

  func record(_ event: BatchEvent) {
    let now = clock.elapsed
    state.withLock { state in
      state.board.take(event, now: now)
      switch event {
      case .listening(let step, let round, let done, let count):
        guard !isQuiet else { return }
        if console.isTerminal {
          let line = "\(BatchText.listening(step, round: round))  \(done) of \(count)"
          state.lines.draw([line], now: 0)
        } else if done == 0 {
          console.print(BatchText.listening(step, round: round))
        }
        return
      case .hashing(let path, let done, let total):
        guard !isQuiet, state.lines.isDue(now) else { return }
        let lines = state.board.lines(now: now, width: console.width)
        let line = "  " + Format.hashing(path, done, of: total)
        return state.lines.draw(lines + [line], now: now)
      case .settled(let step, let figures):
        state.lines.erase()
        if !isQuiet { console.print(BatchText.settled(step, figures)) }
        return
      case .planned(let forecast):
        guard !isQuiet else { return }
        console.print("\(console.bold(order.definition.name))  \(Format.visible(order.folder))")
        console.print(BatchText.plan(forecast))
        BatchText.skipped(forecast.skipped).map(console.print)
        BatchText.renamed(forecast.renamed).forEach(console.print)
        for folder in forecast.exportFolders {
          console.print("left out, for it holds exports: \(Format.visible(folder))")
        }
      case .warning(let path, let step, let text):
        guard let line = state.warnings.add("\(step): \(text)", of: path) else { return }
        state.lines.erase()
        console.report("warning: \(Format.visible(line))")
      case .finished(let result): finished(result, &state)
      case .ended(let summary):
        state.lines.erase()
        for line in state.warnings.repeated {
          console.report("warning: \(Format.visible(line))")
        }
        if !isQuiet, let line = state.words.line {
          console.print("\n\(Format.visible(line))")
        }
        if !isQuiet, state.untoldCount > 0 {
          console.print(
            "\nnothing in \(Count.of(state.untoldCount, "file")) tells where it was to end")
        }
        let lines = BatchText.summary(summary, isQuiet: isQuiet)
        if isQuiet { lines.forEach(console.report) } else { lines.forEach(console.print) }
        return
      case .started, .progress: break
      }
      guard !isQuiet, state.lines.isDue(now) else { return }
      state.lines.draw(state.board.lines(now: now, width: console.width), now: now)
    }
  }

  private func finished(_ result: BatchFileResult, _ state: inout State) {
    guard !isQuiet else { return }
    let path = Format.visible(result.path)
    let reports = WordQuality.all(in: result.findings)
    state.words.add(reports, of: result.path)
    if result.isEndUntold { state.untoldCount += 1 }
    switch result.outcome {
    case .failed where console.isTerminal:
      state.lines.erase()
      console.print("\(console.red("failed"))  \(path)")
    case .failed: console.print("\(state.board.position) failed  \(path)")
    case .done, .reused:
      if !console.isTerminal {
        console.print("\(state.board.position) \(result.outcome.rawValue)  \(path)")
        for report in reports {
          console.print("  words  \(Format.visible(report.line))")
        }
      }
    default: break
    }
  }

}

/// The state of a batch as text: a line for each active file, and one for all. A pure value.
struct BatchBoard {
  private var forecast = BatchForecast.nothing
  private var running: [(path: String, share: Double, fraction: Double)] = []
  /// The share of the total work in finished files.
  private var endedShare = 0.0
  private var doneCount = 0
  private var failedCount = 0
  private var beganAt = 0.0

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
    case .listening, .hashing, .settled, .warning, .ended: break
    }
  }

  /// The share of work done, 0…1, with files weighted by their estimated cost.
  private var fraction: Double {
    guard forecast.pendingCount > 0 else { return 1 }
    return min(running.reduce(endedShare) { $0 + $1.share * $1.fraction }, 1)
  }

  /// One line for each active file, then one for all.
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

  /// Keeps the end of a path, which is more distinctive.
  private static func shortened(_ path: String, to width: Int) -> String {
    let path = Format.visible(path)
    return path.count <= width ? path : "…" + path.suffix(width - 1)
  }

  /// The number of finished files: `[3/12]`.
  var position: String { "[\(doneCount + failedCount)/\(forecast.pendingCount)]" }
}

/// Messages at the start and the end of a batch.
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
      if forecast.seconds > 0 {
        parts.append(Format.estimate(forecast.seconds, besides: forecast.unknownSteps))
      }
      parts.append("\(forecast.workerCount) at once")
    }
    return parts.joined(separator: " · ")
  }

  /// `left out: 12 that are no recordings, 3 links, 1 hidden`; nil if none were.
  static func skipped(_ skipped: SkippedFiles) -> String? {
    let parts = SkippedFiles.Reason.allCases.compactMap { reason -> String? in
      guard let count = skipped.counts[reason], count > 0 else { return nil }
      switch reason {
      case .noRecording:
        return count == 1 ? "1 that is no recording" : "\(count) that are no recordings"
      case .link: return count == 1 ? "1 link" : "\(count) links"
      case .special:
        return count == 1 ? "1 pipe, socket or device" : "\(count) pipes, sockets or devices"
      case .hidden: return "\(count) hidden"
      case .excluded: return "\(count) by --exclude"
      case .store: return count == 1 ? "the folder of a store" : "the folders of \(count) stores"
      case .export: return Count.of(count, "export") + " of earlier runs"
      }
    }
    return parts.isEmpty ? nil : "left out: " + parts.joined(separator: ", ")
  }

  /// `renamed: 1, for the exports of other files have its name`, and a line for each file:
  /// `b/a.wav: a-2`. Empty if none are.
  static func renamed(_ files: [RenamedFile]) -> [String] {
    list(
      files.map { "\($0.path): \($0.name)" },
      under: "renamed: \(files.count), for the exports of other files have "
        + (files.count == 1 ? "its name" : "their names"))
  }

  /// `left under an earlier name: 1`, and a line for each export. Empty if none are.
  static func earlier(_ exports: [String]) -> [String] {
    list(exports, under: "left under an earlier name: \(Count.of(exports.count, "export"))")
  }

  /// A heading and the first lines below it; nothing without lines.
  private static func list(_ lines: [String], under heading: String) -> [String] {
    guard !lines.isEmpty else { return [] }
    let rest = lines.count - listLimit
    return [heading] + lines.prefix(listLimit).map { "  " + Format.visible($0) }
      + (rest > 0 ? ["  and \(rest) more"] : [])
  }

  private static let listLimit = 20

  /// `listening to all files for normalize`, with the round's number from the second on.
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
    // The size is unknown for files that cannot be opened or are in the store already.
    if forecast.neededByteCount == 0 { return "\(ByteCount(forecast.outputFreeByteCount)) free" }
    if forecast.sharesDisk {
      return "needs about \(ByteCount(forecast.neededByteCount)) of "
        + "\(ByteCount(forecast.storeFreeByteCount)) free"
    }
    return "needs about \(ByteCount(forecast.storeByteCount)) of "
      + "\(ByteCount(forecast.storeFreeByteCount)) free in the store and "
      + "\(ByteCount(forecast.publishedByteCount)) of "
      + "\(ByteCount(forecast.outputFreeByteCount)) for the exports"
  }

  /// The last lines: counts, and one line for each failed file.
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
    lines += [skipped(summary.skipped)].compactMap { $0 } + renamed(summary.renamed)
    lines += earlier(summary.earlierExports)
    if summary.warnedBeforeCount > 0 {
      let files = Count.of(summary.warnedBeforeCount, "reused file")
      lines.append("warnings of earlier batches about \(files) stand in the details")
    }
    lines += list(
      summary.damaged.flatMap { result in
        RecordingDamage.lines(result.damage).map { "\(result.path): \($0)" }
      }, under: "damaged, and done as far as they can be decoded: \(summary.damaged.count)")
    if let path = summary.reportPath { lines.append("details in \(Format.visible(path))") }
    return lines
  }

  /// File, message, reason, advice.
  static func failure(_ result: BatchFileResult) -> String {
    var text = result.path + ": "
    if let failure = result.failure {
      let what = failure.step.map { "\($0): " } ?? ""
      text += what + failure.message
      if let reason = failure.reason { text += " — \(reason)" }
      if let advice = failure.advice { text += " — help: \(advice)" }
    }
    return "  " + Format.visible(text)
  }
}

/// The warnings of a batch: each is printed once, and at the end with the number of other files.
struct WarningTally {
  /// By the text without the file's name, in their order.
  private var entries: [(text: String, first: String, more: Int)] = []

  /// - Returns: the line of a warning that no file had before; nil for others.
  mutating func add(_ text: String, of path: String) -> String? {
    let name = path.pathNames.last ?? path
    let common = text.replacing(name, with: "it")
    if let index = entries.firstIndex(where: { $0.text == common }) {
      entries[index].more += 1
      return nil
    }
    entries.append((common, "\(path): \(text)", 0))
    return entries.last?.first
  }

  /// `41 more files: export: …`, a line for each warning that several files had.
  var repeated: [String] {
    entries.filter { $0.more > 0 }.map {
      "\(Count.of($0.more, "more file")), as \($0.first)"
    }
  }
}

/// The words of all files of a batch, and the file with the largest doubtful share.
struct WordTally {
  private var fileCount = 0
  private var counts = WordQuality.Counts()
  private var worst: (path: String, share: Double)?

  /// Adds a file's words.
  mutating func add(_ reports: [WordQuality], of path: String) {
    guard !reports.isEmpty else { return }
    fileCount += 1
    let own = reports.reduce(into: WordQuality.Counts()) { $0.add($1.counts) }
    counts.add(own)
    if own.doubtfulShare > worst?.share ?? 0 { worst = (path, own.doubtfulShare) }
  }

  /// `words  12,040 timed · 31 interpolated · 18 unsure, in 12 files; the least sure is walk.m4a (9
  /// % in doubt)`; nil if fewer than two files have words.
  var line: String? {
    guard fileCount > 1 else { return nil }
    let doubtful = worst.map {
      "; the least sure is \($0.path) (\(Format.decimal(100 * $0.share, places: 0)) % in doubt)"
    }
    return "words  \(counts.line), in \(Count.of(fileCount, "file"))\(doubtful ?? "")"
  }
}

import PipelineEngine
import Store
import Synchronization

/// A progress line on a terminal; silent elsewhere. Thread-safe.
final class ReadingMeter: Sendable {
  private struct State {
    var startedAt: Double?
    var drawnAt = 0.0
    var isDrawn = false
  }

  private static let interval = 0.1
  private let isShown: Bool
  private let now: @Sendable () -> Double
  private let draw: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - now: monotonic seconds.
  ///   - draw: writes to the terminal.
  init(
    isShown: Bool, now: @escaping @Sendable () -> Double, draw: @escaping @Sendable (String) -> Void
  ) {
    self.isShown = isShown
    self.now = now
    self.draw = draw
  }

  func show(_ progress: InspectionProgress) {
    show(progress.doneBytes, of: progress.totalBytes)
  }

  func show(_ doneBytes: Int, of totalBytes: Int) {
    show(doneBytes, of: totalBytes) { "\(ByteCount(doneBytes)) of \(ByteCount(totalBytes))" }
  }

  func show(_ doneBytes: Int, of totalBytes: Int, files: Int, of totalFiles: Int) {
    show(doneBytes, of: totalBytes) {
      "\(files) of \(Count.of(totalFiles, "file")), \(ByteCount(doneBytes)) of "
        + "\(ByteCount(totalBytes))"
    }
  }

  /// - Parameter thing: the singular noun of what is counted.
  func show(_ done: Int, of total: Int, named thing: String) {
    show(done, of: total) { "\(done) of \(Count.of(total, thing))" }
  }

  private func show(_ done: Int, of total: Int, _ words: () -> String) {
    guard isShown else { return }
    let now = now()
    state.withLock { state in
      let start = state.startedAt ?? now
      state.startedAt = start
      guard now - state.drawnAt >= Self.interval else { return }
      state.drawnAt = now
      state.isDrawn = true
      let fraction = Double(done) / Double(max(1, total))
      let left = fraction > 0.02 ? (now - start) * (1 - fraction) / fraction : nil
      let rest = left.map { "   \(Format.duration($0)) left" } ?? ""
      draw(
        "\r\u{1B}[Kreading  \(Format.bar(fraction, width: 24))  "
          + "\(words())\(rest)")
    }
  }

  func clear() {
    state.withLock { state in
      if state.isDrawn { draw("\r\u{1B}[K") }
      state.isDrawn = false
    }
  }
}

extension CommandContext {
  /// A progress line, unless the command prints JSON or errors only.
  func readingMeter() -> ReadingMeter {
    let clock = SystemClock()
    return ReadingMeter(
      isShown: voice == .full && console.isTerminal, now: { clock.elapsed }, draw: console.draw)
  }
}

/// Lines at the bottom of a terminal that are redrawn in place; nothing elsewhere.
struct LiveLines {
  let console: Console
  /// Seconds between redraws.
  let interval: Double
  private var drawnAt = 0.0
  private var lineCount = 0

  init(_ console: Console, interval: Double) {
    self.console = console
    self.interval = interval
  }

  /// Whether the time between redraws is over.
  func isDue(_ now: Double) -> Bool { console.isTerminal && now - drawnAt >= interval }

  /// Replaces the lines.
  mutating func draw(_ lines: [String], now: Double) {
    guard console.isTerminal else { return }
    console.draw(beginning + lines.map { "\r\u{1B}[2K\($0)\n" }.joined() + "\u{1B}[J")
    lineCount = lines.count
    drawnAt = now
  }

  /// Erases the lines, so that others can be printed above them.
  mutating func erase() {
    guard console.isTerminal, lineCount > 0 else { return }
    console.draw("\(beginning)\u{1B}[J")
    lineCount = 0
    drawnAt = 0
  }

  private var beginning: String { lineCount > 0 ? "\u{1B}[\(lineCount)A" : "" }
}

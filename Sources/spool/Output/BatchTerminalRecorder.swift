import Batch
import PipelineModel
import Synchronization

/// Shows a batch to a person: on a terminal a few live lines, elsewhere a plain line for each file as
/// it ends.
final class BatchTerminalRecorder: BatchRecorder {
  /// Seconds between two drawings.
  private static let interval = 0.2

  private let order: BatchOrder
  private let isQuiet: Bool
  private let console: Console
  private let clock: SystemClock
  private let state = Mutex(BatchBoard())
  private let words = Mutex(WordTally())

  init(_ order: BatchOrder, isQuiet: Bool, clock: SystemClock, console: Console) {
    self.order = order
    self.isQuiet = isQuiet
    self.clock = clock
    self.console = console
  }

  func record(_ event: BatchEvent) {
    let now = clock.elapsed
    state.withLock { board in
      board.take(event, now: now)
      switch event {
      case .listening(let step, let round, let done, let count):
        guard !isQuiet else { return }
        if console.isTerminal {
          erase(&board)
          console.draw("\(BatchText.listening(step, round: round))  \(done) of \(count)\n")
          board.drawnLineCount = 1
        } else if done == 0 {
          console.print(BatchText.listening(step, round: round))
        }
        return
      case .settled(let step, let figures):
        erase(&board)
        if !isQuiet { console.print(BatchText.settled(step, figures)) }
        return
      case .planned(let forecast):
        guard !isQuiet else { return }
        console.print("\(console.bold(order.definition.name))  \(Format.visible(order.folder))")
        console.print(BatchText.plan(forecast))
        let asides = [
          BatchText.skipped(forecast.skipped), BatchText.renamed(forecast.renamedCount),
        ]
        asides.compactMap { $0 }.forEach(console.print)
        for folder in forecast.exportFolders {
          console.print("left out, for it holds exports: \(Format.visible(folder))")
        }
      case .warning(let path, let step, let text):
        erase(&board)
        console.report(
          "warning: \(Format.visible(path)): \(step): \(Format.visible(text))")
      case .finished(let result): finished(result, &board)
      case .ended(let summary):
        erase(&board)
        if !isQuiet, let line = words.withLock(\.line) {
          console.print("\n\(Format.visible(line))")
        }
        let lines = BatchText.summary(summary, isQuiet: isQuiet)
        if isQuiet { lines.forEach(console.report) } else { lines.forEach(console.print) }
        return
      case .started, .progress: break
      }
      guard console.isTerminal, !isQuiet, now - board.drawnAt >= Self.interval else { return }
      draw(&board, now: now)
    }
  }

  private func finished(_ result: BatchFileResult, _ board: inout BatchBoard) {
    guard !isQuiet else { return }
    let path = Format.visible(result.path)
    let reports = WordQuality.all(in: result.findings)
    words.withLock { $0.add(reports, of: result.path) }
    switch result.outcome {
    case .failed where console.isTerminal:
      erase(&board)
      console.print("\(console.red("failed"))  \(path)")
    case .failed: console.print("\(board.position) failed  \(path)")
    case .done, .reused:
      if !console.isTerminal {
        console.print("\(board.position) \(result.outcome.rawValue)  \(path)")
        for report in reports {
          console.print("  words  \(Format.visible(report.line))")
        }
      }
    default: break
    }
  }

  /// Draws the board over its last drawing.
  private func draw(_ board: inout BatchBoard, now: Double) {
    let lines = board.lines(now: now, width: console.width)
    let up = board.drawnLineCount > 0 ? "\u{1B}[\(board.drawnLineCount)A\u{1B}[J" : ""
    console.draw(up + lines.map { $0 + "\n" }.joined())
    board.drawnLineCount = lines.count
    board.drawnAt = now
  }

  /// Takes the board away, so that something can be said above it.
  private func erase(_ board: inout BatchBoard) {
    guard console.isTerminal, board.drawnLineCount > 0 else { return }
    console.draw("\u{1B}[\(board.drawnLineCount)A\u{1B}[J")
    board.drawnLineCount = 0
    board.drawnAt = 0
  }
}

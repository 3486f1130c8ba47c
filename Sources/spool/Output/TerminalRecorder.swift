import PipelineEngine
import PipelineModel
import Synchronization

/// Shows a run to a person: on a terminal one live line for each step, elsewhere a plain line for
/// each step as it is done.
final class TerminalRecorder: RunRecorder {
  /// Seconds between two drawings.
  private static let interval = 0.1

  private let console: Console
  private let clock: SystemClock
  private let state: Mutex<State>

  private struct State {
    var board: StepBoard
    var news = InterimNews()
  }

  init(_ plan: Plan, clock: SystemClock, console: Console) {
    self.console = console
    self.clock = clock
    state = Mutex(State(board: StepBoard(plan, now: clock.elapsed)))
  }

  func record(_ event: RunEvent) {
    let now = clock.elapsed
    state.withLock { state in
      state.board.take(event, now: now)
      show(event, &state.board, news: state.news.take(event), now: now)
    }
  }

  /// Says something above the board.
  func tell(_ line: String) {
    state.withLock { state in
      erase(&state.board)
      console.report(line)
    }
  }

  private func show(_ event: RunEvent, _ board: inout StepBoard, news: String?, now: Double) {
    switch event {
    case .started(let run):
      let files = Format.visible(run.inputs.values.sorted().joined(separator: ", "))
      console.print("\(console.bold(run.pipeline))  \(files)\n" + (news.map { "\($0)\n" } ?? ""))
    case .warning(let step, let text):
      erase(&board)
      console.report("warning: \(step): \(Format.visible(text))")
    case .retrying(let step, let error, let delay):
      erase(&board)
      console.report(
        "\(step?.name ?? "run"): \(Format.visible(error.message)); again in "
          + Format.duration(delay))
    case .ended(let run):
      draw(&board, now: now)
      if run.state == .done { console.print(RunSummary(run).lines.joined(separator: "\n")) }
      return
    default:
      guard let news else { break }
      erase(&board)
      console.print(news)
    }
    if console.isTerminal {
      if now - board.drawnAt >= Self.interval { draw(&board, now: now) }
    } else if let line = board.plainLine(for: event, now: now) {
      console.print(line)
    }
  }

  /// Draws the board over its last drawing.
  private func draw(_ board: inout StepBoard, now: Double) {
    guard console.isTerminal else { return }
    let lines = board.lines(now: now, width: console.width)
    let up = board.drawnLineCount > 0 ? "\u{1B}[\(board.drawnLineCount)A" : ""
    console.draw(up + lines.map { "\r\u{1B}[2K\($0)\n" }.joined())
    board.drawnLineCount = lines.count
    board.drawnAt = now
  }

  /// Takes the board away, so that something can be said above it.
  private func erase(_ board: inout StepBoard) {
    guard console.isTerminal, board.drawnLineCount > 0 else { return }
    console.draw("\u{1B}[\(board.drawnLineCount)A\u{1B}[J")
    board.drawnLineCount = 0
    board.drawnAt = 0
  }
}

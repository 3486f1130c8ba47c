internal import Inbox
internal import PipelineEngine
internal import PipelineModel

/// What is owed to the inbox's devices and folders, and whether it can be given to them.
extension InboxClerk {
  /// Seconds between two looks at the folders that results go to.
  private static let lookPause = 3.0

  /// Tells where one of them is away or nothing can be signed, and goes on once that is mended.
  mutating func lookAtFolders() {
    let pause = folders.look(at: engine.clock.now)
    nextLook = engine.clock.elapsed + Self.lookPause
    standing.pause(pause)
    if pause?.reason != toldPause?.reason {
      if let pause {
        tell(.paused, text: "\(pause.reason); \(pause.advice)")
      } else {
        tell(.back, text: "nothing is in the way any more")
        owesMore()
        report(.stirred)
      }
    }
    toldPause = pause
  }

  /// Pays custody's debts.
  mutating func settleUp() {
    nextSettling = nil
    note(custody.settle())
    lastSettling = engine.clock.elapsed
  }

  /// Tells what custody did, and when it is to be asked again.
  mutating func note(_ settled: CustodyReport) {
    for note in settled.recovered { tell(.resumed, note) }
    for release in settled.released where release.file.role == .recording {
      tell(
        .released, file: InboxPath(escaped: release.file.path)?.description ?? release.file.path,
        key: release.file.note, text: release.words,
        place: release.place)
    }
    for result in settled.decidedLate {
      tell(
        .command, file: "\(result.id).command.json", key: result.note,
        text: CommandWords.text(late: result))
      if result.request == .cancel, result.status == .applied, let note = result.note {
        report(.cancelled(note))
      }
    }
    if settled.isAnyForgotten { report(.forgotten) }
    // There may be more of them than one payment covers.
    if !settled.released.isEmpty { owesMore() }
    // What goes on failing is told once.
    let problems = Set(settled.problems.filter { !isOfPause($0) }.map(\.description))
    for problem in problems.subtracting(lastProblems).sorted() { tell(.trouble, text: problem) }
    lastProblems = problems
    let pause = settled.nextCall ?? (settled.problems.isEmpty ? nil : Self.pause)
    guard let pause else { return }
    let due = engine.clock.elapsed + max(pause, 0.05)
    nextSettling = min(nextSettling ?? due, due)
  }

  /// Whether a problem is that the inbox or the outbox is away, which is told by itself.
  private func isOfPause(_ problem: CustodyError) -> Bool {
    [custody.inbox, custody.outbox].contains(problem.path) && folders.lastPause != nil
  }
}

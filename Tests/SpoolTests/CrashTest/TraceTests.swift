import Testing
@testable import spool

@Suite struct TraceTests {
  /// A process that did `decode`, and was in the middle of `export` when it was killed.
  private let killed = Trace([
    (0.1, #"{"event":"started"}"#),
    (0.2, #"{"event":"pass","steps":["decode","eq"]}"#),
    (0.3, #"{"event":"progress","step":"decode","done":10,"total":20}"#),
    (0.4, #"{"event":"progress","step":"eq","done":10,"total":20}"#),
    (0.6, #"{"event":"finished","step":"decode"}"#),
    (0.7, #"{"event":"finished","step":"eq"}"#),
    (0.8, #"{"event":"pass","steps":["export"]}"#),
    (1.0, #"{"event":"progress","step":"export","done":8,"total":20}"#),
    (1.5, #"{"event":"progress","step":"export","done":16,"total":20}"#),
  ])

  private func next(_ lines: String...) -> StartingPoint {
    Trace(lines.enumerated().map { (Double($0) / 10, $1) }).start
  }

  @Test("a start that goes on inside a pass loses what comes after its place")
  func inside() {
    let start = next(
      #"{"event":"reused","step":"decode"}"#, #"{"event":"reused","step":"eq"}"#,
      #"{"event":"resumed","steps":["export"],"atSeconds":9.5,"lostSeconds":0.7}"#)
    #expect(start.isInsidePass)
    #expect(start.settledAt == 0.2)
    let loss = killed.loss(killedAt: 1.7, next: start)
    #expect(loss.soundSeconds == 6.5)
    // The place was passed between the reports at 1.0 and 1.5: the worse of the two holds.
    #expect(abs(loss.workSeconds - 0.7) < 1e-9)
    #expect(loss.statedSeconds == 0.7)
  }

  @Test("a start that begins a pass anew loses the pass, and nothing that was finished")
  func anew() {
    let start = next(
      #"{"event":"reused","step":"decode"}"#, #"{"event":"reused","step":"eq"}"#,
      #"{"event":"pass","steps":["export"]}"#,
      #"{"event":"progress","step":"export","done":8}"#)
    #expect(!start.isInsidePass)
    let loss = killed.loss(killedAt: 1.7, next: start)
    #expect(loss.soundSeconds == 16)
    #expect(abs(loss.workSeconds - 0.9) < 1e-9)
    #expect(loss.statedSeconds == nil)
  }

  @Test("a checkpoint that is lost costs all that led to it")
  func lostCheckpoint() {
    let start = next(
      #"{"event":"reused","step":"decode"}"#, #"{"event":"pass","steps":["eq","export"]}"#,
      #"{"event":"progress","step":"eq","done":8}"#)
    let loss = killed.loss(killedAt: 1.7, next: start)
    #expect(loss.soundSeconds == 16)
    #expect(abs(loss.workSeconds - 0.9) < 1e-9)
    let nothing = next(
      #"{"event":"pass","steps":["decode","eq"]}"#,
      #"{"event":"progress","step":"decode","done":1}"#)
    // Nothing of its life is safe but the time until its first pass.
    #expect(abs(killed.loss(killedAt: 1.7, next: nothing).workSeconds - 0.9) < 1e-9)
  }

  @Test("a start that was killed before it began to work has not said where it goes on")
  func unsettled() {
    let start = next(
      #"{"event":"started"}"#, #"{"event":"reused","step":"decode"}"#,
      #"{"event":"pass","steps":["eq"]}"#)
    #expect(start.settledAt == nil)
  }

  @Test("what comes after a start has gone on changes nothing about where it did")
  func later() {
    let start = next(
      #"{"event":"pass","steps":["eq"]}"#, #"{"event":"progress","step":"eq","done":8}"#,
      #"{"event":"resumed","steps":["export"],"atSeconds":4}"#,
      #"{"event":"reused","step":"late"}"#)
    #expect(start.reused == [] && start.resumed == [:])
    #expect(start.settledAt == 0.1)
  }
}

extension Trace {
  fileprivate init(_ lines: [(time: Double, text: String)]) {
    self.init()
    for line in lines {
      if let report = Report(line: Array(line.text.utf8)) { record(report, at: line.time) }
    }
  }
}

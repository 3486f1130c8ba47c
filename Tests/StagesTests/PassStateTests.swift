import Audio
import PipelineEngine
@testable import SoundEngine
@testable import Stages
import Testing

@Suite struct PassNoteTests {
  private func restartPoint(_ frame: Int, given: Int) -> PassState.RestartPoint {
    PassState.RestartPoint(
      frame: Frames(frame), given: [Frames(frame), Frames(given)],
      states: [nil, ProcessorSnapshot(bytes: [1, 2, 3])])
  }

  private func record(_ moments: [PassState.RestartPoint], needs: [(segment: Int, from: Int)])
    -> PassState
  {
    var note = PassState()
    note.moments = moments
    note.listeners = needs.map { need in
      var status = PassState.State(segment: need.segment)
      status.needsFrom = need.from
      status.state = ""
      return status
    }
    return note
  }

  @Test func `a pass goes on at the newest restartPoint that serves everybody`() {
    let moments = [
      restartPoint(100, given: 90), restartPoint(200, given: 190), restartPoint(300, given: 290),
    ]
    #expect(record(moments, needs: [(1, 290)]).restart?.frame == 300)
    #expect(record(moments, needs: [(1, 289)]).restart?.frame == 200)
    #expect(record(moments, needs: [(1, 290), (1, 90)]).restart?.frame == 100)
    #expect(record(moments, needs: [(1, 89)]).restart == nil)
    #expect(record([], needs: [(1, 290)]).restart == nil)
    // A state of another pass.
    #expect(record(moments, needs: [(5, 290)]).restart == nil)
  }

  @Test func `what a listener had in hand is what it did since it last came further`() {
    func progress(_ frame: Int, _ state: String = "") -> ListenerProgress {
      ListenerProgress(needsFrom: Frames(frame), state: state)
    }
    var note = record([], needs: [(1, 0), (1, 0), (0, 0)])
    for index in 0..<3 { note.listeners[index].movedAt = 100 }
    note.update(0, progress(50), at: 101, isAnalysis: false)
    // Its other files come further, but not the slowest.
    note.update(1, progress(0, "more"), at: 101, isAnalysis: false)
    // What begins anew in any case loses nothing to speak of.
    note.update(2, nil, at: 101, isAnalysis: false)
    #expect(note.secondsInHand(at: 101.5) == 1.5)
    note.update(1, progress(60, "more"), at: 102, isAnalysis: false)
    note.update(0, progress(50, "tried"), at: 102, isAnalysis: true)
    #expect(note.secondsInHand(at: 102.25) == 0.25)
    note.listeners[0].result = PassOutcome.Result()
    note.listeners[1].result = PassOutcome.Result()
    #expect(note.secondsInHand(at: 200) == 0)
  }

  @Test func `listeners of the source, and those that are done, do not hold the pass back`() {
    let moments = [restartPoint(100, given: 90), restartPoint(200, given: 190)]
    #expect(record(moments, needs: [(0, 0), (1, 190)]).restart?.frame == 200)
    var done = record(moments, needs: [(1, 0), (1, 190)])
    done.listeners[0].result = PassOutcome.Result()
    #expect(done.restart?.frame == 200)
  }

  @Test func `moments that nobody needs any more are forgotten, and the rest thinned out`() {
    var old = record((1...8).map { restartPoint($0 * 100, given: $0 * 100) }, needs: [(1, 650)])
    old.prune(to: 16)
    #expect(old.moments.map(\.frame) == [600, 700, 800])
    var many = record((1...9).map { restartPoint($0 * 100, given: $0 * 100) }, needs: [(1, 100)])
    many.prune(to: 5)
    #expect(many.moments.map(\.frame) == [100, 300, 500, 700, 900])
  }

  @Test func `big moments are thinned out as well, to a few`() {
    // Each state is four bytes in Base64.
    var note = record((1...9).map { restartPoint($0 * 100, given: $0 * 100) }, needs: [(1, 100)])
    note.prune(to: 16, byteLimit: 35)
    #expect(note.moments.map(\.frame) == [100, 300, 500, 700, 900])
    note.prune(to: 16, byteLimit: 1)
    #expect(note.moments.map(\.frame) == [100, 500, 900])
    note.moments.append(restartPoint(1000, given: 1000))
    note.prune(to: 16, byteLimit: 1)
    #expect(note.moments.count == 4)
  }

  @Test func `of big moments only the one to restart from is written down`() {
    let moments = [
      restartPoint(100, given: 90), restartPoint(200, given: 190), restartPoint(300, given: 290),
    ]
    let waiting = record(moments, needs: [(1, 200)])
    #expect(waiting.written(byteLimit: 12) == waiting)
    #expect(waiting.written(byteLimit: 11).moments.map(\.frame) == [200])
    #expect(waiting.written(byteLimit: 11).restart == waiting.restart)
    #expect(record(moments, needs: [(1, 0)]).written(byteLimit: 0).moments == [])
  }

  @Test func `a note reads back as it was written`() throws {
    let written = record([restartPoint(100, given: 90)], needs: [(0, 7), (1, 90)])
    let read = try #require(PassState.read(try Findings.json(written)))
    #expect(read == written)
    #expect(read.moments[0].state(ofSegment: 1)?.bytes == [1, 2, 3])
    #expect(read.moments[0].state(ofSegment: 0) == nil)
    #expect(PassState.read("{}") == nil)
    #expect(PassState.read("words") == nil)
  }

  @Test func `a listener's status is not taken for that of another segment`() {
    let written = record([], needs: [(0, 7)])
    #expect(written.listener(0, segment: 0)?.needsFrom == 7)
    #expect(written.listener(0, segment: 1) == nil)
    #expect(written.listener(1, segment: 0) == nil)
  }
}

import AudioModel
import PipelineEngine
import Testing

@testable import Stages

@Suite struct PassNoteTests {
  private func moment(_ frame: Int, given: Int) -> PassNote.Moment {
    PassNote.Moment(
      frame: Frames(frame), given: [Frames(frame), Frames(given)],
      states: [nil, ProcessorSnapshot(bytes: [1, 2, 3])])
  }

  private func note(_ moments: [PassNote.Moment], needs: [(segment: Int, from: Int)]) -> PassNote {
    var note = PassNote()
    note.moments = moments
    note.listeners = needs.map { need in
      var standing = PassNote.Standing(segment: need.segment)
      standing.needsFrom = need.from
      standing.state = ""
      return standing
    }
    return note
  }

  @Test func `a pass goes on at the newest moment that serves everybody`() {
    let moments = [moment(100, given: 90), moment(200, given: 190), moment(300, given: 290)]
    #expect(note(moments, needs: [(1, 290)]).restart?.frame == 300)
    #expect(note(moments, needs: [(1, 289)]).restart?.frame == 200)
    #expect(note(moments, needs: [(1, 290), (1, 90)]).restart?.frame == 100)
    #expect(note(moments, needs: [(1, 89)]).restart == nil)
    #expect(note([], needs: [(1, 290)]).restart == nil)
  }

  @Test func `what a listener had in hand is what it did since it last came further`() {
    func progress(_ frame: Int, _ state: String = "") -> ListenerProgress {
      ListenerProgress(needsFrom: Frames(frame), state: state)
    }
    var note = note([], needs: [(1, 0), (1, 0), (0, 0)])
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
    let moments = [moment(100, given: 90), moment(200, given: 190)]
    #expect(note(moments, needs: [(0, 0), (1, 190)]).restart?.frame == 200)
    var done = note(moments, needs: [(1, 0), (1, 190)])
    done.listeners[0].result = PassOutcome.Result()
    #expect(done.restart?.frame == 200)
  }

  @Test func `moments that nobody needs any more are forgotten, and the rest thinned out`() {
    var old = note((1...8).map { moment($0 * 100, given: $0 * 100) }, needs: [(1, 650)])
    old.prune(to: 16)
    #expect(old.moments.map(\.frame) == [600, 700, 800])
    var many = note((1...9).map { moment($0 * 100, given: $0 * 100) }, needs: [(1, 100)])
    many.prune(to: 5)
    #expect(many.moments.map(\.frame) == [100, 300, 500, 700, 900])
  }

  @Test func `big moments are thinned out as well, to a few`() {
    // Each state is four bytes in Base64.
    var note = note((1...9).map { moment($0 * 100, given: $0 * 100) }, needs: [(1, 100)])
    note.prune(to: 16, byteLimit: 35)
    #expect(note.moments.map(\.frame) == [100, 300, 500, 700, 900])
    note.prune(to: 16, byteLimit: 1)
    #expect(note.moments.map(\.frame) == [100, 500, 900])
    note.moments.append(moment(1000, given: 1000))
    note.prune(to: 16, byteLimit: 1)
    #expect(note.moments.count == 4)
  }

  @Test func `of big moments only the one to restart from is written down`() {
    let moments = [moment(100, given: 90), moment(200, given: 190), moment(300, given: 290)]
    let waiting = note(moments, needs: [(1, 200)])
    #expect(waiting.written(byteLimit: 12) == waiting)
    #expect(waiting.written(byteLimit: 11).moments.map(\.frame) == [200])
    #expect(waiting.written(byteLimit: 11).restart == waiting.restart)
    #expect(note(moments, needs: [(1, 0)]).written(byteLimit: 0).moments == [])
  }

  @Test func `a note reads back as it was written`() throws {
    let written = note([moment(100, given: 90)], needs: [(0, 7), (1, 90)])
    let read = try #require(PassNote.read(try Findings.json(written)))
    #expect(read == written)
    #expect(read.moments[0].state(ofSegment: 1)?.bytes == [1, 2, 3])
    #expect(read.moments[0].state(ofSegment: 0) == nil)
    #expect(PassNote.read("{}") == nil)
    #expect(PassNote.read("words") == nil)
  }

  @Test func `a listener's standing is not taken for that of another segment`() {
    let written = note([], needs: [(0, 7)])
    #expect(written.listener(0, segment: 0)?.needsFrom == 7)
    #expect(written.listener(0, segment: 1) == nil)
    #expect(written.listener(1, segment: 0) == nil)
  }
}

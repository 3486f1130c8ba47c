@testable import Speech
import TestSupport
import Testing

@Suite("Where a recording is cut to be listened to") struct ListeningPlanTests {
  @Test("pieces are 15 to 30 seconds long and end where it is quiet")
  func pieces() {
    // Four seconds of noise, half a second of near silence, again and again.
    let plan = plan(seconds: 100) { $0.truncatingRemainder(dividingBy: 4.5) < 4 ? 8000 : 20 }
    #expect(plan.pieces.first?.lowerBound == 0)
    #expect(plan.pieces.last?.upperBound == 10_000)
    for (piece, next) in zip(plan.pieces, plan.pieces.dropFirst()) {
      #expect(piece.upperBound == next.lowerBound)
      #expect((1500...3000).contains(piece.count))
      let place = (Double(piece.upperBound) / 100).truncatingRemainder(dividingBy: 4.5)
      #expect(place >= 4 && place <= 4.5)
    }
  }

  @Test("long silence is left out, but for its edges")
  func silence() {
    let plan = plan(seconds: 60) { $0 >= 10 && $0 < 50 ? 1 : 8000 }
    #expect(plan.pieces == [0..<1040, 4960..<6000])
  }

  @Test("silence is left out where nearly all is silence")
  func fewWords() {
    let plan = plan(seconds: 100) { $0 >= 50 && $0 < 51 ? 8000 : 1 }
    #expect(plan.pieces == [4960..<5140])
  }

  @Test("a click in noise makes no silence of the noise")
  func click() {
    let plan = plan(seconds: 70) { $0 >= 20 && $0 < 20.1 ? 30_000 : 100 }
    #expect(plan.pieces.reduce(0) { $0 + $1.count } == 7000)
  }

  @Test("noise without pauses is listened to all the same")
  func noise() {
    let plan = plan(seconds: 70) { _ in 5000 }
    #expect(plan.pieces.reduce(0) { $0 + $1.count } == 7000)
  }

  @Test("a file's own silence has no pieces, and a few words in it have one", arguments: [0, 1, 2])
  func inaudible(amplitude: Int) {
    #expect(plan(seconds: 70) { _ in amplitude }.pieces.isEmpty)
    #expect(plan(seconds: 70) { $0 >= 50 && $0 < 51 ? 800 : amplitude }.pieces == [4960..<5140])
  }

  @Test("nothing has no pieces")
  func nothing() {
    #expect(ListeningPlan(of: LevelTrace()).pieces.isEmpty)
  }

  private func plan(seconds: Int, amplitude: (Double) -> Int) -> ListeningPlan {
    var random = SeededRandom(seed: 7)
    let sound = (0..<seconds * 16_000).map { index in
      let limit = amplitude(Double(index) / 16_000)
      return Int16(Int(random.next() % UInt64(2 * limit + 1)) - limit)
    }
    var trace = LevelTrace()
    trace.add(sound.span)
    return ListeningPlan(of: trace)
  }
}

@testable import Speech
import Testing

@Suite("How loud a recording is") struct LevelTraceTests {
  @Test("pauses count as time only where they are short", arguments: [(100, 100), (151, 250)])
  func pauses(length: Int, time: Int) {
    let parts: [(frames: Int, level: Int16)] = [(50, 8000), (150, 0), (50, 8000)]
    var trace = LevelTrace()
    for part in parts {
      let sound = [Int16](repeating: part.level, count: part.frames * LevelTrace.step)
      trace.add(sound.span)
    }
    #expect(trace.time(of: 0..<250, withoutPausesOf: length) == time)
    #expect(trace.time(of: 0..<50, withoutPausesOf: length) == 50)
  }
}

@testable import Audio
import TestSupport
import Testing

@Suite struct FrameQueueTests {
  private let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 3)

  @Test func `frames leave in the order in which they came, wherever the queue wraps`() {
    let sound = TestSound.noise(format, frames: 5000)
    let input = sound.buffer(0..<5000)
    var queue = FrameQueue(channelCount: 3, capacity: 97)
    var random = SeededRandom(seed: 3)
    var result = sound[0..<0]
    var taken = 0
    while taken < 5000 {
      let count = min(Int.random(in: 0...97 - queue.count, using: &random), 5000 - taken)
      queue.append(input, start: taken, count: count)
      taken += count
      if queue.count > 0 { #expect(queue[2, queue.count - 1] == sound.channels[2][taken - 1]) }
      var output = AudioBuffer(channelCount: 3, capacity: Frames(97))
      queue.move(Int.random(in: 0...queue.count, using: &random), to: &output)
      result.append(output)
    }
    var output = AudioBuffer(channelCount: 3, capacity: Frames(97))
    queue.move(queue.count, to: &output)
    result.append(output)
    #expect(result.firstDifference(from: sound) == nil)
  }

  @Test func `a snapshot holds what the queue holds, and fits no smaller queue`() throws {
    let input = TestSound.noise(format, frames: 90).buffer(0..<90)
    var queue = FrameQueue(channelCount: 3, capacity: 50)
    queue.append(input, start: 0, count: 40)
    queue.drop(30)
    queue.append(input, start: 40, count: 35)
    let snapshot = StateCoder.snapshot { (coder) throws(SnapshotError) in try queue.code(&coder) }

    var copy = FrameQueue(channelCount: 3, capacity: 50)
    try StateCoder.restore(snapshot) { (coder) throws(SnapshotError) in try copy.code(&coder) }
    #expect(copy.count == 45)
    for index in 0..<45 { #expect(copy[1, index] == queue[1, index]) }

    var small = FrameQueue(channelCount: 3, capacity: 44)
    #expect(throws: SnapshotError.self) {
      try StateCoder.restore(snapshot) { (coder) throws(SnapshotError) in try small.code(&coder) }
    }
  }
}

import Audio
@testable import Media
import Testing

@Suite("A window of sound in memory")
struct SoundWindowTests {
  let sound = Sound(frames: 10_000)

  private func window() -> SoundWindow {
    var window = SoundWindow()
    for (index, block) in sound.blocks(of: 700).enumerated() {
      window.append(block, at: index * 700)
    }
    return window
  }

  private func read(_ range: Range<Int>, from window: SoundWindow) -> [Float] {
    var buffer = AudioBuffer(channelCount: 2, capacity: Frames(5000))
    window.read(range, into: &buffer)
    return (0..<buffer.frameCount.count).map { buffer.channel(1)[$0] }
  }

  @Test(
    "gives any frames of it, across blocks", arguments: [0..<1, 0..<5000, 699..<701, 9000..<10_000])
  func reading(range: Range<Int>) {
    #expect(read(range, from: window()) == Array(sound.channels[1][range]))
    #expect(read(range, from: window().covering(range)) == Array(sound.channels[1][range]))
  }

  @Test("keeps what comes after the frame before which it lets go, and no block more")
  func dropping() async {
    var window = window()
    window.drop(before: 1400)
    #expect(read(1400..<3000, from: window) == Array(sound.channels[1][1400..<3000]))
    await #expect(processExitsWith: .failure) {
      var window = SoundWindow()
      window.append(Sound(frames: 700).blocks(of: 700)[0], at: 0)
      window.append(Sound(frames: 700).blocks(of: 700)[0], at: 700)
      window.drop(before: 700)
      var buffer = AudioBuffer(channelCount: 2, capacity: Frames(5000))
      window.read(699..<701, into: &buffer)
    }
  }
}

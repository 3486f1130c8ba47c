import Audio
import Foundation
import TestSupport
import Testing

@Suite(
  "Keys steer what is played, and the terminal is left as it was",
  .enabled(if: Program(named: "python3") != nil, "python3 is not installed"))
struct PlayKeysTests {
  private let capture: SoundCapture
  private let sound: TestSound
  private let path: String

  private static let rate = 44_100

  init() throws {
    let place = try Workspace()
    capture = try SoundCapture(place)
    sound = TestSound.noise(
      seed: 3, AudioFormat(sampleRate: Hertz(Double(Self.rate)), channelCount: 1),
      frames: 20 * Self.rate)
    path = place.file("a.wav")
    try sound.writeWAV(to: path)
  }

  @Test("a pause neither loses nor repeats a sample")
  func pause() throws {
    let session = try capture.typed(
      ["read 100000", "key \\x20", "wait paused", "drain", "mark", "drain", "mark", "key k"], [path]
    )
    #expect(session.exitCode == 0 && session.hasUsualMode, "\(session.errorOutput)")
    #expect(session.heard == sound.interleaved)
    #expect(session.marks.count == 2 && session.marks[0] == session.marks[1])
    #expect(session.marks[0] < 4 * session.heard.count)
    #expect(session.shown.contains("0:20.0 of 0:20.0"), "\(session.shown)")
  }

  @Test(
    "arrows, letters and digits move by exactly so much",
    arguments: [("\\x1b[C", 5), ("\\x1bOD", -5), ("l", 10), ("j", -10)])
  func move(key: String, seconds: Int) throws {
    let start = 8 * Self.rate
    let session = try capture.typed(
      ["read \(4 * start)", "key \(key)"], [path])
    let all = sound.interleaved
    let (heard, span) = (session.heard, seconds * Self.rate)
    #expect(session.exitCode == 0)
    let place = zip(heard, all).prefix { $0 == $1 }.count
    #expect(place >= start)
    let target = min(all.count, max(0, place + span))
    #expect(Array(heard[place...]) == Array(all[target...]))
  }

  @Test("a digit goes to that tenth")
  func tenth() throws {
    let session = try capture.typed(["read 100000", "key 7"], [path])
    let all = sound.interleaved
    let place = zip(session.heard, all).prefix { $0 == $1 }.count
    #expect(Array(session.heard[place...]) == Array(all[(14 * Self.rate)...]))
  }

  @Test("Tab switches at the same position, and both are equally loud")
  func switched() throws {
    let other = capture.place.file("b.wav")
    try sound.map { $0 * -0.5 }.writeWAV(to: other)
    let session = try capture.typed(
      ["read 100000", "key \\t", "wait B b.wav", "key a", "wait A a.wav"],
      [path, "--compare", other])
    #expect(session.exitCode == 0, "\(session.errorOutput)")
    // Half of the samples, or minus half of them; in between one fades into the other.
    let halves = zip(session.heard, sound.interleaved).map { heard, sample -> Int in
      if abs(heard - sample / 2) < 1e-5 { return 1 }
      return abs(heard + sample / 2) < 1e-5 ? -1 : 0
    }
    #expect(session.heard.count == sound.frameCount.count)
    #expect(halves.contains(1) && halves.contains(-1))
    #expect(halves.count { $0 == 0 } <= 2 * 221, "5 ms each")
  }

  @Test("signals end it with their codes", arguments: [(2, 130), (15, 143), (1, 129)])
  func signals(number: Int, code: Int32) throws {
    let session = try capture.typed(
      ["read 100000", "mode keys", "signal \(number)"], [path])
    #expect(session.exitCode == code && session.hasUsualMode, "\(session.errorOutput)")
    #expect(session.heard.count < sound.frameCount.count)
  }

  @Test("Ctrl-C and q end it", arguments: [("\\x03", 130), ("q", 0)] as [(String, Int32)])
  func end(key: String, code: Int32) throws {
    let session = try capture.typed(["read 100000", "mode keys", "key \(key)"], [path])
    #expect(session.exitCode == code && session.hasUsualMode, "\(session.errorOutput)")
    #expect(session.heard.count < sound.frameCount.count)
  }

  @Test("Ctrl-Z gives the terminal back, and what goes on goes on where it was")
  func stopped() throws {
    let session = try capture.typed(
      ["read 100000", "mode keys", "key \\x1a", "stopped", "mode usual", "signal 18", "mode keys"],
      [path])
    #expect(session.exitCode == 0 && session.hasUsualMode, "\(session.errorOutput)")
    #expect(session.heard == sound.interleaved)
  }
}

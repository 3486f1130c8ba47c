import Audio
import Foundation
import TestSupport
import Testing

@Suite struct SpliceTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func joined(_ pieces: [TestSound]) -> TestSound {
    var result = pieces[0]
    for piece in pieces.dropFirst() {
      for channel in result.channels.indices {
        result.channels[channel] += piece.channels[channel]
      }
    }
    return result
  }

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance(keepsLength: false) {
      Splice(keeping: [100..<700, 800..<1400, 1500..<Int.max], crossfade: Frames(60), format: $0)
    }
    try checkProcessorConformance(keepsLength: false) {
      Splice(keeping: [37..<1900], droppingLast: Frames(301), format: $0)
    }
    try checkProcessorConformance(keepsLength: false, channelCounts: 64...64) {
      Splice(
        keeping: [0..<400, 1200..<Int.max], crossfade: Frames(200), curve: .equalPower,
        droppingLast: Frames(150), format: $0)
    }
    // The sound ends before the last piece begins, and in the middle of a joint.
    for begin in [5000, 1990] {
      try checkProcessorConformance(keepsLength: false, channelCounts: 1...2) {
        Splice(keeping: [0..<900, begin..<Int.max], crossfade: Frames(80), format: $0)
      }
    }
  }

  @Test func `what is kept is kept bit for bit`() {
    var sound = TestSound.noise(stereo, frames: 9000)
    sound.channels[0][3000] = -0.0
    let splice = Splice(keeping: [1000..<4000, 5000..<Int.max], format: stereo)
    let result = sound.processed(by: splice, cuts: [977, 1])
    #expect(result.isBitIdentical(to: joined([sound[1000..<4000], sound[5000..<9000]])))
  }

  @Test(arguments: [0, 1, 500, 8999, 9000, 20_000])
  func `drops frames at the end`(tail: Int) {
    let sound = TestSound.noise(stereo, frames: 9000)
    let splice = Splice(keeping: [0..<Int.max], droppingLast: Frames(tail), format: stereo)
    let result = sound.processed(by: splice, cuts: [700, 13])
    #expect(result.isBitIdentical(to: sound[0..<max(0, 9000 - tail)]))
  }

  @Test func `joins what it cut apart into the same sound`() {
    let sound = TestSound.noise(stereo, frames: 9000)
    let cuts = [0..<1, 1..<2500, 2500..<6001, 6001..<9000]
    let pieces = cuts.map { sound.processed(by: Splice(keeping: [$0], format: stereo)) }
    #expect(joined(pieces).isBitIdentical(to: sound))
  }

  @Test(
    .enabled(if: Program(named: "ffmpeg") != nil, "the ffmpeg program is not installed"),
    arguments: [(FadeCurve.linear, "tri"), (.equalPower, "qsin"), (.sCurve, "hsin")])
  func `its joints are ffmpeg's acrossfade`(curve: FadeCurve, name: String) throws {
    let sound = TestSound.noise(amplitude: 0.4, stereo, frames: 40_000)
    let scratch = try ScratchFolder()
    try sound.writeWAV(to: scratch.file("in.wav"))
    let graph =
      "[0]atrim=end_sample=15000[a];[0]atrim=start_sample=22000,asetpts=N[b];"
      + "[a][b]acrossfade=ns=4800:c1=\(name):c2=\(name)"
    let output = try Reference.ffmpeg([
      "-i", scratch.file("in.wav"), "-filter_complex", graph, "-f", "f32le", "-",
    ])
    let expected = TestSound(rawFloats: output, sampleRate: Hertz(48_000), channelCount: 2)
    let splice = Splice(
      keeping: [0..<15_000, 22_000..<Int.max], crossfade: Frames(4800), curve: curve,
      format: stereo)
    let result = sound.processed(by: splice)
    #expect(result.frameCount == Frames(40_000 - 7000 - 4800))
    // Ours is symmetric about the middle, half a frame later than ffmpeg's.
    #expect(result.greatestDifference(from: expected) < 3e-4)
  }

  @Test func `nothing of what was cut out is heard`() {
    // A shout where it is cut.
    let sound = TestSound(stereo, frames: 9000) { _, frame in
      (3000..<5000).contains(frame) ? 1 : 0
    }
    let splice = Splice(
      keeping: [0..<3000, 5000..<Int.max], crossfade: Frames(400), curve: .equalPower,
      format: stereo)
    #expect(sound.processed(by: splice).peakAmplitude == 0)
  }

  @Test func `its timeline says where the sound went`() {
    let sound = TestSound(stereo, frames: 48_000) { channel, frame in
      Float(frame + channel) / 65_536
    }
    let splice = Splice(
      keeping: [4800..<19_200, 24_000..<Int.max], crossfade: Frames(480),
      droppingLast: Frames(9600), format: stereo)
    let result = sound.processed(by: splice, cuts: [1021])
    let timeline = splice.report()
    #expect(timeline.before == Seconds(1))
    #expect(timeline.after == result.frameCount.duration(at: Hertz(48_000)))
    #expect(timeline.pieces.count == 2)
    for frame in [4800, 10_000, 18_000, 24_500, 30_000, 38_399] {
      let place = timeline.place(of: Frames(frame).duration(at: Hertz(48_000)))
      let new = place.map { $0.frames(at: Hertz(48_000)).count } ?? -1
      #expect(new >= 0 && result.channels[1][new] == sound.channels[1][frame], "\(frame)")
    }
    for frame in [0, 4000, 20_000, 23_999, 39_000] {
      #expect(timeline.place(of: Frames(frame).duration(at: Hertz(48_000))) == nil)
    }
  }
}

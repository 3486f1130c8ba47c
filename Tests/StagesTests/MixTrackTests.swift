import Audio
import PipelineModel
import Platform
import SoundEngine
@testable import Stages
import TestSupport
import Testing

/// Which tracks of a mix are heard, and where they begin.
@Suite struct MixTrackTests {
  private let bench: MixBench
  private let mono = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  init() throws { bench = try MixBench() }

  @Test func `mute and solo as on any mixer`() throws {
    let paths = try bench.files([
      .constant(0.25, stereo, frames: 300), .constant(0.125, stereo, frames: 200),
    ])
    for code in 0..<16 {
      let bits = (0..<4).map { code >> $0 & 1 == 1 }
      let (mutes, solos) = ([bits[0], bits[1]], [bits[2], bits[3]])
      let settings = (0..<2).map { "{ mute: \(mutes[$0]), solo: \(solos[$0]) }" }
      let parameters = "tracks: [\(settings.joined(separator: ", "))]"
      let isHeard = (0..<2).map { track in
        if mutes[track] { return false }
        if solos[track] { return true }
        return !solos[0] && !solos[1]
      }
      guard isHeard.contains(true) else {
        #expect(throws: SpoolError.self, "\(parameters)") {
          try bench.mix(files: paths, parameters)
        }
        continue
      }
      let sum = try bench.mix(files: paths, parameters)
      let level: Float = (isHeard[0] ? 0.25 : 0) + (isHeard[1] ? 0.125 : 0)
      #expect(sum.channels[0][0] == level, "\(parameters)")
      #expect(sum.frameCount.count == (isHeard[0] ? 300 : 200), "\(parameters)")
    }
  }

  @Test func `a muted track is not read, be it what it may`() throws {
    let good = try bench.files([.constant(0.25, stereo, frames: 100)])
    let sum = try bench.mix(files: good + good, "tracks: [{}, { mute: true }]")
    #expect(sum.channels[0] == Array(repeating: 0.25, count: 100))
  }

  @Test(arguments: [
    ("1000 samples", 1100), ("0 s", 100), ("-30 samples", 70), ("12.5 ms", 700),
    ("-0.5 ms", 76), ("1 s", 48_100),
  ])
  func `offsets are exact to the sample`(offset: String, place: Int) throws {
    let impulse = TestSound.impulse(stereo, frames: 200, at: 100)
    let silence = TestSound.silence(stereo, frames: 10)
    for blockLength in [16_384, 64] {
      let sum = try bench.mix(
        [silence, impulse], "tracks: [{}, { offset: \(offset) }]", blockLength: blockLength)
      #expect(sum.channels[0].firstIndex(of: 1) == place)
      #expect(sum.frameCount.count == place + 100)
      #expect(sum.channels[1].count { $0 != 0 } == 1)
    }
  }

  @Test func `a track that ends before the mix begins is told of`() throws {
    let paths = try bench.files([
      .constant(0.5, stereo, frames: 100), .constant(0.25, stereo, frames: 50),
    ])
    let (source, outline) = try bench.source(paths, "tracks: [{}, { offset: -60 samples }]")
    let sum = try bench.read(source)
    #expect(sum.channels[0] == Array(repeating: 0.5, count: 100))
    #expect(outline.frames == Frames(100))
    #expect(source.warnings == ["track 2 ends before the mix begins"])
  }

  @Test(.enabled(if: SoundFacts.areAvailable, "the ffmpeg program is not installed"))
  func `time stamps of Broadcast WAV place tracks, counted from the earliest`() throws {
    let plain = try bench.files([.impulse(stereo, frames: 100), .impulse(stereo, frames: 100)])
    var stamped: [String] = []
    for (index, stamp) in [172_801_500, 172_800_000].enumerated() {
      let path = bench.file("stamped-\(index).wav")
      try Reference.ffmpeg([
        "-i", plain[index], "-c:a", "pcm_f32le", "-write_bext", "1", "-metadata",
        "time_reference=\(stamp)", path,
      ])
      stamped.append(path)
    }
    let settings = "tracks: [{ offset: timestamp }, { offset: timestamp }]"
    let sum = try bench.mix(files: stamped, settings)
    #expect(sum.channels[0].indices.filter { sum.channels[0][$0] != 0 } == [0, 1500])
    #expect(throws: SpoolError.self) { try bench.mix(files: [plain[0], stamped[1]], settings) }
  }

  @Test func `settings for more tracks than came in are a mistake`() throws {
    let paths = try bench.files([.constant(0.5, stereo, frames: 10)])
    #expect(throws: SpoolError.self) { try bench.mix(files: paths, "tracks: [{}, {}]") }
  }
}

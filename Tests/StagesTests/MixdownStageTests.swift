import AudioModel
import DSP
import Foundation
import PipelineFile
import PipelineModel
import TestSupport
import Testing

@testable import PipelineEngine
@testable import Stages

/// Mixes of files on the disk, sample by sample.
@Suite struct MixdownStageTests {
  private let scratch: ScratchFolder
  private let mono = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  init() throws { scratch = try ScratchFolder() }

  private func files(_ sounds: [TestSound]) throws -> [String] {
    try sounds.enumerated().map { index, sound in
      let path = scratch.file("track-\(index).wav")
      try sound.writeWAV(to: path)
      return path
    }
  }

  /// The stage's source over files, its settings written as in a pipeline.
  private func source(
    _ paths: [String], _ parameters: String, blockLength: Int? = nil
  ) throws -> (source: MixSource, outline: SoundOutline) {
    let descriptor = MixdownStage.descriptor
    let node = try #require(YAMLDocument("{ \(parameters) }").root)
    var resolver = ParameterResolver(owner: "mixdown")
    let value = resolver.resolve(node, as: descriptor.parameters)
    #expect(resolver.problems.map(\.message) == [])
    let made = try StageRegistration(MixdownStage.self).make(value)
    let stage = try #require(made as? MixdownStage)
    var inputs: [SoundInput] = []
    for (index, path) in paths.enumerated() {
      inputs.append(
        try SoundInput(
          PassOrder.SourceInput(
            place: PortName("tracks.\(index + 1)"), origin: .recording(input: "", path: path)),
          in: nil))
    }
    let layout = try stage.layout(inputs)
    let length = Frames(blockLength ?? SoundStream.blockLength.count)
    return (MixSource(layout, blockLength: length), try stage.outline(of: inputs))
  }

  private func mix(
    _ sounds: [TestSound], _ parameters: String = "", blockLength: Int? = nil
  ) throws -> TestSound {
    try mix(files: files(sounds), parameters, blockLength: blockLength)
  }

  private func mix(
    files: [String], _ parameters: String = "", blockLength: Int? = nil
  ) throws -> TestSound {
    try read(source(files, parameters, blockLength: blockLength).source, blockLength)
  }

  private func read(_ source: MixSource, _ blockLength: Int? = nil) throws -> TestSound {
    var sound = TestSound(
      sampleRate: source.outline.format.sampleRate,
      channels: Array(repeating: [], count: source.outline.format.channelCount))
    var buffer = AudioBuffer(
      channelCount: source.outline.format.channelCount,
      capacity: Frames(blockLength ?? SoundStream.blockLength.count))
    while try source.read(into: &buffer) { sound.append(buffer) }
    return sound
  }

  // MARK: Sums

  @Test func `a track and its inverse are silence to the last bit`() throws {
    let sound = TestSound.babble(stereo, frames: 40_000)
    let settings = "tracks: [{ volume: 0.77, pan: 0.3 }, { volume: 0.77, pan: 0.3 }]"
    let sum = try mix([sound, sound.map { -$0 }], settings)
    #expect(sum.frameCount.count == 40_000)
    #expect(sum.peakAmplitude == 0)
    #expect(
      try mix([sound], settings.replacing(", { volume: 0.77, pan: 0.3 }", with: ""))
        .peakAmplitude > 0.1)
  }

  @Test func `faders, gains, pans and the master multiply`() throws {
    let one = TestSound.noise(seed: 1, mono, frames: 20_000)
    let two = TestSound.noise(seed: 2, stereo, frames: 20_000)
    let sum = try mix(
      [one, two],
      """
      master-volume: 0.5, pan-law: -6 dB,
      tracks: [{ volume: 1.5, pan: 0.5 }, { gain: -6 dB, pan: -0.25 }]
      """)
    let quieter = pow(10, -6.0 / 20)
    for frame in stride(from: 0, to: 20_000, by: 7) {
      let left =
        0.5
        * (1.5 * 0.25 * Double(one.channels[0][frame])
          + quieter * Double(two.channels[0][frame]))
      let right =
        0.5
        * (1.5 * 0.75 * Double(one.channels[0][frame])
          + quieter * 0.75 * Double(two.channels[1][frame]))
      #expect(abs(Double(sum.channels[0][frame]) - left) < 1e-7)
      #expect(abs(Double(sum.channels[1][frame]) - right) < 1e-7)
    }
  }

  @Test func `a mono mix takes mono tracks whole and the mean of stereo tracks`() throws {
    let one = TestSound.noise(amplitude: 0.4, seed: 1, mono, frames: 500)
    let two = TestSound.noise(amplitude: 0.4, seed: 2, stereo, frames: 500)
    let sum = try mix([one, two], "channels: 1, tracks: [{ pan: 1 }, { pan: -1 }]")
    #expect(sum.format.channelCount == 1)
    for frame in 0..<500 {
      let expected = one.channels[0][frame] + (two.channels[0][frame] + two.channels[1][frame]) / 2
      #expect(abs(sum.channels[0][frame] - expected) < 1e-6)
    }
  }

  @Test(.enabled(if: SoundFacts.areAvailable, "the ffmpeg program is not installed"))
  func `agrees with ffmpeg over rates, channels, lengths, offsets and gains`() throws {
    let paths = try files([
      TestSound.babble(amplitude: 0.3, seed: 1, stereo, frames: 70_000),
      TestSound.babble(
        amplitude: 0.3, seed: 2, AudioFormat(sampleRate: Hertz(44_100), channelCount: 1),
        frames: 50_000),
      TestSound.babble(
        amplitude: 0.3, seed: 3, AudioFormat(sampleRate: Hertz(22_050), channelCount: 2),
        frames: 40_000),
    ])
    let sum = try mix(
      files: paths,
      """
      tracks: [{ volume: 0.9 }, { volume: 0.5, pan: -1, offset: 0.25 s },
        { gain: 3 dB, pan: 1, offset: 3000 samples }]
      """)
    let output = try Reference.ffmpeg(
      paths.flatMap { ["-i", $0] } + [
        "-filter_complex",
        """
        [0]volume=0.9[a];\
        [1]aresample=48000,volume=0.5,pan=stereo|c0=c0|c1=0*c0,adelay=12000S:all=1[b];\
        [2]aresample=48000,volume=3dB,pan=stereo|c0=0*c0|c1=c1,adelay=3000S:all=1[c];\
        [a][b][c]amix=inputs=3:normalize=0:duration=longest
        """, "-f", "f32le", "-",
      ])
    let expected = TestSound(rawFloats: output, sampleRate: Hertz(48_000), channelCount: 2)
    #expect(abs(sum.frameCount.count - expected.frameCount.count) <= 64)
    let common = 0..<min(sum.frameCount.count, expected.frameCount.count)
    #expect(sum[common].greatestDifference(from: expected[common]) < 1e-5)
    #expect(sum.peakAmplitude > 0.3)
  }

  // MARK: Who is heard

  @Test func `mute and solo as on any mixer`() throws {
    let paths = try files([
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
        #expect(throws: StageError.self, "\(parameters)") { try mix(files: paths, parameters) }
        continue
      }
      let sum = try mix(files: paths, parameters)
      let level: Float = (isHeard[0] ? 0.25 : 0) + (isHeard[1] ? 0.125 : 0)
      #expect(sum.channels[0][0] == level, "\(parameters)")
      #expect(sum.frameCount.count == (isHeard[0] ? 300 : 200), "\(parameters)")
    }
  }

  @Test func `a muted track is not read, be it what it may`() throws {
    let good = try files([.constant(0.25, stereo, frames: 100)])
    let sum = try mix(files: good + good, "tracks: [{}, { mute: true }]")
    #expect(sum.channels[0] == Array(repeating: 0.25, count: 100))
  }

  // MARK: Where tracks begin

  @Test(arguments: [
    ("1000 samples", 1100), ("0 s", 100), ("-30 samples", 70), ("12.5 ms", 700),
    ("-0.5 ms", 76), ("1 s", 48_100),
  ])
  func `offsets are exact to the sample`(offset: String, place: Int) throws {
    let impulse = TestSound.impulse(stereo, frames: 200, at: 100)
    let silence = TestSound.silence(stereo, frames: 10)
    for blockLength in [16_384, 64] {
      let sum = try mix(
        [silence, impulse], "tracks: [{}, { offset: \(offset) }]", blockLength: blockLength)
      #expect(sum.channels[0].firstIndex(of: 1) == place)
      #expect(sum.frameCount.count == place + 100)
      #expect(sum.channels[1].count { $0 != 0 } == 1)
    }
  }

  @Test func `a track that ends before the mix begins is told of`() throws {
    let paths = try files([
      .constant(0.5, stereo, frames: 100), .constant(0.25, stereo, frames: 50),
    ])
    let (source, outline) = try source(paths, "tracks: [{}, { offset: -60 samples }]")
    let sum = try read(source)
    #expect(sum.channels[0] == Array(repeating: 0.5, count: 100))
    #expect(outline.frames == Frames(100))
    #expect(source.warnings == ["track 2 ends before the mix begins"])
  }

  @Test(.enabled(if: SoundFacts.areAvailable, "the ffmpeg program is not installed"))
  func `time stamps of Broadcast WAV place tracks, counted from the earliest`() throws {
    let plain = try files([.impulse(stereo, frames: 100), .impulse(stereo, frames: 100)])
    var stamped: [String] = []
    for (index, stamp) in [172_801_500, 172_800_000].enumerated() {
      let path = scratch.file("stamped-\(index).wav")
      try Reference.ffmpeg([
        "-i", plain[index], "-c:a", "pcm_f32le", "-write_bext", "1", "-metadata",
        "time_reference=\(stamp)", path,
      ])
      stamped.append(path)
    }
    let settings = "tracks: [{ offset: timestamp }, { offset: timestamp }]"
    let sum = try mix(files: stamped, settings)
    #expect(sum.channels[0].indices.filter { sum.channels[0][$0] != 0 } == [0, 1500])
    #expect(throws: StageError.self) { try mix(files: [plain[0], stamped[1]], settings) }
  }

  // MARK: What depends on the whole

  private static let everything = """
    match: -23 LUFS, headroom: reduce, ceiling: -6 dBTP, pan-law: -4.5 dB,
    tracks: [{ name: voice, voice: true, pan: 0.2 },
      { name: music, volume: 1.5, offset: 1234 samples }, { voice: true, pan: -1 }],
    duck: { track: music, by: voice, threshold: -30 dB, amount: -9 dB }
    """

  private func everySound() -> [TestSound] {
    [
      .babble(amplitude: 0.1, seed: 1, mono, frames: 90_000),
      .noise(amplitude: 0.9, seed: 2, stereo, frames: 120_000),
      .babble(amplitude: 0.5, seed: 3, mono, frames: 100_001),
    ]
  }

  @Test func `the mix does not depend on how it is cut into blocks`() throws {
    let paths = try files(everySound())
    let whole = try mix(files: paths, Self.everything)
    #expect(whole.frameCount.count == 121_234)
    for blockLength in [4096, 777] {
      let cut = try mix(files: paths, Self.everything, blockLength: blockLength)
      #expect(cut.firstDifference(from: whole) == nil)
    }
  }

  @Test func `stems add up to the mix`() throws {
    let paths = try files(everySound())
    let whole = try mix(files: paths, Self.everything)
    let stems = try (1...3).map { try mix(files: paths, Self.everything + ", stem: \($0)") }
    for channel in 0...1 {
      for frame in stride(from: 0, to: whole.frameCount.count, by: 11) {
        let sum = stems.reduce(Float(0)) {
          $0 + (frame < $1.frameCount.count ? $1.channels[channel][frame] : 0)
        }
        #expect(abs(sum - whole.channels[channel][frame]) < 1e-6)
      }
    }
    #expect(throws: StageError.self) {
      try mix(files: paths, "stem: 2, tracks: [{ solo: true }]")
    }
    #expect(throws: StageError.self) { try mix(files: paths, "stem: 4") }
  }

  @Test func `voices are brought to one loudness, and silence to none`() throws {
    let paths = try files([
      .babble(amplitude: 0.05, seed: 1, mono, frames: 96_000),
      .babble(amplitude: 0.6, seed: 2, mono, frames: 96_000), .silence(mono, frames: 96_000),
    ])
    let parameters = """
      channels: 1, match: -20 LUFS, tracks: [{ voice: true }, { voice: true }, { voice: true }]
      """
    for stem in 1...2 {
      let voice = try mix(files: paths, parameters + ", stem: \(stem)")
      let loudness = try #require(try voice.loudnessByFFmpeg()?.integrated)
      #expect(abs(loudness + 20) < 0.15)
    }
    let (source, _) = try source(paths, parameters)
    _ = try read(source)
    #expect(source.warnings.contains { $0.hasPrefix("track 3 is silent") })
    #expect(throws: StageError.self) { try mix(files: paths, "match: -20 LUFS") }
  }

  @Test func `headroom turns the whole down to its ceiling, and never up`() throws {
    let loud = TestSound.noise(amplitude: 0.9, seed: 5, stereo, frames: 60_000)
    let paths = try files([loud, loud])
    let (plain, _) = try source(paths, "")
    #expect(try read(plain).peakAmplitude > 1.7)
    #expect(plain.warnings.count == 1 && plain.warnings[0].contains("dB over full scale"))
    let (reduced, _) = try source(paths, "headroom: reduce")
    let sum = try read(reduced)
    #expect(reduced.warnings == [])
    let peak = try #require(try sum.truePeakBySox())
    // What two resamplers make of noise up to the Nyquist frequency differs.
    #expect(abs(peak.value + 1) < 0.5)
    let quiet = try mix(files: [paths[0]], "master-volume: 0.3, headroom: reduce")
    #expect(quiet.isBitIdentical(to: try mix(files: [paths[0]], "master-volume: 0.3")))
  }

  @Test func `music gives way before the voice begins, and comes back after it`() throws {
    let voice = TestSound(mono, frames: 144_000) { _, frame in
      (48_000..<72_000).contains(frame) ? 0.5 : 0
    }
    let music = TestSound.constant(0.25, stereo, frames: 144_000)
    let parameters = """
      tracks: [{ name: voice, volume: 0.9 }, { name: music }],
      duck: { track: music, by: voice, amount: -12 dB, attack: 10 ms, hold: 100 ms,
        release: 100 ms, look-ahead: 100 ms }
      """
    let sum = try mix([voice, music], parameters + ", stem: 2").channels[0]
    let depth = Float(0.25 * pow(10, -12.0 / 20))
    #expect(sum[..<43_200].allSatisfy { $0 == 0.25 })
    #expect(sum[43_199 + 480] < 0.25 && sum[48_000] < depth * 1.01)
    #expect(sum[48_000..<67_200].allSatisfy { $0 < depth * 1.01 && $0 > depth * 0.99 })
    #expect(sum[72_100] > depth * 1.01)
    #expect(abs(sum[143_999] - 0.25) < 1e-3)
    // Whoever is not heard moves nobody.
    let alone = try mix(
      [voice, music], parameters.replacing("volume: 0.9", with: "mute: true"))
    #expect(alone.channels[0].allSatisfy { $0 == 0.25 })
    #expect(throws: StageError.self) {
      try mix([voice, music], parameters.replacing("by: voice", with: "by: vioce"))
    }
    #expect(throws: StageError.self) {
      try mix([voice, music], parameters.replacing("by: voice", with: "by: 2"))
    }
  }

  @Test func `settings for more tracks than came in are a mistake`() throws {
    let paths = try files([.constant(0.5, stereo, frames: 10)])
    #expect(throws: StageError.self) { try mix(files: paths, "tracks: [{}, {}]") }
  }
}

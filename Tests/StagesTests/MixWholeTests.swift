import Audio
import Foundation
import PipelineModel
import Platform
@testable import Stages
import TestSupport
import Testing

/// What is decided for a mix as a whole: matching, ducking, headroom and stems.
@Suite struct MixWholeTests {
  private let bench: MixBench
  private let mono = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  init() throws { bench = try MixBench() }

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
    let paths = try bench.files(everySound())
    let whole = try bench.mix(files: paths, Self.everything)
    #expect(whole.frameCount.count == 121_234)
    for blockLength in [4096, 777] {
      let cut = try bench.mix(files: paths, Self.everything, blockLength: blockLength)
      #expect(cut.firstDifference(from: whole) == nil)
    }
  }

  @Test func `stems add up to the mix`() throws {
    let paths = try bench.files(everySound())
    let whole = try bench.mix(files: paths, Self.everything)
    let stems = try (1...3).map { try bench.mix(files: paths, Self.everything + ", stem: \($0)") }
    for channel in 0...1 {
      for frame in stride(from: 0, to: whole.frameCount.count, by: 11) {
        let sum = stems.reduce(Float(0)) {
          $0 + (frame < $1.frameCount.count ? $1.channels[channel][frame] : 0)
        }
        #expect(abs(sum - whole.channels[channel][frame]) < 1e-6)
      }
    }
    #expect(throws: SpoolError.self) {
      try bench.mix(files: paths, "stem: 2, tracks: [{ solo: true }]")
    }
    #expect(throws: SpoolError.self) { try bench.mix(files: paths, "stem: 4") }
  }

  @Test func `voices are brought to one loudness, and silence to none`() throws {
    let paths = try bench.files([
      .babble(amplitude: 0.05, seed: 1, mono, frames: 96_000),
      .babble(amplitude: 0.6, seed: 2, mono, frames: 96_000), .silence(mono, frames: 96_000),
    ])
    let parameters = """
      channels: 1, match: -20 LUFS, tracks: [{ voice: true }, { voice: true }, { voice: true }]
      """
    for stem in 1...2 {
      let voice = try bench.mix(files: paths, parameters + ", stem: \(stem)")
      let loudness = try #require(try voice.loudnessByFFmpeg()?.integrated)
      #expect(abs(loudness + 20) < 0.15)
    }
    let (source, _) = try bench.source(paths, parameters)
    _ = try bench.read(source)
    #expect(source.warnings.contains { $0.hasPrefix("track 3 is silent") })
    #expect(throws: SpoolError.self) { try bench.mix(files: paths, "match: -20 LUFS") }
  }

  @Test func `headroom turns the whole down to its ceiling, and never up`() throws {
    let loud = TestSound.noise(amplitude: 0.9, seed: 5, stereo, frames: 60_000)
    let paths = try bench.files([loud, loud])
    let (plain, _) = try bench.source(paths, "")
    #expect(try bench.read(plain).peakAmplitude > 1.7)
    #expect(plain.overload?.contains("dB over full scale") == true && plain.warnings == [])
    let (reduced, _) = try bench.source(paths, "headroom: reduce")
    let sum = try bench.read(reduced)
    #expect(reduced.overload == nil && reduced.warnings == [])
    let peak = try #require(try sum.truePeakBySox())
    // What two resamplers make of noise up to the Nyquist frequency differs.
    #expect(abs(peak.value + 1) < 0.5)
    let quiet = try bench.mix(files: [paths[0]], "master-volume: 0.3, headroom: reduce")
    #expect(quiet.isBitIdentical(to: try bench.mix(files: [paths[0]], "master-volume: 0.3")))
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
    let sum = try bench.mix([voice, music], parameters + ", stem: 2").channels[0]
    let depth = Float(0.25 * pow(10, -12.0 / 20))
    #expect(sum[..<43_200].allSatisfy { $0 == 0.25 })
    #expect(sum[43_199 + 480] < 0.25 && sum[48_000] < depth * 1.01)
    #expect(sum[48_000..<67_200].allSatisfy { $0 < depth * 1.01 && $0 > depth * 0.99 })
    #expect(sum[72_100] > depth * 1.01)
    #expect(abs(sum[143_999] - 0.25) < 1e-3)
    // Whoever is not heard moves nobody.
    let alone = try bench.mix(
      [voice, music], parameters.replacing("volume: 0.9", with: "mute: true"))
    #expect(alone.channels[0].allSatisfy { $0 == 0.25 })
    #expect(throws: SpoolError.self) {
      try bench.mix([voice, music], parameters.replacing("by: voice", with: "by: vioce"))
    }
    #expect(throws: SpoolError.self) {
      try bench.mix([voice, music], parameters.replacing("by: voice", with: "by: 2"))
    }
  }

  @Test func `all tracks of a role give way to all of another, once however many are heard`() throws
  {
    let frames = 96_000
    let voices = [0..<48_000, 24_000..<72_000].map { range in
      TestSound(mono, frames: frames) { _, frame in range.contains(frame) ? 0.5 : 0 }
    }
    let music = TestSound.constant(0.25, stereo, frames: frames)
    let tracks = """
      tracks: [{ role: voice }, { voice: true }, { role: music }, { name: bell, role: effects }],
      """
    let duck =
      "duck: { role: music, by-role: voice, amount: -12 dB, attack: 1 ms, look-ahead: 0 ms }"
    let depth = Float(0.25 * pow(10, -12.0 / 20))
    let sum = try bench.mix(voices + [music, music], "\(tracks) \(duck), stem: 3").channels[0]
    // While one is heard, both, and the other.
    for range in [4800..<24_000, 26_000..<48_000, 50_000..<72_000] {
      #expect(sum[range].allSatisfy { abs($0 - depth) < 0.01 * depth })
    }
    let bell = try bench.mix(voices + [music, music], "\(tracks) \(duck), stem: 4").channels[0]
    #expect(bell.allSatisfy { $0 == 0.25 })
    // One voice alone, by its name: as with a role that only it has.
    let one = try bench.mix(
      [voices[0], music],
      "tracks: [{ role: voice }, { role: music }], \(duck), stem: 2")
    let named = try bench.mix(
      [voices[0], music],
      "tracks: [{ name: v }, { name: m }], stem: 2, "
        + duck.replacing("role: music, by-role: voice", with: "track: m, by: v"))
    #expect(one.isBitIdentical(to: named))
  }

  @Test
  func `a role that no track has ducks nothing, with a note; both ways of naming are refused`()
    throws
  {
    let paths = try bench.files([.constant(0.25, stereo, frames: 4800)])
    let (source, _) = try bench.source(paths, "duck: { role: music, by-role: voice }")
    #expect(try bench.read(source).channels[0].allSatisfy { $0 == 0.25 })
    #expect(
      source.warnings == [
        "no track has the role voice or music, so nothing is ducked for want of it"
      ])
    for wrong in [
      "role: music", "by: 1", "role: music, track: 1, by: 1", "track: 1, by: 1, by-role: voice",
    ] {
      #expect(throws: SpoolError.self, "\(wrong)") {
        try bench.source(paths, "duck: { \(wrong) }")
      }
    }
  }

  @Test(arguments: [("vox", true), ("1", true), ("voxx", false)])
  func `a duck that names no track is told before any work, unless a session may name it`(
    by: String, isRight: Bool
  ) {
    func problems(_ inputs: String, _ session: String) -> [String] {
      let text = """
        pipeline: checked
        inputs: { a: sound, b: sound\(inputs) }
        stages:
          - mixdown: { from: [$a, $b]\(session), tracks: [{ name: vox }, { name: gtr }], duck: [{ track: gtr, by: \(by) }] }
          - export: wav
        """
      let parsed = ParsedPipeline(text, knownKinds: StageCatalog.builtIn.kinds)
      guard let definition = parsed.definition, parsed.problems.isEmpty else {
        return parsed.problems.map(\.message)
      }
      return Plan.problems(in: definition, catalog: .builtIn).map(\.message)
    }
    let found = problems("", "")
    #expect(found.isEmpty == isRight, "\(found)")
    #expect(isRight || found[0].hasPrefix("there is no track \"voxx\" to duck with"), "\(found)")
  }
}

import Audio
import Foundation
import PipelineModel
import Plugins
@testable import Stages
import SoundEngine
import TestSupport
import Testing

@Suite(
  "The plugins that come with Spool do what their pages say",
  .enabled(if: Program(named: "python3") != nil, "there is no python3"))
struct ShippedPluginTests {
  private static let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  /// A low tone that goes on, and a hiss that comes and goes, in both channels.
  private static func speech(hiss: Double, frames: Int) -> TestSound {
    TestSound(format, frames: frames) { channel, frame in
      let time = Double(frame) / 48_000
      let isHissing = frame / 12_000 % 2 == 1
      let low: Double = 0.2 * sin(2 * .pi * 200 * time)
      let high: Double = isHissing ? hiss * sin(2 * .pi * 9000 * time + Double(channel)) : 0
      return Float(low + high)
    }
  }

  private func deesser(
    _ settings: String = "{ frequency: 5 kHz, threshold: -30 dB }"
  ) throws -> PluginProcessor {
    let registry = PluginRegistry(folder: PackageFiles.plugin("deesser-python"))
    let plugin = try #require(registry.plugins.first)
    let kind = try #require(plugin.manifest.kinds.first)
    var resolver = ParameterResolver(owner: kind.kind)
    let parameters = resolver.resolve(
      try #require(YAMLDocument(settings).root), as: kind.parameters)
    try #require(resolver.problems.isEmpty)
    return try PluginProcessor(
      plugin, kind: kind, parameters: parameters, format: Self.format,
      launcher: try SpoolProgram.program.path)
  }

  /// The level of a tone of `frequency` in the first channel.
  private func level(_ frequency: Double, of sound: TestSound, _ range: Range<Int>) -> Double {
    var (sine, cosine) = (0.0, 0.0)
    for frame in range {
      let angle: Double = 2 * .pi * frequency * Double(frame) / 48_000
      sine += Double(sound.channels[0][frame]) * sin(angle)
      cosine += Double(sound.channels[0][frame]) * cos(angle)
    }
    let amplitude = 2 * (sine * sine + cosine * cosine).squareRoot() / Double(range.count)
    return 20 * log10(max(amplitude, 1e-9))
  }

  @Test("the de-esser takes hissing down, and leaves what is low or quiet")
  func deessing() throws {
    func treated(_ sound: TestSound) throws -> TestSound {
      let processor = try deesser()
      var result = TestSound(sampleRate: sound.format.sampleRate, channels: [[], []])
      result.appendOutput(of: processor, given: sound[0..<sound.frameCount.count], cuts: [4096])
      result.appendRemains(of: processor)
      try #require(processor.failure == nil, "\(String(describing: processor.failure))")
      return result
    }
    let loud = Self.speech(hiss: 0.3, frames: 48_000)
    let result = try treated(loud)
    #expect(result.frameCount == loud.frameCount)
    // In the midst of a hiss.
    let middle = 16_800..<21_600
    let taken = level(9000, of: loud, middle) - level(9000, of: result, middle)
    #expect(taken > 4, "\(taken) dB")
    #expect(abs(level(200, of: loud, middle) - level(200, of: result, middle)) < 0.5)
    // Between two of them, long after the first let go.
    let pause = 31_200..<36_000
    #expect(abs(level(200, of: loud, pause) - level(200, of: result, pause)) < 0.5)
    // What does not pass the threshold comes out as it went in, to the last digits.
    let quiet = Self.speech(hiss: 0.005, frames: 24_000)
    let untouched = try treated(quiet)
    let worst = zip(quiet.channels[1], untouched.channels[1]).map { abs($0 - $1) }.max() ?? 1
    #expect(worst < 1e-6)
  }

  @Test("the de-esser goes on from its state in another process, to the same bytes")
  func handover() throws {
    let sound = Self.speech(hiss: 0.3, frames: 40_000)
    func processed(handover: Int?) throws -> TestSound {
      var processor = try deesser()
      var result = TestSound(sampleRate: Self.format.sampleRate, channels: [[], []])
      let split = handover ?? 0
      result.appendOutput(of: processor, given: sound[0..<split], cuts: [1000])
      if handover != nil {
        #expect(processor.isResumable)
        let next = try deesser()
        try next.restore(processor.snapshot)
        processor = next
      }
      result.appendOutput(of: processor, given: sound[split..<40_000], cuts: [8192, 77])
      result.appendRemains(of: processor)
      try #require(processor.failure == nil, "\(String(describing: processor.failure))")
      return result
    }
    #expect(try processed(handover: nil).firstDifference(from: processed(handover: 17_001)) == nil)
  }

  @Test("the program of the de-esser is as short as its page says")
  func length() throws {
    let text = try String(
      contentsOfFile: PackageFiles.plugin("deesser-python/deesser.py"), encoding: .utf8)
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 21)
  }

  @Test(
    "warm-voice goes through a gate in Swift, a de-esser in Python and a curve in C",
    .enabled(if: Program(named: "swiftc") != nil, "there is no swiftc"),
    .enabled(if: Program(named: "cc") != nil, "there is no C compiler"),
    .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
  func warmVoice() throws {
    let place = try PluginPlace()
    for name in ["softclip-c", "loudness-gate-swift"] { try place.build(name) }
    try place.copy("deesser-python")
    let pipeline = try place.place.pipeline(
      String(contentsOfFile: PackageFiles.pipeline("warm-voice.yaml"), encoding: .utf8))
    let run = try place.place.run(pipeline, [PackageFiles.sample("note-1.m4a")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.place.exports == ["note-1.warm.flac"])
    for step in ["loudness-gate", "deesser-python", "softclip"] {
      #expect(run.made.contains(step), "\(run.made)")
    }
    #expect(run.findings["softclip"]?.contains("\"bent\"") == true)
    let levels = try Reference.loudness(of: "\(place.place.out)/note-1.warm.flac")
    #expect(abs(levels.integrated + 16) < 0.2, "\(levels)")
    #expect(levels.truePeak < -0.8, "\(levels)")
    // All of it is kept, and nothing is done twice.
    #expect(try place.place.run(pipeline, [PackageFiles.sample("note-1.m4a")]).made == [])
  }
}

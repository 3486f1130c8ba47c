import Audio
import Foundation
@testable import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import TestSupport
import Testing

/// Files on the disk as one sound, sample by sample.
@Suite struct ConcatStageTests {
  private let scratch: ScratchFolder
  private static let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
  private static let mono = AudioFormat(sampleRate: Hertz(44_100), channelCount: 1)

  init() throws { scratch = try ScratchFolder() }

  private func source(
    _ sounds: [TestSound], _ parameters: String = ""
  ) throws -> (source: any SoundSource, outline: SoundOutline) {
    let node = try #require(YAMLDocument("{ \(parameters) }").root)
    var resolver = ParameterResolver(owner: "concat")
    let value = resolver.resolve(node, as: ConcatStage.descriptor.parameters)
    #expect(resolver.problems.map(\.message) == [])
    let made = try StageRegistration(ConcatStage.self).make(value)
    let stage = try #require(made as? ConcatStage)
    var inputs: [SoundInput] = []
    for (index, sound) in sounds.enumerated() {
      let path = scratch.file("part-\(index).wav")
      try sound.writeWAV(to: path)
      inputs.append(
        try SoundInput(
          PassOrder.SourceInput(
            place: PortName("parts.\(index + 1)"), origin: .recording(input: "", SourceFile(path))),
          in: nil))
    }
    let outline = try stage.outline(of: inputs)
    return (try stage.open(inputs), outline)
  }

  /// What comes out, and whether every block but the last was full.
  private func read(_ source: any SoundSource, _ blockLength: Int = 16_384) throws -> TestSound {
    var sound = TestSound(
      sampleRate: source.outline.format.sampleRate,
      channels: Array(repeating: [], count: source.outline.format.channelCount))
    var buffer = AudioBuffer(
      channelCount: source.outline.format.channelCount, capacity: Frames(blockLength))
    var wasFull = true
    while try source.read(into: &buffer) {
      #expect(wasFull, "a pass that goes on has to meet the same blocks again")
      wasFull = buffer.frameCount == buffer.capacity
      sound.append(buffer)
    }
    return sound
  }

  private func joined(_ sounds: [TestSound]) -> [[Float]] {
    [0, 1].map { channel in sounds.flatMap { $0.channels[channel] } }
  }

  @Test func `parts follow each other bit for bit`() throws {
    let parts = [40_000, 1, 16_384].map { TestSound.noise(Self.stereo, frames: $0) }
    let (source, outline) = try source(parts)
    #expect(outline == SoundOutline(format: Self.stereo, frames: Frames(56_385)))
    #expect(try read(source).channels == joined(parts))
    let report = try #require(source.report())
    #expect(report.contains(#""duration":1.1746"#), "\(report)")
  }

  @Test(arguments: [777, 4096, 50_000])
  func `the whole does not depend on how it is cut into blocks`(blockLength: Int) throws {
    let parts = [
      TestSound.noise(Self.stereo, frames: 40_000), .babble(Self.mono, frames: 50_000),
      .noise(seed: 3, Self.stereo, frames: 30_000),
    ]
    let parameters = "crossfade: 100 ms, curve: s-curve"
    let whole = try read(source(parts, parameters).source)
    let (cut, outline) = try source(parts, parameters)
    #expect(try read(cut, blockLength).firstDifference(from: whole) == nil)
    #expect(outline.frames == whole.frameCount)
  }

  @Test func `other rates and channels are brought to the first part's`() throws {
    let first = TestSound.noise(Self.stereo, frames: 1000)
    let second = TestSound.sine(Hertz(1000), Self.mono, frames: 44_100)
    let whole = try read(source([first, second]).source)
    #expect(whole.format == Self.stereo)
    #expect(whole.frameCount == Frames(49_000))
    let fitted = second.processed(by: Resampler(to: Hertz(48_000), format: Self.mono))
    #expect(whole[1000..<49_000].channels == [fitted.channels[0], fitted.channels[0]])
    // The other way round: two channels become their mean.
    let other = try read(source([second, first]).source)
    #expect(other.format == Self.mono)
    #expect(other[0..<44_100].isBitIdentical(to: second))
  }

  @Test func `the rate and the channels can be chosen`() throws {
    let parts = [
      TestSound.noise(Self.stereo, frames: 4800), .noise(Self.mono, frames: 4410),
    ]
    let (source, outline) = try source(parts, "sample-rate: 96 kHz, channels: 1")
    let whole = try read(source)
    #expect(whole.format == AudioFormat(sampleRate: Hertz(96_000), channelCount: 1))
    #expect(whole.frameCount == Frames(19_200) && outline.frames == whole.frameCount)
  }

  @Test func `channels that nothing can be made of are refused by the part's name`() throws {
    let parts = [
      TestSound.noise(AudioFormat(sampleRate: Hertz(48_000), channelCount: 4), frames: 100),
      .noise(Self.stereo, frames: 100),
    ]
    let error = #expect(throws: SpoolError.self) { try source(parts) }
    #expect(error?.message == "part 2 (part-1.wav) has 2 channels, and the whole has 4")
    #expect(try read(source(parts, "channels: 2").source).frameCount == Frames(200))
  }

  @Test(arguments: [
    ([10_000, 4799], "part 2 (part-1.wav)", "0.1 s"),
    ([10_000, 9599, 10_000], "part 2 (part-1.wav)", "0.2 s"),
    ([4799, 10_000], "part 1 (part-0.wav)", "0.1 s"),
  ])
  func `a crossfade longer than a part is one clear error`(
    lengths: [Int], title: String, need: String
  ) throws {
    let parts = lengths.map { TestSound.noise(Self.stereo, frames: $0) }
    let error = #expect(throws: SpoolError.self) { try source(parts, "crossfade: 100 ms") }
    #expect(error?.message == "\(title) is too short for crossfades of 0.1 s")
    #expect(error?.reason?.hasSuffix("they take \(need)") == true, "\(error?.reason ?? "")")
    let longer = lengths.map { TestSound.noise(Self.stereo, frames: $0 + 1) }
    #expect(
      try read(source(longer, "crossfade: 100 ms").source).frameCount.count
        == lengths.reduce(0) { $0 + $1 + 1 } - 4800 * (lengths.count - 1))
  }

  @Test func `one part is itself`() throws {
    let part = TestSound.noise(Self.stereo, frames: 100)
    #expect(try read(source([part], "crossfade: 5 s").source).isBitIdentical(to: part))
  }
}

import Audio
import Foundation
@testable import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import TestSupport
import Testing

/// A scratch folder with tracks, and mixes of them as the mixdown stage makes them.
struct MixBench {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// The path of `name` in the folder.
  func file(_ name: String) -> String { scratch.file(name) }

  /// Writes sounds as tracks, and gives their paths.
  func files(_ sounds: [TestSound]) throws -> [String] {
    try sounds.enumerated().map { index, sound in
      let path = scratch.file("track-\(index).wav")
      try sound.writeWAV(to: path)
      return path
    }
  }

  /// The stage's source over files, its settings written as in a pipeline.
  func source(
    _ paths: [String], _ parameters: String, blockLength: Int? = nil
  ) throws -> (source: MixdownStage.Source, outline: SoundOutline) {
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
            place: PortName("tracks.\(index + 1)"), origin: .recording(input: "", SourceFile(path))),
          in: nil))
    }
    let layout = try stage.layout(inputs)
    let length = Frames(blockLength ?? SoundStream.blockLength.count)
    return (MixdownStage.Source(layout, blockLength: length), try stage.outline(of: inputs))
  }

  /// The mix of sounds.
  func mix(
    _ sounds: [TestSound], _ parameters: String = "", blockLength: Int? = nil
  ) throws -> TestSound {
    try mix(files: files(sounds), parameters, blockLength: blockLength)
  }

  /// The mix of files.
  func mix(
    files: [String], _ parameters: String = "", blockLength: Int? = nil
  ) throws -> TestSound {
    try read(source(files, parameters, blockLength: blockLength).source, blockLength)
  }

  /// All that a source gives.
  func read(_ source: MixdownStage.Source, _ blockLength: Int? = nil) throws -> TestSound {
    var sound = TestSound(
      sampleRate: source.outline.format.sampleRate,
      channels: Array(repeating: [], count: source.outline.format.channelCount))
    var buffer = AudioBuffer(
      channelCount: source.outline.format.channelCount,
      capacity: Frames(blockLength ?? SoundStream.blockLength.count))
    while try source.read(into: &buffer) { sound.append(buffer) }
    return sound
  }
}

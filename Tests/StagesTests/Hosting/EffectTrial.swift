import Audio
import PipelineModel
import Plugins
@testable import SoundEngine
@testable import Stages
import TestSupport
import Testing

/// A stage of `lv2` or `ladspa`, used as a pass uses it, with the built program as its host.
struct EffectTrial {
  let stage: HostedEffectStage

  /// Makes the stage from settings as a pipeline writes them.
  init(_ kind: String, _ settings: String) throws {
    let catalog = StageCatalog.builtIn.adding(
      PluginRegistry(), launcher: try SpoolProgram.program.path)
    let registration = try #require(catalog[kind])
    let node = try #require(YAMLDocument(settings).root)
    var resolver = ParameterResolver(owner: kind)
    let value = resolver.resolve(node, as: registration.descriptor.parameters)
    try #require(resolver.problems.map(\.message) == [], "\(kind) \(settings)")
    stage = try #require(try registration.make(value) as? HostedEffectStage)
  }

  /// What the plugin makes of a sound; throws what it failed with.
  func result(of sound: TestSound, cuts: [Int] = [4096]) throws -> TestSound {
    let processor = try stage.makeProcessor(for: sound.format)
    let result = sound.processed(by: processor, cuts: cuts)
    if let failure = (processor as? PluginProcessor)?.failure { throw failure }
    return result
  }

  /// What is installed.
  static func catalog(_ format: EffectFormat) throws -> EffectCatalog {
    try EffectRegistry(launcher: SpoolProgram.program.path).catalog(format)
  }
}

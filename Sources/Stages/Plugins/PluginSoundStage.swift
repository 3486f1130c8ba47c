import AudioModel
import PipelineModel
import PluginHost

/// A plugin's kind that changes sound as it flows by.
struct PluginSoundStage: SoundFilterStage, VersionedStage {
  let plugin: Plugin
  let kind: PluginManifest.Kind
  let parameters: Value
  /// The program that confines plugins.
  let launcher: String

  var libraries: [String: String] { FileDigests.texts(of: kind.files(parameters)) }

  var isRepeatable: Bool { plugin.manifest.isDeterministic }

  func makeProcessor(for format: AudioFormat) throws(StageError) -> any Processor {
    try FileDigests.check(kind.files(parameters), of: kind.kind)
    return try PluginProcessor(
      plugin, kind: kind, parameters: parameters, format: format, launcher: launcher)
  }
}

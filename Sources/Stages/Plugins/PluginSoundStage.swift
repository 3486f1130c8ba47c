import AudioModel
import PipelineModel
import PluginHost

/// A plugin's kind that changes sound as it flows by.
struct PluginSoundStage: SoundFilterStage, VersionedStage, EquippedStage {
  let plugin: Plugin
  let kind: PluginManifest.Kind
  let parameters: Value
  /// Files that the parameters name.
  let files: FileDigests
  /// What is known of what the plugin needs.
  let equipment: PluginEquipment
  /// The program that confines plugins.
  let launcher: String

  init(
    _ plugin: Plugin, kind: PluginManifest.Kind, parameters: Value, equipment: PluginEquipment,
    launcher: String
  ) {
    self.plugin = plugin
    self.equipment = equipment
    self.kind = kind
    self.parameters = parameters
    self.launcher = launcher
    files = FileDigests(
      kind.files(parameters), programs: kind.programs(parameters), of: plugin,
      defaults: kind.defaulted(parameters))
  }

  var libraries: [String: String] { files.texts }

  func checkEquipment() throws(StageError) {
    try equipment.check()
    try files.check(for: kind.kind)
  }

  var isRepeatable: Bool { plugin.manifest.isDeterministic }

  func makeProcessor(for format: AudioFormat) throws(StageError) -> any Processor {
    try files.check(for: kind.kind)
    return try PluginProcessor(
      plugin, kind: kind, parameters: parameters, format: format, launcher: launcher)
  }
}

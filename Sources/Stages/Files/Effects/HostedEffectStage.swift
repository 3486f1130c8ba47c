import Audio
import PipelineModel
import Platform
import Plugins
import SoundEngine

/// A stage whose work an LV2 or LADSPA plugin does, in a process of its own.
struct HostedEffectStage: SoundFilterStage, VersionedStage {
  private let effect: EffectDescription
  private let settings: EffectSettings
  private let registry: EffectRegistry
  private let launcher: String

  /// Holds what the user wrote against what the plugin can do.
  /// - Parameters:
  ///   - identity: the plugin.
  ///   - parameters: with `controls`, and perhaps `preset`.
  init(
    _ format: EffectFormat, _ identity: String, _ parameters: Value,
    registry: EffectRegistry,
    launcher: String
  ) throws(SpoolError) {
    let effect = try registry.description(format, identity)
    let page = "\(command: .stages) \(ShellWords.line(["\(format.rawValue):\(identity)"]))"
    if let reason = effect.refusal {
      throw SpoolError(
        "\(format.rawValue) cannot use \(identity)", reason: reason,
        advice: "\(command: .stages) \(format.rawValue) lists what treats sound")
    }
    settings = EffectSettings(
      (parameters["controls"]?.members ?? [:]).compactMapValues(\.text),
      preset: parameters["preset"]?.text, for: effect)
    guard settings.mistakes.isEmpty else {
      var error = SpoolError(
        "\(format.rawValue) cannot set \(identity)",
        reason: settings.mistakes.map(\.text).joined(separator: "; "),
        advice: "\(page) shows what can be set")
      error.faults = settings.mistakes.map { mistake in
        SpoolError.ParameterFault(
          at: mistake.control.map { ["controls", $0] } ?? ["preset"], mistake.text)
      }
      throw error
    }
    self.effect = effect
    self.registry = registry
    self.launcher = launcher
  }

  var libraries: [String: String] {
    [
      "\(effect.format.title) \(effect.identity)": registry.text(
        of: effect, preset: settings.preset)
    ]
  }

  func makeProcessor(for format: AudioFormat) throws(SpoolError) -> any Processor {
    try makeProcessor(for: format) { () throws(SpoolError) in }
  }

  func makeProcessor(
    for format: AudioFormat, check: @escaping @Sendable () throws(SpoolError) -> Void
  ) throws(SpoolError) -> any Processor {
    let process = registry.process(effect, settings)
    return try PluginProcessor(
      process.plugin, kind: process.kind, parameters: .group([:]), format: format,
      launcher: launcher, check: check)
  }
}

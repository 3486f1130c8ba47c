import PipelineModel
import Platform
import Plugins
import SoundEngine

extension StageRegistration {
  /// `lv2`: a plugin of the LV2 standard changes the sound.
  /// - Parameters:
  ///   - registry: the installed plugins.
  ///   - launcher: the program that confines plugins: Spool's own.
  static func lv2(_ registry: EffectRegistry, launcher: String) -> StageRegistration {
    StageRegistration(
      .soundFilter(
        "lv2", revision: 1,
        summary: "Treat sound with an LV2 plugin",
        discussion: """
          Any installed effect, named by its URI, in a process of its own. Its controls are set by \
          symbol, in the plugin's own units; those left out stand where the preset, or else the \
          plugin, puts them. Its latency is compensated. A plugin of one channel has an instance for \
          each; one of two treats mono sound as two equal channels and gives their mean. A plugin \
          cannot tell what it remembers of the sound, so that a pass with it begins anew after a \
          crash.
          """,
        parameters: [
          ParameterDescriptor(
            "uri", .text(maximumLength: 2000), .required,
            "which plugin; \(command: .stages) lv2 lists them"),
          ParameterDescriptor(
            "controls", .named(.text(maximumLength: 100), maximumCount: 1000), .optional,
            "values by symbol; \(command: .stages) lv2:URI shows them"),
          ParameterDescriptor(
            "preset", .text(maximumLength: 2000), .optional,
            "a preset to start from, by its label or URI"),
        ],
        shorthand: "uri", report: "what its meters showed last"),
      libraries: { [:] },
      make: { (value) throws(SpoolError) -> any Stage in
        guard value.members != nil else { throw SpoolError("lv2 needs a mapping") }
        return try HostedEffectStage(
          .lv2, value["uri"]?.text ?? "", value, registry: registry,
          launcher: launcher)
      })
  }
}

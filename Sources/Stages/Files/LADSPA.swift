import PipelineModel
import Platform
import Plugins
import SoundEngine

extension StageRegistration {
  /// `ladspa`: a plugin of the LADSPA standard changes the sound.
  /// - Parameters:
  ///   - registry: the installed plugins.
  ///   - launcher: the program that confines plugins: Spool's own.
  static func ladspa(_ registry: EffectRegistry, launcher: String) -> StageRegistration {
    StageRegistration(
      .soundFilter(
        "ladspa", revision: 1,
        summary: "Treat sound with a LADSPA plugin",
        discussion: """
          Any installed effect, named by its library and its label in it, in a process of its own. \
          Its controls are set by name, by the word that stands for the name, or by number from 1; \
          those left out stand where the plugin puts them. In everything else it is like lv2.
          """,
        parameters: [
          ParameterDescriptor(
            "library", .text(maximumLength: 2000), .required,
            "the library's file, without .so, or its path"),
          ParameterDescriptor(
            "label", .text(maximumLength: 200), .required,
            "which plugin in it; \(command: .stages) ladspa lists them"),
          ParameterDescriptor(
            "controls", .named(.text(maximumLength: 100), maximumCount: 1000), .optional,
            "values by name or number; \(command: .stages) ladspa:LIBRARY:LABEL shows them"),
        ],
        report: "what its meters showed last"),
      libraries: { [:] },
      make: { (value) throws(SpoolError) -> any Stage in
        guard value.members != nil else { throw SpoolError("ladspa needs a mapping") }
        let library = value["library"]?.text ?? ""
        let label = value["label"]?.text ?? ""
        return try HostedEffectStage(
          .ladspa, "\(library):\(label)", value, registry: registry, launcher: launcher)
      })
  }
}

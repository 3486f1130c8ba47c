import PipelineModel
import Speech

/// Which sounds and words a recogniser knows, as the stages that listen have it among their
/// parameters: all of its files by name, or none.
struct ModelChoice: Codable, Sendable {
  let model: String?
  let dictionary: String?
  let languageModel: String?

  /// How stages declare the sounds and the pronunciations.
  static let parameters = [
    ParameterDescriptor(
      "model", .text(maximumLength: 4096), .optional,
      "the folder of another acoustic model of CMU Sphinx"),
    ParameterDescriptor(
      "dictionary", .text(maximumLength: 4096), .optional,
      "the pronunciations that go with it, in the form of cmudict"),
  ]

  /// How a stage that knows no text declares what else it needs.
  static let languageModelParameter = ParameterDescriptor(
    "language-model", .text(maximumLength: 4096), .optional,
    "how likely its words follow each other: a file in the form of ARPA or of CMU Sphinx")

  /// The library that listens, which is part of the stages' keys.
  static var libraries: [String: String] { ["pocketsphinx": "0.8+5prealpha"] }

  /// The model for a stage that is given a text, or that finds out what is said.
  ///
  /// Throws where some of its files are named and others are not.
  func acousticModel(
    for stage: String, needsLanguageModel: Bool
  ) throws(StageError) -> AcousticModel {
    switch (model, dictionary, languageModel) {
    case (nil, nil, nil): return .english
    case (let model?, let dictionary?, let languageModel)
    where (languageModel != nil) == needsLanguageModel:
      return AcousticModel(folder: model, dictionary: dictionary, languageModel: languageModel)
    default:
      throw needsLanguageModel
        ? StageError(
          "\(stage) needs model, dictionary and language-model together",
          advice: "name all three, or none for US English")
        : StageError(
          "\(stage) needs model and dictionary together",
          advice: "name both, or neither for US English")
    }
  }
}

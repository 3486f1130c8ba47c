import PipelineModel
import Platform
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

  /// The version of libpocketsphinx, for the keys of the stages.
  static var libraries: [String: String] {
    ["pocketsphinx": SpeechLibraries.sphinxVersion ?? "missing"]
  }

  /// The files of a user's model, whose contents are in the stages' keys; none for the packaged model,
  /// which its package's version identifies.
  var files: FileDigests {
    let acoustic = AcousticModel(
      folder: model ?? "", dictionary: dictionary ?? "", languageModel: languageModel)
    guard acoustic != .english else { return FileDigests([:]) }
    let paths = ["model": model, "dictionary": dictionary, "language-model": languageModel]
    return FileDigests(
      paths.compactMapValues { $0 }.mapValues { path in
        // A listing does not follow the link that it starts from.
        (try? FilePath.resolved(path)) ?? path
      })
  }

  /// The model for a stage that is given a text, or that finds out what is said.
  ///
  /// Throws where some of its files are named and others are not.
  func acousticModel(
    for stage: String, needsLanguageModel: Bool
  ) throws(SpoolError) -> AcousticModel {
    switch (model, dictionary, languageModel) {
    case (nil, nil, nil): return .english
    case (let model?, let dictionary?, let languageModel)
    where (languageModel != nil) == needsLanguageModel:
      return AcousticModel(folder: model, dictionary: dictionary, languageModel: languageModel)
    default:
      throw needsLanguageModel
        ? SpoolError(
          "\(stage) needs model, dictionary and language-model together",
          advice: "name all three, or none for US English")
        : SpoolError(
          "\(stage) needs model and dictionary together",
          advice: "name both, or neither for US English")
    }
  }
}

extension StageRegistration {
  /// Registers a kind with parameters for an acoustic model. Where a step names one, its contents are
  /// in the step's key, and its paths are not.
  static func withAcousticModel<S: DeclaredStage>(_ type: S.Type) -> StageRegistration {
    let plain = StageRegistration(type)
    let descriptor = plain.descriptor
    let names = Set((ModelChoice.parameters + [ModelChoice.languageModelParameter]).map(\.name))
    let named = descriptor.having(
      parameters: descriptor.parameters.map {
        ParameterDescriptor(
          $0.name, $0.type, $0.presence, $0.summary,
          isInKey: $0.isInKey && !names.contains($0.name))
      })
    return StageRegistration(
      descriptor, libraries: plain.libraries,
      shape: { node in
        guard case .mapping(let entries) = node.content else { return descriptor }
        return entries.contains { names.contains($0.key) && !$0.value.isNull } ? named : descriptor
      }, make: plain.make)
  }
}

/// The parameters of a stage that listens for words: its own, and those that all of them have. In
/// pipelines they stand side by side.
struct ListeningParameters<Own: Codable & Sendable>: Codable, Sendable {
  /// Those of the stage alone.
  let own: Own
  /// What listens.
  let model: ModelChoice
  /// What the words must keep to.
  let limits: WordLimits.Parameters

  init(from decoder: any Decoder) throws {
    own = try Own(from: decoder)
    model = try ModelChoice(from: decoder)
    limits = try WordLimits.Parameters(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    try own.encode(to: encoder)
    try model.encode(to: encoder)
    try limits.encode(to: encoder)
  }
}

/// How the channels of a recording are listened to.
enum ChannelChoice: String, Codable, Sendable, CaseIterable {
  /// All as one.
  case mixed
  /// Each by itself.
  case separate

  /// How stages declare it.
  static let parameter = ParameterDescriptor(
    "channels", .choice(allCases.map(\.rawValue)), .defaulted("mixed"),
    "whether all channels are heard as one, or each by itself, as a speaker of its own")
}

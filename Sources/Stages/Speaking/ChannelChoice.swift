import PipelineModel

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

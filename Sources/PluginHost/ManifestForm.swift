import PipelineModel

/// What a manifest may say, in the same terms as the parameters of stages: the resolver that reads
/// pipelines reads it, too.
enum ManifestForm {
  private static let line = ParameterType.text(maximumLength: 200)
  private static let paragraph = ParameterType.text(maximumLength: 4000)
  private static let number = ParameterType.number(.number, -1e12...1e12)

  static let plugin = [
    ParameterDescriptor("plugin", line, .required, "its name"),
    ParameterDescriptor("version", line, .required, "its version"),
    ParameterDescriptor("protocol", .integer(1...1_000_000), .required, "what it speaks"),
    ParameterDescriptor("summary", line, .required, "one line for people"),
    ParameterDescriptor(
      "run", .list(of: .text(maximumLength: 4096), count: 1...100), .optional,
      "the program and its arguments"),
    ParameterDescriptor(
      "library", .text(maximumLength: 4096), .optional, "a shared library in place of a program"),
    ParameterDescriptor("needs", .group(needs), .defaulted(""), "what must be there"),
    ParameterDescriptor("limits", .group(limits), .defaulted(""), "what it may use"),
    ParameterDescriptor("deterministic", .flag, .defaulted("true"), "same input, same bytes"),
    ParameterDescriptor(
      "stages", .list(of: .group(kind), count: 1...100), .required, "the kinds it offers"),
  ]

  private static let needs = [
    ParameterDescriptor(
      "programs", .list(of: line, count: 0...100), .optional, "programs on PATH"),
    ParameterDescriptor(
      "python", .list(of: line, count: 0...100), .optional,
      "packages of Python, as they are imported"),
  ]

  /// `needs: [sox]` is short for `needs: { programs: [sox] }`.
  static func spelledOut(_ root: DocumentNode) -> DocumentNode {
    guard case .mapping(let entries) = root.content else { return root }
    let whole = entries.map { entry -> DocumentNode.Entry in
      if case .mapping = entry.value.content { return entry }
      guard entry.key == "needs", !entry.value.isNull else { return entry }
      let programs = DocumentNode.Entry(
        key: "programs", location: entry.location, value: entry.value)
      return DocumentNode.Entry(
        key: entry.key, location: entry.location,
        value: DocumentNode(.mapping([programs]), at: entry.value.location))
    }
    return DocumentNode(.mapping(whole), at: root.location)
  }

  private static let limits = [
    ParameterDescriptor(
      "memory", .integer(16...1_048_576), .defaulted("4096"), "megabytes of address space"),
    ParameterDescriptor(
      "time", .number(.seconds, 0.1...86_400), .defaulted("60 s"), "for one answer"),
    ParameterDescriptor("network", .flag, .defaulted("false"), "whether it may use the network"),
    ParameterDescriptor(
      "reads", .list(of: .text(maximumLength: 4096), count: 0...100), .optional,
      "more that it may read"),
  ]

  private static let kind = [
    ParameterDescriptor("kind", line, .required, "the word that pipelines use"),
    ParameterDescriptor("type", .choice(["sound", "file"]), .required, "how it works"),
    ParameterDescriptor("revision", .integer(1...1_000_000), .defaulted("1"), "its revision"),
    ParameterDescriptor("summary", line, .required, "one line for people"),
    ParameterDescriptor("discussion", paragraph, .defaulted(""), "more for people"),
    ParameterDescriptor(
      "inputs", .list(of: .group(port), count: 0...20), .optional, "what a file stage reads"),
    ParameterDescriptor(
      "outputs", .list(of: .group(port), count: 0...20), .optional, "what a file stage writes"),
    ParameterDescriptor(
      "parameters", .list(of: .group(parameter), count: 0...1000), .optional, "what can be set"),
  ]

  private static let port = [
    ParameterDescriptor("name", line, .required, "its name"),
    ParameterDescriptor(
      "carries", .choice(["sound", "transcript", "measurement", "file"]), .required,
      "what it carries"),
    ParameterDescriptor("help", line, .defaulted(""), "one line for people"),
    ParameterDescriptor("optional", .flag, .defaulted("false"), "whether it may be missing"),
    ParameterDescriptor(
      "file-name", .fileName(fields: ["stem"]), .optional, "what the user's file is called"),
    ParameterDescriptor(
      "sample-rate", .number(.hertz, 1000...768_000), .optional, "the rate that sound is wanted in"),
    ParameterDescriptor(
      "channels", .integer(1...1), .optional, "how many channels are wanted"),
  ]

  private static let parameter = [
    ParameterDescriptor("name", line, .required, "its name"),
    ParameterDescriptor("help", line, .required, "one line of help"),
    ParameterDescriptor("unit", line, .defaulted(""), "its unit"),
    ParameterDescriptor("range", .list(of: number, count: 2...2), .optional, "the least and most"),
    ParameterDescriptor("whole", .flag, .defaulted("false"), "a whole number"),
    ParameterDescriptor("choices", .list(of: line, count: 1...1000), .optional, "one of these"),
    ParameterDescriptor("flag", .flag, .defaulted("false"), "true or false"),
    ParameterDescriptor("text", .integer(1...100_000), .optional, "text of so many characters"),
    ParameterDescriptor(
      "command", .integer(1...100_000), .optional,
      "a program and its arguments, of so many characters"),
    ParameterDescriptor("path", .flag, .defaulted("false"), "the path of a file"),
    ParameterDescriptor("default", line, .optional, "its value where it is left out"),
    ParameterDescriptor("required", .flag, .defaulted("false"), "whether it must be given"),
  ]
}

package import PipelineModel
package import Platform

/// The content of a `plugin.yaml`.
package struct PluginManifest: Hashable, Sendable {
  /// The protocol version that Spool speaks.
  package static let spokenProtocol = 1

  package let name: String
  /// The version, which enters every key.
  package let version: String
  package let summary: String
  /// The program and its arguments; empty if `library` is set.
  package let run: [String]
  /// A shared library that Spool loads in place of a program.
  package let library: String?
  /// Further required programs.
  package let needs: [String]
  /// Required Python packages, by import name.
  package let packages: [String]
  /// Resource limits.
  package let limits: Limits
  /// Whether equal input gives equal bytes.
  package let isDeterministic: Bool
  /// The stage kinds that it offers.
  package let kinds: [Kind]

  /// What a plugin may use.
  package struct Limits: Hashable, Sendable, Codable {
    /// Address space in megabytes.
    package let memory: Int
    /// Maximum seconds until an answer.
    package let time: Double
    /// Whether it may use the network.
    package let network: Bool
    /// Folders and files outside its own that it may read.
    package let reads: [String]
    /// Maximum size of a written file, in megabytes.
    package let fileSize: Int

    package init(
      memory: Int = 4096, time: Double = 60, network: Bool = false, reads: [String] = [],
      fileSize: Int = 16_384
    ) {
      self.fileSize = fileSize
      self.memory = memory
      self.time = time
      self.network = network
      self.reads = reads
    }
  }

  /// How a kind processes its input.
  package enum Work: String, Hashable, Sendable, Codable {
    /// It streams sound.
    case sound
    /// It reads files and writes files.
    case file
  }

  package struct Kind: Hashable, Sendable {
    /// The name in pipelines.
    package let kind: String
    /// How it processes its input.
    package let work: Work
    package let revision: Int
    package let summary: String
    /// The long description.
    package let discussion: String
    /// The inputs of a file stage.
    package let inputs: [FilePort]
    /// The outputs of a file stage.
    package let outputs: [FilePort]
    package let parameters: [ParameterDescriptor]

    package init(
      kind: String, work: Work, revision: Int = 1, summary: String, discussion: String = "",
      inputs: [FilePort] = [], outputs: [FilePort] = [], parameters: [ParameterDescriptor] = []
    ) {
      self.kind = kind
      self.work = work
      self.revision = revision
      self.summary = summary
      self.discussion = discussion
      self.inputs = inputs
      self.outputs = outputs
      self.parameters = parameters
    }
  }

  /// An input or output of a file stage.
  package struct FilePort: Hashable, Sendable, Codable {
    package let name: String
    /// The artifact kind.
    package let carries: ArtifactKind
    package let help: String
    package let optional: Bool
    /// The name of an exported output; nil keeps it in the store.
    package let fileName: String?
    /// The sample rate in Hz to convert sound to; nil keeps the sound's own.
    package let sampleRate: Double?
    /// 1 to mix down to mono; nil keeps the channels.
    package let channels: Int?

    enum CodingKeys: String, CodingKey {
      case name, carries, help, optional, channels
      case fileName = "file-name"
      case sampleRate = "sample-rate"
    }

    package init(
      name: String, carries: ArtifactKind, help: String = "", optional: Bool = false,
      fileName: String? = nil, sampleRate: Double? = nil, channels: Int? = nil
    ) {
      self.name = name
      self.carries = carries
      self.help = help
      self.optional = optional
      self.fileName = fileName
      self.sampleRate = sampleRate
      self.channels = channels
    }
  }

  package init(
    name: String, version: String, summary: String, run: [String] = [], library: String? = nil,
    needs: [String] = [], packages: [String] = [],
    limits: Limits = Limits(), isDeterministic: Bool = true, kinds: [Kind]
  ) {
    self.name = name
    self.version = version
    self.summary = summary
    self.run = run
    self.library = library
    self.needs = needs
    self.packages = packages
    self.limits = limits
    self.isDeterministic = isDeterministic
    self.kinds = kinds
  }
}

extension PluginManifest.Kind {
  /// The catalogue entry.
  /// - Parameter plugin: the plugin's name and version.
  package func descriptor(of plugin: String) -> StageDescriptor {
    let origin = "It comes with the plugin \(plugin)."
    let discussion = discussion.isEmpty ? origin : "\(discussion) \(origin)"
    return switch work {
    case .sound:
      StageDescriptor(
        kind: kind, revision: revision, summary: summary, discussion: discussion,
        flow: .streaming(StageFamily("sound"), .filter),
        inputs: [Port(.sound, .sound, "the sound to treat")],
        outputs: [
          Port(.sound, .sound, "the treated sound"),
          Port(.measurement, .measurement, "what the plugin tells of its work, as JSON"),
        ], parameters: parameters)
    case .file:
      StageDescriptor(
        kind: kind, revision: revision, summary: summary, discussion: discussion, flow: .whole,
        inputs: inputs.map {
          Port(
            PortName($0.name), $0.carries, $0.help, isOptional: $0.optional,
            intake: $0.carries == .sound ? .made : .both)
        },
        outputs: outputs.map { Port(PortName($0.name), $0.carries, $0.help) },
        parameters: parameters)
    }
  }

  /// Resolved parameters in the manifest's units, as the protocol sends them.
  package func message(_ values: Value) -> JSONValue {
    guard case .group(let members) = values else { return .object([:]) }
    var result: [String: JSONValue] = [:]
    for parameter in parameters {
      result[parameter.name] = Self.json(members[parameter.name] ?? .null, parameter.type)
    }
    return .object(result)
  }

  /// The files that resolved parameters name, by parameter.
  package func files(_ values: Value) -> [String: String] {
    guard case .group(let members) = values else { return [:] }
    var files: [String: String] = [:]
    for parameter in parameters where parameter.type == .path {
      if case .text(let path)? = members[parameter.name] { files[parameter.name] = path }
    }
    return files
  }

  /// The parameters whose resolved values equal their defaults.
  package func defaulted(_ values: Value) -> [String: String] {
    guard case .group(let members) = values else { return [:] }
    var texts: [String: String] = [:]
    for parameter in parameters {
      guard case .defaulted(let text) = parameter.presence,
        case .text(let value)? = members[parameter.name],
        value == text || parameter.type == .path && value.hasSuffix("/\(text)")
      else { continue }
      texts[parameter.name] = text
    }
    return texts
  }

  /// The parameters that are programs with their arguments.
  package var commands: Set<String> {
    Set(
      parameters.filter { if case .command = $0.type { true } else { false } }.map(\.name))
  }

  /// The files and the programs that resolved parameters name, which the plugin may read.
  package func reads(_ values: Value) -> [String] {
    (files(values).values + programs(values).values.compactMap { ConfinedCommand.path(of: $0) })
      .sorted()
  }

  /// Parameters in the manifest's units that differ from those of a pipeline that sets nothing:
  /// `name=value`, by name.
  func settings(in message: JSONValue) -> [String] {
    var resolver = ParameterResolver(owner: kind)
    let empty = DocumentNode(.mapping([]), at: SourceLocation(line: 1, column: 1))
    let usual = self.message(resolver.resolve(empty, as: parameters))
    return parameters.map(\.name).sorted().compactMap { name in
      guard let value = message[name], value != .null, value != usual[name] else { return nil }
      return "\(name)=\(value.text ?? value.compact)"
    }
  }

  /// The programs that resolved parameters name, by parameter. Values with a placeholder are
  /// skipped.
  package func programs(_ values: Value) -> [String: String] {
    guard case .group(let members) = values else { return [:] }
    var programs: [String: String] = [:]
    for name in commands {
      guard case .text(let line)? = members[name], let program = ShellWords.first(of: line),
        !program.isEmpty, !program.contains("{")
      else { continue }
      programs[name] = program
    }
    return programs
  }

  private static func json(_ value: Value, _ type: ParameterType) -> JSONValue {
    switch (value, type) {
    case (.number(let number), .number(let unit, _)):
      // 0.008 s is 8 ms, not 8.000000000000002.
      .decimal((number / unit.factor * 1e9).rounded() / 1e9)
    case (.number(let number), _): .decimal(number)
    case (.flag(let flag), _): .boolean(flag)
    case (.text(let text), _): .text(text)
    case (.list(let values), .list(let element, _)): .list(values.map { json($0, element) })
    default: .null
    }
  }
}

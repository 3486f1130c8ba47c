public import PipelineModel

/// What a plugin says of itself in its `plugin.yaml`.
public struct PluginManifest: Hashable, Sendable {
  /// The version of the protocol that Spool speaks.
  public static let spokenProtocol = 1

  /// Its name.
  public let name: String
  /// Its version, which enters every key.
  public let version: String
  /// One line for people.
  public let summary: String
  /// The program and its arguments; none where there is a library.
  public let run: [String]
  /// A shared library that Spool loads, in place of a program.
  public let library: String?
  /// More programs that must be there.
  public let needs: [String]
  /// Packages of Python that its interpreter must have, as they are imported.
  public let packages: [String]
  /// What it may use.
  public let limits: Limits
  /// Whether the same input gives the same bytes.
  public let isDeterministic: Bool
  /// The kinds that it offers.
  public let kinds: [Kind]

  /// What a plugin may use.
  public struct Limits: Hashable, Sendable, Codable {
    /// Megabytes of address space.
    public let memory: Int
    /// Seconds that it may keep Spool waiting for one answer.
    public let time: Double
    /// Whether it may use the network.
    public let network: Bool
    /// Folders and files besides its own that it may read.
    public let reads: [String]
    /// Megabytes of the largest file that it may write.
    public let fileSize: Int

    /// Allows so much.
    public init(
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

  /// How a kind takes part in a run.
  public enum Work: String, Hashable, Sendable, Codable {
    /// It changes sound that flows by.
    case sound
    /// It reads files and writes files.
    case file
  }

  /// One stage kind.
  public struct Kind: Hashable, Sendable {
    /// The word that pipelines use.
    public let kind: String
    /// How it takes part in a run.
    public let work: Work
    /// Raised when the same input gives other bytes.
    public let revision: Int
    /// One line for people.
    public let summary: String
    /// More for people.
    public let discussion: String
    /// What a file stage reads.
    public let inputs: [FilePort]
    /// What a file stage writes.
    public let outputs: [FilePort]
    /// What can be set.
    public let parameters: [ParameterDescriptor]
    /// The parameters that name a program and its arguments.
    public let commands: Set<String>

    /// Describes a kind.
    public init(
      kind: String, work: Work, revision: Int = 1, summary: String, discussion: String = "",
      inputs: [FilePort] = [], outputs: [FilePort] = [], parameters: [ParameterDescriptor] = [],
      commands: Set<String> = []
    ) {
      self.commands = commands
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
  public struct FilePort: Hashable, Sendable, Codable {
    /// Its name.
    public let name: String
    /// What it carries.
    public let carries: ArtifactKind
    /// One line for people.
    public let help: String
    /// Whether it may be missing.
    public let optional: Bool
    /// What an output is called in the user's folder; nil keeps it in the store.
    public let fileName: String?
    /// The sample rate in Hz that sound is wanted in; nil leaves it as it is.
    public let sampleRate: Double?
    /// How many channels sound is wanted in: 1, or nil for as many as there are.
    public let channels: Int?

    enum CodingKeys: String, CodingKey {
      case name, carries, help, optional, channels
      case fileName = "file-name"
      case sampleRate = "sample-rate"
    }

    /// Describes a port.
    public init(
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

  /// Describes a plugin.
  public init(
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
  /// What the catalogue knows of it.
  /// - Parameter plugin: the plugin's name and version, for people.
  public func descriptor(of plugin: String) -> StageDescriptor {
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
}

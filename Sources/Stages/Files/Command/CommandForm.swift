import PipelineModel
import Plugins

/// What a pipeline may say of a `command`, and the kind that a step of it therefore is: its ports are
/// those that it declares.
enum CommandForm {
  /// A port as a step declares it.
  struct Place: Hashable {
    let port: PluginManifest.FilePort
    /// Whether it takes the recording itself, and not decoded sound.
    let isRecording: Bool

    static let sound = Place(
      port: PluginManifest.FilePort(name: "input", carries: .sound, help: "what it reads"),
      isRecording: false)
    static let file = Place(
      port: PluginManifest.FilePort(name: "output", carries: .file, help: "what it writes"),
      isRecording: false)
  }

  private static let name = ParameterType.text(maximumLength: 64)

  private static let input = [
    ParameterDescriptor("name", name, .defaulted("input"), "its name, and its placeholder"),
    ParameterDescriptor(
      "carries", .choice(["sound", "recording", "transcript", "measurement", "file"]),
      .defaulted("sound"), "what it is; sound comes as a WAV file, a recording as it came in"),
    ParameterDescriptor("optional", .flag, .defaulted("false"), "whether it may be missing"),
    ParameterDescriptor(
      "sample-rate", .number(.hertz, 1000...768_000), .optional, "the rate that sound is wanted in"),
    ParameterDescriptor(
      "channels", .integer(1...1), .optional, "1 where sound is wanted in one channel"),
  ]

  private static let output = [
    ParameterDescriptor("name", name, .defaulted("output"), "its name, and its placeholder"),
    ParameterDescriptor(
      "carries", .choice(["file", "sound", "transcript", "measurement"]), .defaulted("file"),
      "what it is; sound in any file that can be decoded"),
    ParameterDescriptor("optional", .flag, .defaulted("false"), "whether it may be missing"),
    ParameterDescriptor(
      "file-name", .fileName(fields: ["stem"]), .optional,
      "what the user's file is called, with its ending; without it the output stays in the store"),
  ]

  static let parameters = [
    ParameterDescriptor(
      "run", .list(of: .text(maximumLength: 4096), count: 1...1000), .required,
      "the program and its arguments, with {name} for each input, output and file",
      isTemplate: true),
    ParameterDescriptor(
      "inputs", .list(of: .group(input), count: 1...20), .optional,
      "what it reads; without it {input}, which is sound"),
    ParameterDescriptor(
      "outputs", .list(of: .group(output), count: 1...20), .required,
      "what it writes; one that run does not name is what it prints"),
    ParameterDescriptor(
      "files", .named(.path, maximumCount: 50), .optional,
      "more that it reads, by name: a model, a script", isInKey: false),
    ParameterDescriptor(
      "folder", .path, .defaulted("."), "where a program such as ./tidy.sh lies", isInKey: false),
    ParameterDescriptor(
      "version", .list(of: .text(maximumLength: 4096), count: 1...100), .optional,
      "a command that prints its version, with {name} for files; without it the program's own bytes "
        + "stand for that", isTemplate: true),
    ParameterDescriptor(
      "time", .number(.seconds, 0.1...604_800), .defaulted("600 s"), "how long it may take",
      isInKey: false),
    ParameterDescriptor(
      "memory", .integer(16...1_048_576), .defaulted("4096"), "megabytes of address space",
      isInKey: false),
    ParameterDescriptor(
      "size", .integer(1...1_048_576), .defaulted("4096"), "megabytes of a file that it writes",
      isInKey: false),
    ParameterDescriptor("network", .flag, .defaulted("false"), "whether it may use the network"),
  ]

  /// The kind for a step with these parameters as written. What cannot be understood counts as not
  /// said: the resolver reports it.
  static func descriptor(of node: DocumentNode) -> StageDescriptor {
    var resolver = ParameterResolver(owner: "command")
    let relevant = parameters.filter { ["inputs", "outputs"].contains($0.name) }
    var entries: [DocumentNode.Entry] = []
    if case .mapping(let all) = node.content {
      entries = all.filter { entry in relevant.contains { $0.name == entry.key } }
    }
    let value = resolver.resolve(
      DocumentNode(.mapping(entries), at: node.location), as: relevant)
    let places = Self.places(in: value)
    return descriptor(inputs: places.inputs, outputs: places.outputs)
  }

  /// The ports that resolved parameters declare.
  static func places(in value: Value) -> (inputs: [Place], outputs: [Place]) {
    let inputs = (value["inputs"]?.items ?? []).compactMap { place($0, "what it reads") }
    let outputs = (value["outputs"]?.items ?? []).compactMap { place($0, "what it writes") }
    return (inputs.isEmpty ? [.sound] : inputs, outputs.isEmpty ? [.file] : outputs)
  }

  private static func place(_ value: Value, _ help: String) -> Place? {
    guard let name = value["name"]?.text, let carries = value["carries"]?.text else { return nil }
    let isRecording = carries == "recording"
    guard let kind = isRecording ? .sound : ArtifactKind(rawValue: carries) else { return nil }
    return Place(
      port: PluginManifest.FilePort(
        name: name, carries: kind, help: help, optional: value["optional"] == .flag(true),
        fileName: value["file-name"]?.text, sampleRate: value["sample-rate"]?.number,
        channels: value["channels"] == .number(1) ? 1 : nil), isRecording: isRecording)
  }

  /// The kind with these ports.
  static func descriptor(inputs: [Place], outputs: [Place]) -> StageDescriptor {
    StageDescriptor(
      kind: "command", revision: 1, summary: "Run a program that reads files and writes files",
      discussion: """
        A program and its arguments, in which {input}, {output} and the other names that the step \
        declares stand for files; no shell reads them. Sound comes as a WAV file of 32-bit floats. \
        The program starts in an empty folder of its own, behind the limits of plugins: it reads \
        what the step names and the system's folders, writes its outputs, and has no network \
        unless that is allowed. The program is a name, which is looked for on PATH, an absolute path, \
        such as that of the Python of a virtual environment, or one with a slash in it, such as \
        ./tidy.sh, which starts from the pipeline's folder. What the version command prints, or else the program's own bytes, \
        and the contents of files are part of the key. {{name}} in an argument is {name} as it is.
        """,
      flow: .whole,
      inputs: inputs.map { place in
        let port = place.port
        return Port(
          PortName(port.name), port.carries, port.help, isOptional: port.optional,
          intake: place.isRecording ? .recording : port.carries == .sound ? .made : .both)
      }, outputs: outputs.map { Port(PortName($0.port.name), $0.port.carries, $0.port.help) },
      parameters: parameters)
  }
}

/// What resolved parameters hold; nil where they hold something else.
extension Value {
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var number: Double? { if case .number(let number) = self { number } else { nil } }
  var items: [Value]? { if case .list(let values) = self { values } else { nil } }
  var members: [String: Value]? { if case .group(let members) = self { members } else { nil } }

  subscript(name: String) -> Value? { members?[name] }
}

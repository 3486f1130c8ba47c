/// All that is known about a stage kind without running it. Listing, validation, the JSON Schema
/// and the reference documentation derive from it.
public struct StageDescriptor: Hashable, Sendable {
  /// The word that pipelines use.
  public let kind: String
  /// Raised whenever the same input and parameters would give other bytes.
  public let revision: Int
  /// One line for people.
  public let summary: String
  /// What it does in a few sentences, and where its method comes from.
  public let discussion: String
  /// How it takes part in a run.
  public let flow: Flow
  /// What it takes; the first is what `from` means.
  public let inputs: [Port]
  /// What it gives; the first is what the step below takes.
  public let outputs: [Port]
  /// What can be set.
  public let parameters: [ParameterDescriptor]
  /// The parameter that a value in place of the mapping stands for: `gain: -3 dB`.
  public let shorthand: String?

  /// Describes a stage kind.
  public init(
    kind: String, revision: Int, summary: String, discussion: String, flow: Flow,
    inputs: [Port], outputs: [Port], parameters: [ParameterDescriptor], shorthand: String? = nil
  ) {
    self.kind = kind
    self.revision = revision
    self.summary = summary
    self.discussion = discussion
    self.flow = flow
    self.inputs = inputs
    self.outputs = outputs
    self.parameters = parameters
    self.shorthand = shorthand
  }
}

/// How a stage takes part in a run.
public enum Flow: Hashable, Sendable {
  /// It reads finished artifacts and writes finished artifacts.
  case whole
  /// It is part of a stream, and may share a pass with its neighbours of the same family.
  case streaming(StageFamily, StreamRole)
}

/// What a stage does to a stream.
public enum StreamRole: String, Hashable, Sendable, Codable {
  /// The stream begins with it. The identity of what it gives is the digest of the content, so
  /// that other wrappings of the same content are the same below.
  case source
  /// It changes the stream as it flows by.
  case filter
  /// It changes the stream too, but must have heard all of it first.
  case analysedFilter
  /// It takes the stream and gives something else.
  case sink
}

/// What an input port can be connected with.
public enum Intake: String, Hashable, Sendable {
  /// What another stage made.
  case made
  /// A file as it came in.
  case recording
  /// Either.
  case both
}

/// A named input or output of a stage kind.
public struct Port: Hashable, Sendable {
  /// Its name.
  public let name: PortName
  /// What it carries.
  public let kind: ArtifactKind
  /// Whether an input may stay unconnected.
  public let isOptional: Bool
  /// Whether an input takes a file as it came in, what another stage made of it, or both.
  public let intake: Intake
  /// Whether an input takes any number of sources, one or more, in order.
  public let isList: Bool
  /// One line for people.
  public let summary: String

  /// Declares a port.
  public init(
    _ name: PortName, _ kind: ArtifactKind, _ summary: String, isOptional: Bool = false,
    intake: Intake = .made, isList: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.summary = summary
    self.isOptional = isOptional
    self.intake = intake
    self.isList = isList
  }
}

extension Port {
  /// The name of the `number`th source of a list, counted from 1: `tracks.2`.
  public func place(_ number: Int) -> PortName { PortName("\(name).\(number)") }
}

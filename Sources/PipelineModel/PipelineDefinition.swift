/// A pipeline as its file says it, before anything is known about stage kinds or real inputs.
public struct PipelineDefinition: Hashable, Sendable {
  /// The pipeline's name.
  public let name: String
  /// One sentence for people.
  public let summary: String?
  /// What it wants, in order.
  public let inputs: [InputDefinition]
  /// Named values that `$name` refers to and `--set` overrides.
  public let variables: [VariableDefinition]
  /// The steps, in order.
  public let steps: [StepDefinition]
  /// The folder of its file, which paths in it start from; nil where it has none.
  public var folder: String?

  /// Makes a definition.
  public init(
    name: String, summary: String?, inputs: [InputDefinition], variables: [VariableDefinition],
    steps: [StepDefinition]
  ) {
    self.name = name
    self.summary = summary
    self.inputs = inputs
    self.variables = variables
    self.steps = steps
  }
}

/// One of a pipeline's inputs: `transcript: transcript?`.
public struct InputDefinition: Hashable, Sendable {
  /// Its name, without the `$`.
  public let name: String
  /// What it carries.
  public let kind: ArtifactKind
  /// Whether the pipeline runs without it.
  public let isOptional: Bool
  /// Whether it is a list of files, one or more: `tracks: sound+`.
  public let isList: Bool
  /// Where it stands.
  public let location: SourceLocation

  /// Makes an input.
  public init(
    name: String, kind: ArtifactKind, isOptional: Bool, isList: Bool = false,
    location: SourceLocation
  ) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
    self.isList = isList
    self.location = location
  }
}

extension InputDefinition {
  /// The name of the `number`th file of a list, counted from 1: `tracks.2`.
  public func place(_ number: Int) -> String { "\(name).\(number)" }

  /// The fewest names that can be given for it: its own, or the first place of its list.
  public var leastNames: [String] { [isList ? place(1) : name] }

  /// The given names that are this input, in order: its own, or the places of its list.
  public func names(in given: Set<String>) -> [String] {
    guard isList else { return given.contains(name) ? [name] : [] }
    var names: [String] = []
    while given.contains(place(names.count + 1)) { names.append(place(names.count + 1)) }
    return names
  }
}

/// A named value: `target: -16 LUFS`, or with `value`, `summary` and `overridable`.
public struct VariableDefinition: Hashable, Sendable {
  /// Its name, without the `$`.
  public let name: String
  /// The value as written.
  public let value: DocumentNode
  /// One sentence for people.
  public let summary: String?
  /// Whether a recording's sidecar may override it.
  public let isOverridable: Bool

  /// Makes a variable.
  public init(name: String, value: DocumentNode, summary: String?, isOverridable: Bool) {
    self.name = name
    self.value = value
    self.summary = summary
    self.isOverridable = isOverridable
  }
}

/// One step as written: a stage kind, its parameters and the reserved keys.
public struct StepDefinition: Hashable, Sendable {
  /// The keys that every step has, whatever its kind: no parameter can be called so.
  public static let reservedKeys = ["id", "from", "when", "keep", "retry", "timeout"]

  /// The name given with `id`; nil where the kind serves.
  public let id: Located<String>?
  /// The stage kind.
  public let kind: Located<String>
  /// The parameters: a mapping, or null.
  public let parameters: DocumentNode
  /// Where the inputs come from; nil means the step above.
  public let from: SourceClause?
  /// The condition: `when: $transcript` or `when: not $transcript`.
  public let condition: Located<String>?
  /// Whether the output is kept in the store.
  public let keep: Bool
  /// How often the step is tried in all; nil means what the stage kind says.
  public let attempts: Int?
  /// Seconds after which the step is given up; nil means never.
  public let timeout: Double?

  /// Makes a step.
  public init(
    id: Located<String>?, kind: Located<String>, parameters: DocumentNode, from: SourceClause?,
    condition: Located<String>?, keep: Bool, attempts: Int?, timeout: Double?
  ) {
    self.id = id
    self.kind = kind
    self.parameters = parameters
    self.from = from
    self.condition = condition
    self.keep = keep
    self.attempts = attempts
    self.timeout = timeout
  }
}

/// A value with the place where it stands.
public struct Located<Value: Hashable & Sendable>: Hashable, Sendable {
  /// The value.
  public let value: Value
  /// Where it stands.
  public let location: SourceLocation

  /// Makes a located value.
  public init(_ value: Value, at location: SourceLocation) {
    self.value = value
    self.location = location
  }
}

/// A step's `from` as written. A reference is `$input`, `step` or `step.port`.
public enum SourceClause: Hashable, Sendable {
  /// `from: a` or `from: [a, b]`: the ports in their order.
  case ordered([Located<String>])
  /// `from: { port: a }`.
  case named([String: Located<String>])
}

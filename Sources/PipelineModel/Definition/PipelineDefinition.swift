/// A pipeline as written in its file, before stage kinds and inputs are known.
package struct PipelineDefinition: Hashable, Sendable {
  package let name: String
  package let summary: String?
  /// In order.
  package let inputs: [InputDefinition]
  /// Named values that `$name` refers to and `--set` overrides.
  package let variables: [VariableDefinition]
  package let steps: [StepDefinition]
  /// The folder of its file, the base of relative paths in it; nil if there is none.
  package var folder: String?

  package init(
    name: String, summary: String?, inputs: [InputDefinition], variables: [VariableDefinition],
    steps: [StepDefinition]
  ) {
    self.name = name
    self.summary = summary
    self.inputs = inputs
    self.variables = variables
    self.steps = steps
  }

  /// The sets of inputs for which a pipeline is looked at: all of them first, then all but each optional
  /// one, and those that are required.
  package var inputSets: [[InputDefinition]] {
    let optional = inputs.filter(\.isOptional)
    let absent = [[]] + optional.map { [$0] } + (optional.count > 1 ? [optional] : [])
    return absent.map { absent in inputs.filter { !absent.contains($0) } }
  }

  /// The overrides with each variable of a condition at its other value.
  package func flips(of overrides: [String: DocumentNode]) -> [[String: DocumentNode]] {
    let names = Set(steps.flatMap(\.conditionNames))
    return variables.compactMap { variable in
      let value = overrides[variable.name] ?? variable.value
      guard names.contains(variable.name), let boolean = value.boolean else { return nil }
      let other = DocumentNode(.scalar("\(!boolean)", isQuoted: false), at: value.location)
      return overrides.merging([variable.name: other]) { $1 }
    }
  }

  /// The names of the variables that no step uses, in order: their values change nothing. O(n).
  package var unusedVariables: [String] {
    let used = Set(steps.flatMap { $0.parameters.references + $0.conditionNames })
    return variables.map(\.name).filter { !used.contains($0) }
  }
}

extension StepDefinition {
  /// The names of inputs and variables in its condition.
  fileprivate var conditionNames: [String] {
    (condition?.value.split(separator: " ") ?? []).compactMap(DocumentNode.reference)
  }
}

package struct InputDefinition: Hashable, Sendable {
  package let name: String
  package let kind: ArtifactKind
  /// Whether the pipeline runs without it.
  package let isOptional: Bool
  /// Whether it is a list of files, one or more: `tracks: sound+`.
  package let isList: Bool
  package let location: SourceLocation

  package init(
    name: String, kind: ArtifactKind, isOptional: Bool, isList: Bool = false,
    location: SourceLocation
  ) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
    self.isList = isList
    self.location = location
  }

  /// The name of the `number`th file of a list, counted from 1: `tracks.2`.
  package func place(_ number: Int) -> String { "\(name).\(number)" }

  /// The smallest set of names to give for it: its own, or the first place of its list.
  package var leastNames: [String] { [isList ? place(1) : name] }

  /// The given names of this input, in order: its own, or the places of its list.
  package func names(in given: Set<String>) -> [String] {
    guard isList else { return given.contains(name) ? [name] : [] }
    var names: [String] = []
    while given.contains(place(names.count + 1)) { names.append(place(names.count + 1)) }
    return names
  }
}

package struct VariableDefinition: Hashable, Sendable {
  package let name: String
  package let value: DocumentNode
  package let summary: String?
  /// Whether a recording's sidecar may override it.
  package let isOverridable: Bool

  package init(name: String, value: DocumentNode, summary: String?, isOverridable: Bool) {
    self.name = name
    self.value = value
    self.summary = summary
    self.isOverridable = isOverridable
  }
}

/// One step as written: a stage kind, its parameters and the reserved keys.
package struct StepDefinition: Hashable, Sendable {
  /// The keys of every step, whatever its kind, which no parameter may use.
  package static let reservedKeys = ["id", "from", "when", "keep", "retry", "timeout"]

  /// A step's `from` as written. A reference is `$input`, `step` or `step.port`.
  package enum Sources: Hashable, Sendable {
    /// `from: a` or `from: [a, b]`: the ports in their order.
    case ordered([Located<String>])
    /// `from: { port: a }`.
    case named([String: Located<String>])
  }

  /// The value of `id`; nil for the default.
  package let id: Located<String>?
  package let kind: Located<String>
  /// A mapping, or null.
  package let parameters: DocumentNode
  /// The sources of the inputs; nil means the step above.
  package let from: Sources?
  /// The condition: `when: $transcript` or `when: not $transcript`.
  package let condition: Located<String>?
  package let keep: Bool
  /// The number of attempts; nil for the stage kind's.
  package let attempts: Int?
  /// In seconds; nil for none.
  package let timeout: Double?

  package init(
    id: Located<String>?, kind: Located<String>, parameters: DocumentNode, from: Sources?,
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

package struct Located<Value: Hashable & Sendable>: Hashable, Sendable {
  package let value: Value
  package let location: SourceLocation

  package init(_ value: Value, at location: SourceLocation) {
    self.value = value
    self.location = location
  }
}

/// The origin of a recording that arrived in a watched inbox.
package struct RecordingOrigin: Hashable, Sendable {
  /// Its file name on arrival, without folders.
  package let name: String
  /// The inbox, as an absolute path; nil if it came through none.
  package let inbox: String?
  /// When it was taken in, in seconds since 1970; nil if it was not.
  package let arrivedAt: Double?
  /// Its sidecar's file name; nil if there was none, or if unknown.
  package let sidecarName: String?
  /// Its sidecar as received; nil if there was none.
  package let sidecar: Artifact?
  /// The recording device's id for it; nil if unknown.
  package let noteID: String?

  package init(
    name: String, inbox: String? = nil, arrivedAt: Double? = nil, sidecarName: String?,
    sidecar: Artifact?, noteID: String? = nil
  ) {
    self.name = name
    self.inbox = inbox
    self.arrivedAt = arrivedAt
    self.sidecarName = sidecarName
    self.sidecar = sidecar
    self.noteID = noteID
  }
}

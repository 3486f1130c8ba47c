/// The static description of a stage kind. Listing, validation, the JSON Schema and the reference
/// documentation derive from it.
package struct StageDescriptor: Hashable, Sendable {
  package let kind: String
  /// Incremented whenever the same input and parameters would give other bytes.
  package let revision: Int
  package let summary: String
  /// What it does in a few sentences, and the source of its method.
  package let discussion: String
  package let flow: Flow
  /// The first is the one that `from` means.
  package let inputs: [Port]
  /// The first is the one that the step below takes.
  package let outputs: [Port]
  package let parameters: [ParameterDescriptor]
  /// The parameter that a value in place of the mapping stands for: `gain: -3 dB`.
  package let shorthand: String?

  package init(
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

  /// The same kind with other outputs, or other parameters.
  package func having(
    outputs: [Port]? = nil, parameters: [ParameterDescriptor]? = nil
  ) -> StageDescriptor {
    StageDescriptor(
      kind: kind, revision: revision, summary: summary, discussion: discussion, flow: flow,
      inputs: inputs, outputs: outputs ?? self.outputs, parameters: parameters ?? self.parameters,
      shorthand: shorthand)
  }

  /// What a step says so that its files have names of their own: `name: "{stem}.mine"`. Nil if the
  /// kind has no parameter for them.
  /// - Parameters:
  ///   - word: what tells the names from others.
  ///   - file: one whose name is taken.
  package func naming(_ word: String, insteadOf file: String) -> String? {
    parameters.naming(word, insteadOf: file)
  }
}

extension [ParameterDescriptor] {
  fileprivate func naming(_ word: String, insteadOf file: String) -> String? {
    lazy.compactMap { $0.naming(word, insteadOf: file) }.first
  }
}

extension ParameterDescriptor {
  fileprivate func naming(_ word: String, insteadOf file: String) -> String? {
    switch type {
    case .fileName:
      // Without a default, a name has its ending.
      var template = "{stem}" + (file.lastIndex(of: ".").map { String(file[$0...]) } ?? "")
      if case .defaulted(let usual) = presence { template = usual }
      return "\(name): \"\(template.replacing("{stem}", with: "{stem}.\(word)"))\""
    case .group(let members), .list(of: .group(let members), count: _):
      return members.naming(word, insteadOf: file)
    default: return nil
    }
  }
}

package enum Flow: Hashable, Sendable {
  /// A stage's role in a stream.
  package enum Role: Hashable, Sendable {
    /// Begins the stream. Its output's identity is the digest of the content, so that another
    /// container of the same content changes nothing below.
    case source
    /// Changes the stream as it flows by.
    case filter
    /// Changes the stream after reading all of it first.
    case analysedFilter
    /// Ends the stream and gives another kind of output.
    case sink
  }

  /// Reads and writes finished artifacts.
  case whole
  /// Part of a stream; may share a pass with its neighbours of the same family.
  case streaming(StageFamily, Role)
}

/// What an input port accepts.
package enum Intake: String, Hashable, Sendable {
  /// Another stage's output.
  case made
  /// An input file.
  case recording
  case both
}

/// A named input or output of a stage kind.
package struct Port: Hashable, Sendable {
  package let name: PortName
  package let kind: ArtifactKind
  /// Whether an input may stay unconnected.
  package let isOptional: Bool
  /// Whether an input accepts an input file, another stage's output, or both.
  package let intake: Intake
  /// Whether an input accepts one or more sources, in order.
  package let isList: Bool
  /// Whether it can change the artifacts. One that cannot (whose tags exports have, say) is in no key.
  package let isInKey: Bool
  /// One line.
  package let summary: String

  package init(
    _ name: PortName, _ kind: ArtifactKind, _ summary: String, isOptional: Bool = false,
    intake: Intake = .made, isList: Bool = false, isInKey: Bool = true
  ) {
    self.name = name
    self.kind = kind
    self.summary = summary
    self.isOptional = isOptional
    self.intake = intake
    self.isList = isList
    self.isInKey = isInKey
  }

  /// The name of the `number`th source of a list, counted from 1: `tracks.2`.
  package func place(_ number: Int) -> PortName { PortName("\(name).\(number)") }
}

/// A plugin that a run uses, as it was at the run's start.
package struct PluginUse: Hashable, Sendable, Codable {
  /// Its stage kind.
  package let kind: String
  package let name: String
  package let version: String
  /// The digest of all of its files, in hexadecimal digits.
  package let digest: String
  /// An absolute path.
  package let folder: String

  package init(kind: String, name: String, version: String, digest: String, folder: String) {
    self.kind = kind
    self.name = name
    self.version = version
    self.digest = digest
    self.folder = folder
  }

  /// What changed of the plugin since an earlier use, in words; nil if nothing did.
  package func change(since old: PluginUse) -> String? {
    guard digest != old.digest else { return nil }
    return version == old.version
      ? "files of the plugin \(name) \(version) have changed"
      : "the plugin \(name) was \(old.version), and is \(version) now"
  }
}

/// The program and the machine of a run.
package struct Host: Hashable, Sendable, Codable {
  package let program: String
  package let version: String
  /// The machine's name.
  package let host: String
  /// The machine's system, its release and its processor.
  package let system: String

  package init(program: String, version: String, host: String, system: String) {
    self.program = program
    self.version = version
    self.host = host
    self.system = system
  }
}

/// The name and version of this release.
package enum Release {
  package static let name = "Spool"
  /// Major, minor and patch.
  package static let version = "0.1.0"
}

package import Platform

/// The durable record that a stage with this key gave these outputs.
package struct Checkpoint: Hashable, Sendable, Codable {
  /// The identity of the work: see `KeyComponents`.
  package struct Key: Hashable, Sendable, Codable {
    /// The SHA-256 of the key's components.
    package let digest: Digest
    package init(_ digest: Digest) { self.digest = digest }
    package init(from decoder: any Decoder) throws { digest = try Digest(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try digest.encode(to: encoder) }
  }

  package let key: Key
  /// The key's components, so that a later run can explain a change.
  package let components: KeyComponents
  /// By port.
  package var outputs: [PortName: StepOutput]
  /// What the stage needs when its part of a pass is streamed again (an analysis, say), as JSON;
  /// nil if nothing.
  package let memo: String?
  /// A short text by which later work can recognise the same content.
  package let hint: String?
  /// What was warned of while it was made; nil if nothing. Whoever reuses it is warned as well.
  package let warnings: [String]?

  package init(
    components: KeyComponents, outputs: [PortName: StepOutput], memo: String? = nil,
    hint: String? = nil, warnings: [String]? = nil
  ) {
    self.key = components.key
    self.components = components
    self.outputs = outputs
    self.memo = memo
    self.hint = hint
    self.warnings = warnings
  }
}

/// Everything that determines a stage's output, and nothing else: no time, path or name.
package struct KeyComponents: Hashable, Sendable, Codable {
  package let kind: String
  package let revision: Int
  /// The resolved parameters, as canonical JSON.
  package let parameters: String
  /// The identities of the inputs, by port.
  package let inputs: [PortName: Digest]
  /// The versions of the libraries whose output can differ.
  package let libraries: [String: String]

  package init(
    kind: String, revision: Int, parameters: String, inputs: [PortName: Digest],
    libraries: [String: String]
  ) {
    self.kind = kind
    self.revision = revision
    self.parameters = parameters
    self.inputs = inputs
    self.libraries = libraries
  }

  /// The SHA-256 of the components, each preceded by its length, which keeps them apart.
  package var key: Checkpoint.Key {
    var fields = ["spool-key-1", kind, String(revision), parameters]
    for (port, identity) in inputs.sorted(by: { $0.key < $1.key }) {
      fields += ["input", port.name, identity.hex]
    }
    for (library, version) in libraries.sorted(by: { $0.key < $1.key }) {
      fields += ["library", library, version]
    }
    return Checkpoint.Key(
      SHA256.digest(of: fields.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n")))
  }

  /// The identity of an output that follows from the key: the stage is deterministic, so equal keys
  /// give equal bytes, and nothing needs to be hashed.
  package func derivedIdentity(of port: PortName) -> Digest {
    SHA256.digest(of: "spool-output-1\n\(key.digest.hex)\n\(port.name)")
  }
}

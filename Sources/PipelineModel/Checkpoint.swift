public import Hashing

/// The durable record that a stage, with this key, gave these outputs.
public struct Checkpoint: Hashable, Sendable, Codable {
  /// What the work was, as a digest: see `KeyComponents`.
  public struct Key: Hashable, Sendable, Codable {
    /// The SHA-256 of the key's components.
    public let digest: Digest
    /// Wraps a digest.
    public init(_ digest: Digest) { self.digest = digest }
    /// Reads a bare digest.
    public init(from decoder: any Decoder) throws { digest = try Digest(from: decoder) }
    /// Writes a bare digest.
    public func encode(to encoder: any Encoder) throws { try digest.encode(to: encoder) }
  }

  /// The key.
  public let key: Key
  /// The components that the key was made of, so that a later run can say what changed.
  public let components: KeyComponents
  /// What the stage gave, by port.
  public var outputs: [PortName: StepOutput]
  /// What the stage wants back when its part of a pass is streamed again (an analysis, say), as
  /// JSON; nil where it needs nothing.
  public let memo: String?
  /// A few words by which later work can guess that it may meet the same content again.
  public let hint: String?

  /// Describes a finished piece of work.
  public init(
    components: KeyComponents, outputs: [PortName: StepOutput], memo: String? = nil,
    hint: String? = nil
  ) {
    self.key = components.key
    self.components = components
    self.outputs = outputs
    self.memo = memo
    self.hint = hint
  }
}

/// Everything that determines what a stage gives, and nothing else: no time, path or name.
public struct KeyComponents: Hashable, Sendable, Codable {
  /// The stage kind.
  public let kind: String
  /// The kind's revision.
  public let revision: Int
  /// The resolved parameters, as canonical JSON.
  public let parameters: String
  /// The identities of the inputs, by port.
  public let inputs: [PortName: Digest]
  /// The versions of the libraries whose output can differ.
  public let libraries: [String: String]

  /// Collects the components.
  public init(
    kind: String, revision: Int, parameters: String, inputs: [PortName: Digest],
    libraries: [String: String]
  ) {
    self.kind = kind
    self.revision = revision
    self.parameters = parameters
    self.inputs = inputs
    self.libraries = libraries
  }

  /// The SHA-256 of the components, each with its length before it so that none can run into
  /// another.
  public var key: Checkpoint.Key {
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

  /// The identity of an output that follows from the key: the stage is deterministic, so equal
  /// keys give equal bytes, and nothing needs to be hashed.
  public func derivedIdentity(of port: PortName) -> Digest {
    SHA256.digest(of: "spool-output-1\n\(key.digest.hex)\n\(port.name)")
  }
}

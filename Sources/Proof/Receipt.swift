public import Hashing
public import JSONText

/// What a run took, did and gave: the statement that is signed.
///
/// Its form is described in the article Receipts; `receipt.schema.json` beside it is its JSON
/// Schema.
public struct Receipt: Hashable, Sendable {
  /// What kind of predicate it is, and in which version.
  public static let predicateType = "urn:spool:receipt:v1"
  /// What kind of statement it is.
  public static let statementType = "https://in-toto.io/Statement/v1"

  /// The files that it vouches for.
  public var subjects: [Subject]
  /// Where everything began.
  public var origin: Origin
  /// What was done, in order.
  public var stages: [Stage]

  /// Collects what a receipt says.
  public init(subjects: [Subject], origin: Origin, stages: [Stage]) {
    self.subjects = subjects
    self.origin = origin
    self.stages = stages
  }

  /// A file that lies beside the receipt.
  public struct Subject: Hashable, Sendable {
    /// Its path from the receipt's folder.
    public let name: String
    /// The SHA-256 of its bytes.
    public let digest: Digest
    /// Its length in bytes.
    public let byteCount: Int
    /// The step that gave it; nil for files that help with checking.
    public let step: String?
    /// What its samples are; nil for what is no sound, or sound with loss.
    public var samples: SampleSummary?

    /// Describes a file.
    public init(name: String, digest: Digest, byteCount: Int, step: String? = nil) {
      self.name = name
      self.digest = digest
      self.byteCount = byteCount
      self.step = step
    }
  }

  /// What came in, and who worked on it.
  public struct Origin: Hashable, Sendable {
    /// The program that did it.
    public var program: Named
    /// The machine that it ran on.
    public var host: Named
    /// The run.
    public var run: Run
    /// The recordings and other files that came in.
    public var sources: [Source]
    /// The addresses of the authorities that are asked for a time stamp of the receipt, in order.
    public var authorities: [String]

    /// Describes an origin.
    public init(
      program: Named, host: Named, run: Run, sources: [Source], authorities: [String] = []
    ) {
      self.program = program
      self.host = host
      self.run = run
      self.sources = sources
      self.authorities = authorities
    }
  }

  /// A program or a machine.
  public struct Named: Hashable, Sendable {
    /// What it is called.
    public let name: String
    /// Its version; of a machine, its system.
    public let version: String

    /// Describes a program or a machine.
    public init(name: String, version: String) {
      self.name = name
      self.version = version
    }
  }

  /// The run that made everything, or saw that it was there.
  public struct Run: Hashable, Sendable {
    /// Its name.
    public let id: String
    /// The pipeline's name.
    public let pipeline: String
    /// The SHA-256 of the pipeline's text; nil where that is not known.
    public let pipelineDigest: Digest?
    /// When it began, in seconds since 1970.
    public let startedAt: Double
    /// When the last export was in its place, in seconds since 1970.
    public let finishedAt: Double

    /// Describes a run.
    public init(
      id: String, pipeline: String, pipelineDigest: Digest?, startedAt: Double, finishedAt: Double
    ) {
      self.id = id
      self.pipeline = pipeline
      self.pipelineDigest = pipelineDigest
      self.startedAt = startedAt
      self.finishedAt = finishedAt
    }
  }

  /// A file that came in.
  public struct Source: Hashable, Sendable {
    /// The pipeline's input that it was given to.
    public let input: String
    /// Its name, without folders.
    public let name: String
    /// The SHA-256 of its bytes as they arrived.
    public let digest: Digest
    /// Its length in bytes; nil where that is not known.
    public var byteCount: Int?
    /// The name of the watched inbox that it arrived in; nil where it was named by hand.
    public var inbox: String?
    /// When it was taken into custody, in seconds since 1970.
    public var arrivedAt: Double?
    /// Its sidecar as received.
    public var sidecar: Sidecar?

    /// Describes a file.
    public init(input: String, name: String, digest: Digest) {
      self.input = input
      self.name = name
      self.digest = digest
    }
  }

  /// A sidecar as it was received.
  public struct Sidecar: Hashable, Sendable {
    /// Its name, without folders; nil where that is not known.
    public let name: String?
    /// The SHA-256 of its bytes.
    public let digest: Digest
    /// Its length in bytes.
    public let byteCount: Int
    /// Its bytes, where they are few.
    public let content: [UInt8]?

    /// Describes a sidecar.
    public init(name: String?, digest: Digest, byteCount: Int, content: [UInt8]?) {
      self.name = name
      self.digest = digest
      self.byteCount = byteCount
      self.content = content
    }
  }

  /// What one stage took, did and gave.
  public struct Stage: Hashable, Sendable {
    /// The step's name in the pipeline.
    public let id: String
    /// The stage kind.
    public let kind: String
    /// The kind's revision.
    public let revision: Int
    /// Everything that was set, in base units.
    public let parameters: JSONValue
    /// The identities of what it took, by port.
    public let inputs: [String: Digest]
    /// What it gave, by port.
    public let outputs: [String: Output]
    /// The versions of the libraries whose output can differ.
    public let libraries: [String: String]
    /// The key of its checkpoint.
    public let key: Digest
    /// Whether this run did the work, or found it done.
    public var isReused: Bool
    /// The earlier run that did the work; nil where this one did, or that is not known.
    public var run: String?
    /// The program that did the work in the earlier run; nil where this one did, or that is not known.
    public var program: Named?
    /// The machine that it ran on then; nil where this run did it, or that is not known.
    public var host: Named?
    /// When the work on it began, in this run or an earlier one, in seconds since 1970; nil where that
    /// is not known.
    public var begunAt: Double?
    /// When it was made, in this run or an earlier one, in seconds since 1970; nil where that is not
    /// known.
    public var finishedAt: Double?

    /// Describes a stage's work.
    public init(
      id: String, kind: String, revision: Int, parameters: JSONValue, inputs: [String: Digest],
      outputs: [String: Output], libraries: [String: String], key: Digest, isReused: Bool,
      finishedAt: Double?
    ) {
      self.id = id
      self.kind = kind
      self.revision = revision
      self.parameters = parameters
      self.inputs = inputs
      self.outputs = outputs
      self.libraries = libraries
      self.key = key
      self.isReused = isReused
      self.finishedAt = finishedAt
    }
  }

  /// What a stage gave at one port.
  public struct Output: Hashable, Sendable {
    /// What it is: sound, a file, figures.
    public let kind: String
    /// Equal identities mean equal content: of decoded sound, the digest of its samples.
    public let identity: Digest
    /// The SHA-256 and the length of the file in the store; nil where none was kept.
    public let file: File?

    /// A file in the store.
    public struct File: Hashable, Sendable {
      /// The SHA-256 of its bytes.
      public let digest: Digest
      /// Its length in bytes.
      public let byteCount: Int

      /// Describes a file.
      public init(digest: Digest, byteCount: Int) {
        self.digest = digest
        self.byteCount = byteCount
      }
    }

    /// Describes what was given.
    public init(kind: String, identity: Digest, file: File?) {
      self.kind = kind
      self.identity = identity
      self.file = file
    }
  }
}

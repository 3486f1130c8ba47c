package import Platform

/// What a run took, did and gave: the signed statement.
///
/// Its form is described in the article Receipts and by the JSON Schema `receipt.schema.json`.
package struct Receipt: Hashable, Sendable {
  /// The predicate's type and version.
  package static let predicateType = "urn:spool:receipt:v1"
  package static let statementType = "https://in-toto.io/Statement/v1"

  package var subjects: [Subject]
  package var origin: Origin
  /// The stages, in order.
  package var stages: [Stage]

  package init(subjects: [Subject], origin: Origin, stages: [Stage]) {
    self.subjects = subjects
    self.origin = origin
    self.stages = stages
  }

  /// A file beside the receipt.
  package struct Subject: Hashable, Sendable {
    package let name: String
    /// The SHA-256 of its bytes.
    package let digest: Digest
    /// In bytes.
    package let byteCount: Int
    /// The step that made it; nil for auxiliary files.
    package let step: String?
    /// Nil unless it is lossless sound.
    package var samples: SampleSummary?

    package init(name: String, digest: Digest, byteCount: Int, step: String? = nil) {
      self.name = name
      self.digest = digest
      self.byteCount = byteCount
      self.step = step
    }
  }

  /// The inputs and the environment.
  package struct Origin: Hashable, Sendable {
    package var program: Named
    package var host: Named
    package var run: Run
    package var sources: [Source]
    /// The URLs of its time stamping authorities, in order.
    package var authorities: [String]

    package init(
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
  package struct Named: Hashable, Sendable {
    package let name: String
    /// The program's version, or the machine's system.
    package let version: String

    package init(name: String, version: String) {
      self.name = name
      self.version = version
    }
  }

  package struct Run: Hashable, Sendable {
    package let id: String
    package let pipeline: String
    /// The SHA-256 of the pipeline's text; nil if unknown.
    package let pipelineDigest: Digest?
    /// In seconds since 1970.
    package let startedAt: Double
    /// When the last export was in place, in seconds since 1970.
    package let finishedAt: Double

    package init(
      id: String, pipeline: String, pipelineDigest: Digest?, startedAt: Double, finishedAt: Double
    ) {
      self.id = id
      self.pipeline = pipeline
      self.pipelineDigest = pipelineDigest
      self.startedAt = startedAt
      self.finishedAt = finishedAt
    }
  }

  /// An input file.
  package struct Source: Hashable, Sendable {
    /// The pipeline's input.
    package let input: String
    /// Its name, without folders.
    package let name: String
    /// The SHA-256 of its bytes as they arrived.
    package let digest: Digest
    /// In bytes; nil if unknown.
    package var byteCount: Int?
    /// The watched inbox's name; nil for a path named by the user.
    package var inbox: String?
    /// When it was taken in, in seconds since 1970.
    package var arrivedAt: Double?
    /// Its sidecar as it arrived.
    package var sidecar: Sidecar?

    package init(input: String, name: String, digest: Digest) {
      self.input = input
      self.name = name
      self.digest = digest
    }
  }

  package struct Sidecar: Hashable, Sendable {
    /// Its name, without folders; nil if unknown.
    package let name: String?
    /// The SHA-256 of its bytes.
    package let digest: Digest
    /// In bytes.
    package let byteCount: Int
    /// Its bytes, if they are few.
    package let content: [UInt8]?

    package init(name: String?, digest: Digest, byteCount: Int, content: [UInt8]?) {
      self.name = name
      self.digest = digest
      self.byteCount = byteCount
      self.content = content
    }
  }

  /// What one stage took, did and gave.
  package struct Stage: Hashable, Sendable {
    /// The step's name in the pipeline.
    package let id: String
    package let kind: String
    package let revision: Int
    /// All parameters, in base units.
    package let parameters: JSONValue
    package let inputs: [String: Digest]
    package let outputs: [String: Output]
    /// The versions of the libraries that affect its output.
    package let libraries: [String: String]
    /// The key of its checkpoint.
    package let key: Digest
    /// Whether the work was done by an earlier run.
    package var isReused: Bool
    /// The earlier run that did the work; nil if this one did, or it is unknown.
    package var run: String?
    /// The program of the earlier run; nil if this run did it, or it is unknown.
    package var program: Named?
    /// The machine of the earlier run; nil if this run did it, or it is unknown.
    package var host: Named?
    /// When its work began, in this run or an earlier one, in seconds since 1970; nil if unknown.
    package var begunAt: Double?
    /// When its work ended, in this run or an earlier one, in seconds since 1970; nil if unknown.
    package var finishedAt: Double?

    package init(
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

  /// A stage's output at one port.
  package struct Output: Hashable, Sendable {
    /// Its artifact kind.
    package let kind: String
    /// Equal identities mean equal content: for decoded sound, the digest of its samples.
    package let identity: Digest
    /// The file in the store; nil if none was kept.
    package let file: File?

    package struct File: Hashable, Sendable {
      /// The SHA-256 of its bytes.
      package let digest: Digest
      /// In bytes.
      package let byteCount: Int

      package init(digest: Digest, byteCount: Int) {
        self.digest = digest
        self.byteCount = byteCount
      }
    }

    package init(kind: String, identity: Digest, file: File?) {
      self.kind = kind
      self.identity = identity
      self.file = file
    }
  }
}

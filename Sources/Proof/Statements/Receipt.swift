internal import FoundationEssentials
package import Platform

/// What a run took, did and gave: the statement to be signed.
///
/// Its form is described in the article Receipts and by the JSON Schema `receipt.schema.json`. The
/// functions below write its parts; all times are in seconds since 1970.
package struct Receipt: Hashable, Sendable {
  /// The predicate's type and version.
  package static let predicateType = "urn:spool:receipt:v1"
  /// The folder of receipts that do not lie beside their exports.
  package static let ownFolder = "receipts"
  package static let statementType = "https://in-toto.io/Statement/v1"

  package let subjects: [Subject]
  /// The chained statement: each stage has the digest of the statement before it.
  package let json: JSONValue

  /// - Parameter stages: in order.
  package init(subjects: [Subject], origin: JSONValue, stages: [JSONValue]) {
    self.subjects = subjects
    var previous = origin.chainDigest
    var chained: [JSONValue] = []
    for stage in stages {
      guard case .object(var members) = stage else { preconditionFailure("a stage is an object") }
      members["previous"] = .text(previous.hex)
      chained.append(.object(members))
      previous = JSONValue.object(members).chainDigest
    }
    json = .object([
      "_type": .text(Self.statementType),
      "predicateType": .text(Self.predicateType),
      "subject": .list(subjects.map(\.json)),
      "predicate": .object([
        "origin": origin, "stages": .list(chained), "chain": .text(previous.hex),
      ]),
    ])
  }

  /// The signed envelope.
  package func signed(by key: SigningKey) -> Envelope { Envelope(json.bytes, signedBy: key) }

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
    package let samples: SampleSummary?

    package init(
      name: String, digest: Digest, byteCount: Int, step: String? = nil,
      samples: SampleSummary? = nil
    ) {
      self.name = name
      self.digest = digest
      self.byteCount = byteCount
      self.step = step
      self.samples = samples
    }

    fileprivate var json: JSONValue {
      .object([
        "name": .text(name), "digest": .sha256(digest),
        "annotations": .object(leavingOut: [
          "byteCount": .integer(byteCount), "step": step.map { .text($0) },
          "samples": samples?.json,
        ]),
      ])
    }
  }

  /// A program with its version, or a machine with its system.
  package typealias Named = (name: String, version: String)

  /// The inputs and the environment.
  /// - Parameters:
  ///   - authorities: the URLs of its time stamping authorities, in order.
  ///   - replaced: the names of replaced files, and the SHA-256 of their bytes.
  ///   - receipt: the receipt's own name, if it lies in ``ownFolder`` or has no list.
  package static func origin(
    program: Named, host: Named, run: JSONValue, sources: [JSONValue], authorities: [String] = [],
    replaced: [(name: String, digest: Digest)] = [], receipt: String? = nil
  ) -> JSONValue {
    .object(leavingOut: [
      "program": json(ofProgram: program), "host": json(ofHost: host), "run": run,
      "sources": .list(sources),
      "receipt": receipt.map { .text($0) },
      "authorities": authorities.isEmpty ? nil : .list(authorities.map { .text($0) }),
      "replaced": replaced.isEmpty
        ? nil
        : .list(
          replaced.map { .object(["name": .text($0.name), "digest": .sha256($0.digest)]) }),
    ])
  }

  /// - Parameters:
  ///   - pipelineDigest: the SHA-256 of the pipeline's text; nil if unknown.
  ///   - finishedAt: when the last export was in place.
  package static func run(
    id: String, pipeline: String, pipelineDigest: Digest?, startedAt: Double, finishedAt: Double
  ) -> JSONValue {
    .object(leavingOut: [
      "id": .text(id), "pipeline": .text(pipeline),
      "pipelineDigest": pipelineDigest.map { .sha256($0) },
      "startedAt": time(startedAt), "finishedAt": time(finishedAt),
    ])
  }

  /// An input file.
  /// - Parameters:
  ///   - input: the pipeline's input.
  ///   - name: its name, without folders.
  ///   - digest: the SHA-256 of its bytes as they arrived.
  ///   - byteCount: in bytes; nil if unknown.
  ///   - inbox: the watched inbox's name; nil for a path named by the user.
  ///   - arrivedAt: when it was taken in.
  ///   - sidecar: its sidecar as it arrived.
  package static func source(
    input: String, name: String, digest: Digest, byteCount: Int?, inbox: String?,
    arrivedAt: Double?, sidecar: JSONValue?
  ) -> JSONValue {
    .object(leavingOut: [
      "input": .text(input), "name": .text(name), "digest": .sha256(digest),
      "byteCount": byteCount.map { .integer($0) }, "inbox": inbox.map { .text($0) },
      "arrivedAt": arrivedAt.map(time), "sidecar": sidecar,
    ])
  }

  /// - Parameters:
  ///   - name: its name, without folders; nil if unknown.
  ///   - digest: the SHA-256 of its bytes.
  ///   - byteCount: in bytes.
  ///   - content: its bytes, if they are few.
  package static func sidecar(
    name: String?, digest: Digest, byteCount: Int, content: [UInt8]?
  ) -> JSONValue {
    .object(leavingOut: [
      "name": name.map { .text($0) }, "digest": .sha256(digest), "byteCount": .integer(byteCount),
      "content": content.map { .text(Data($0).base64EncodedString()) },
    ])
  }

  /// What one stage took, did and gave.
  /// - Parameters:
  ///   - id: the step's name in the pipeline.
  ///   - parameters: all of them, in base units.
  ///   - libraries: the versions of those that affect its output.
  ///   - key: the key of its checkpoint.
  ///   - isReused: whether the work was done by an earlier run.
  ///   - damage: what it found lost in a recording; nil if nothing.
  ///   - run: the earlier run that did the work; nil if this one did, or it is unknown.
  ///   - program: that of the earlier run.
  ///   - host: the machine of the earlier run.
  ///   - begunAt: when its work began, in this run or an earlier one; nil if unknown.
  ///   - finishedAt: when its work ended, in this run or an earlier one; nil if unknown.
  package static func stage(
    id: String, kind: String, revision: Int, parameters: JSONValue, inputs: [String: Digest],
    outputs: [String: JSONValue], libraries: [String: String], key: Digest, isReused: Bool,
    damage: JSONValue? = nil, run: String? = nil, program: Named? = nil, host: Named? = nil,
    begunAt: Double? = nil, finishedAt: Double? = nil, facts: [JSONValue]? = nil,
    verified: [JSONValue]? = nil
  ) -> JSONValue {
    .object(leavingOut: [
      "id": .text(id), "kind": .text(kind), "revision": .integer(revision),
      "parameters": parameters, "inputs": .object(inputs.mapValues { .text($0.hex) }),
      "outputs": .object(outputs), "libraries": .object(libraries.mapValues { .text($0) }),
      "key": .text(key.hex), "outcome": .text(isReused ? "reused" : "made"),
      "damage": damage, "run": run.map { .text($0) }, "program": program.map(json(ofProgram:)),
      "host": host.map(json(ofHost:)), "begunAt": begunAt.map(time),
      "finishedAt": finishedAt.map(time), "facts": facts.map(JSONValue.list),
      "verified": verified.map(JSONValue.list),
    ])
  }

  /// A fact that a stage states a range for.
  /// - Parameters:
  ///   - measured: for people: `-20.1 LUFS`.
  ///   - allowed: for people: `-16.5 LUFS .. -15.5 LUFS`.
  package static func fact(
    _ name: String, measured: String, allowed: String, holds: Bool
  ) -> JSONValue {
    .object([
      "name": .text(name), "measured": .text(measured), "allowed": .text(allowed),
      "result": .text(holds ? "holds" : "out-of-bounds"),
    ])
  }

  /// What a finished file was found to hold when it was decoded again; of several files of one
  /// format the worst of each figure.
  /// - Parameters:
  ///   - format: as the stage calls it.
  ///   - frames: of all the files.
  ///   - files: how many there are; nil for one.
  ///   - isEqual: whether every sample came back as it was given to the encoder.
  ///   - truePeak: for people: `-1.2 dBTP`; so are the other levels. Nil for silence, and for
  ///     formats without loss.
  ///   - ceiling: the true peak that the stages above promise.
  ///   - limit: what the sound was limited to, to keep that in the file.
  ///   - encodings: how often it was encoded.
  package static func verified(
    _ format: String, rate: Int, channels: Int, frames: Int, files: Int?, isEqual: Bool,
    truePeak: String?, loudness: String?, ceiling: String?, limit: String?, encodings: Int
  ) -> JSONValue {
    .object(leavingOut: [
      "format": .text(format), "rate": .integer(rate), "channels": .integer(channels),
      "frames": .integer(frames), "files": files.map { .integer($0) },
      "result": .text(isEqual ? "samples-equal" : "decoded"),
      "truePeak": truePeak.map { .text($0) }, "loudness": loudness.map { .text($0) },
      "ceiling": ceiling.map { .text($0) }, "limit": limit.map { .text($0) },
      "encodings": .integer(encodings),
    ])
  }

  /// A stage's output at one port.
  /// - Parameters:
  ///   - kind: its artifact kind.
  ///   - identity: equal ones mean equal content: for decoded sound, the digest of its samples.
  ///   - file: the SHA-256 and the length of the file in the store; nil if none was kept.
  package static func output(
    kind: String, identity: Digest, file: (digest: Digest, byteCount: Int)?
  ) -> JSONValue {
    .object(leavingOut: [
      "kind": .text(kind), "identity": .text(identity.hex),
      "digest": file.map { .sha256($0.digest) }, "byteCount": file.map { .integer($0.byteCount) },
    ])
  }

  private static func json(ofProgram program: Named) -> JSONValue {
    .object(["name": .text(program.name), "version": .text(program.version)])
  }

  private static func json(ofHost host: Named) -> JSONValue {
    .object(["name": .text(host.name), "system": .text(host.version)])
  }

  private static func time(_ seconds: Double) -> JSONValue {
    .text(DateTime.text(of: seconds))
  }
}

extension JSONValue {
  /// The link of a receipt's hash chain: of the origin, then of every stage, each with the digest of
  /// the one before.
  var chainDigest: Digest { SHA256.digest(of: bytes) }

  /// An in-toto DigestSet with one SHA-256.
  fileprivate static func sha256(_ digest: Digest) -> JSONValue {
    .object(["sha256": .text(digest.hex)])
  }
}

internal import FoundationEssentials
package import Platform

extension Receipt {
  /// The chained statement: each stage has the digest of the statement before it.
  package var json: JSONValue {
    var previous = Chain.digest(of: origin.json)
    var chained: [JSONValue] = []
    for stage in stages {
      let statement = stage.json(after: previous)
      previous = Chain.digest(of: statement)
      chained.append(statement)
    }
    return .object([
      "_type": .text(Self.statementType),
      "predicateType": .text(Self.predicateType),
      "subject": .list(subjects.map(\.json)),
      "predicate": .object([
        "origin": origin.json, "stages": .list(chained), "chain": .text(previous.hex),
      ]),
    ])
  }

  /// The signed envelope.
  package func signed(by key: SigningKey) -> Envelope { Envelope(json.bytes, signedBy: key) }
}

extension Receipt.Subject {
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

extension Receipt.Origin {
  fileprivate var json: JSONValue {
    .object(leavingOut: [
      "program": program.programJSON, "host": host.hostJSON,
      "run": run.json, "sources": .list(sources.map(\.json)),
      "authorities": authorities.isEmpty ? nil : .list(authorities.map { .text($0) }),
    ])
  }
}

extension Receipt.Named {
  fileprivate var programJSON: JSONValue {
    .object(["name": .text(name), "version": .text(version)])
  }

  fileprivate var hostJSON: JSONValue {
    .object(["name": .text(name), "system": .text(version)])
  }
}

extension Receipt.Run {
  fileprivate var json: JSONValue {
    .object(leavingOut: [
      "id": .text(id), "pipeline": .text(pipeline),
      "pipelineDigest": pipelineDigest.map { .sha256($0) },
      "startedAt": .text(UniversalTime.text(of: startedAt)),
      "finishedAt": .text(UniversalTime.text(of: finishedAt)),
    ])
  }
}

extension Receipt.Source {
  fileprivate var json: JSONValue {
    .object(leavingOut: [
      "input": .text(input), "name": .text(name), "digest": .sha256(digest),
      "byteCount": byteCount.map { .integer($0) }, "inbox": inbox.map { .text($0) },
      "arrivedAt": arrivedAt.map { .text(UniversalTime.text(of: $0)) },
      "sidecar": sidecar.map { sidecar in
        .object(leavingOut: [
          "name": sidecar.name.map { .text($0) }, "digest": .sha256(sidecar.digest),
          "byteCount": .integer(sidecar.byteCount),
          "content": sidecar.content.map { .text(Data($0).base64EncodedString()) },
        ])
      },
    ])
  }
}

extension Receipt.Stage {
  fileprivate func json(after previous: Digest) -> JSONValue {
    .object(leavingOut: [
      "id": .text(id), "kind": .text(kind), "revision": .integer(revision),
      "parameters": parameters, "inputs": .object(inputs.mapValues { .text($0.hex) }),
      "outputs": .object(outputs.mapValues(\.json)),
      "libraries": .object(libraries.mapValues { .text($0) }), "key": .text(key.hex),
      "outcome": .text(isReused ? "reused" : "made"), "run": run.map { .text($0) },
      "program": program?.programJSON, "host": host?.hostJSON,
      "begunAt": begunAt.map { .text(UniversalTime.text(of: $0)) },
      "finishedAt": finishedAt.map { .text(UniversalTime.text(of: $0)) },
      "previous": .text(previous.hex),
    ])
  }
}

extension Receipt.Output {
  fileprivate var json: JSONValue {
    .object(leavingOut: [
      "kind": .text(kind), "identity": .text(identity.hex),
      "digest": file.map { .sha256($0.digest) }, "byteCount": file.map { .integer($0.byteCount) },
    ])
  }
}

extension JSONValue {
  /// An in-toto DigestSet with one SHA-256.
  fileprivate static func sha256(_ digest: Digest) -> JSONValue {
    .object(["sha256": .text(digest.hex)])
  }
}

extension Receipt {
  /// The time stamping authorities named in a statement.
  static func authorities(in statement: JSONValue) -> [String] {
    (statement["predicate"]?["origin"]?["authorities"]?.list ?? []).map { $0.text ?? "" }
  }
}

internal import FoundationEssentials
internal import Hashing

extension Receipt {
  /// The statement, chained: each stage names the digest of what was stated before it.
  public var json: JSON {
    var previous = Chain.digest(of: origin.json)
    var chained: [JSON] = []
    for stage in stages {
      let statement = stage.json(after: previous)
      previous = Chain.digest(of: statement)
      chained.append(statement)
    }
    return .group([
      "_type": .text(Self.statementType),
      "predicateType": .text(Self.predicateType),
      "subject": .list(subjects.map(\.json)),
      "predicate": .group([
        "origin": origin.json, "stages": .list(chained), "chain": .text(previous.hex),
      ]),
    ])
  }
}

extension Receipt.Subject {
  fileprivate var json: JSON {
    .group([
      "name": .text(name), "digest": .sha256(digest),
      "annotations": .group(leavingOut: [
        "byteCount": .integer(byteCount), "step": step.map { .text($0) },
      ]),
    ])
  }
}

extension Receipt.Origin {
  fileprivate var json: JSON {
    .group([
      "program": .group(["name": .text(program.name), "version": .text(program.version)]),
      "host": .group(["name": .text(host.name), "system": .text(host.version)]),
      "run": run.json, "sources": .list(sources.map(\.json)),
    ])
  }
}

extension Receipt.Run {
  fileprivate var json: JSON {
    .group(leavingOut: [
      "id": .text(id), "pipeline": .text(pipeline),
      "pipelineDigest": pipelineDigest.map { .sha256($0) },
      "startedAt": .text(UniversalTime.text(of: startedAt)),
      "finishedAt": .text(UniversalTime.text(of: finishedAt)),
    ])
  }
}

extension Receipt.Source {
  fileprivate var json: JSON {
    .group(leavingOut: [
      "input": .text(input), "name": .text(name), "digest": .sha256(digest),
      "byteCount": byteCount.map { .integer($0) }, "inbox": inbox.map { .text($0) },
      "arrivedAt": arrivedAt.map { .text(UniversalTime.text(of: $0)) },
      "sidecar": sidecar.map { sidecar in
        .group(leavingOut: [
          "name": sidecar.name.map { .text($0) }, "digest": .sha256(sidecar.digest),
          "byteCount": .integer(sidecar.byteCount),
          "content": sidecar.content.map { .text(Data($0).base64EncodedString()) },
        ])
      },
    ])
  }
}

extension Receipt.Stage {
  fileprivate func json(after previous: Digest) -> JSON {
    .group(leavingOut: [
      "id": .text(id), "kind": .text(kind), "revision": .integer(revision),
      "parameters": parameters, "inputs": .group(inputs.mapValues { .text($0.hex) }),
      "outputs": .group(outputs.mapValues(\.json)),
      "libraries": .group(libraries.mapValues { .text($0) }), "key": .text(key.hex),
      "outcome": .text(isReused ? "reused" : "made"),
      "finishedAt": finishedAt.map { .text(UniversalTime.text(of: $0)) },
      "previous": .text(previous.hex),
    ])
  }
}

extension Receipt.Output {
  fileprivate var json: JSON {
    .group(leavingOut: [
      "kind": .text(kind), "identity": .text(identity.hex),
      "digest": file.map { .sha256($0.digest) }, "byteCount": file.map { .integer($0.byteCount) },
    ])
  }
}

extension JSON {
  /// An in-toto DigestSet with one SHA-256.
  fileprivate static func sha256(_ digest: Digest) -> JSON {
    .group(["sha256": .text(digest.hex)])
  }
}

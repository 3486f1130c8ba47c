import Glibc
import PipelineEngine
package import PipelineModel
internal import Platform
import Proof

/// The statement of a receipt.
extension ReceiptBuilder {
  /// Bytes of the longest sidecar that is embedded.
  private static var sidecarLimit: Int { 64 << 10 }

  /// The exports, with the digests computed while they were written. One by an earlier process is
  /// read, unless it is a copy of an artifact.
  package func exports() throws(SpoolError) -> [Receipt.Subject] {
    var subjects: [Receipt.Subject] = []
    for file in context.run.published {
      let digest = try digest(of: file)
      var subject = Receipt.Subject(
        name: name(of: file), digest: digest, byteCount: file.byteCount, step: file.step.name)
      subject.samples = samples(of: file)
      subjects.append(subject)
    }
    return subjects
  }

  /// The Merkle root of an export's samples, from its step's list of leaves.
  private func samples(of file: PublishedFile) -> SampleSummary? {
    guard let port = file.port,
      let outputs = context.work.first(where: { $0.record.id == file.step })?.record.outputs,
      let artifact = outputs[port.sampleHashes]?.artifact,
      let path = try? context.store.path(of: artifact)
    else { return nil }
    return SampleTree(at: path)?.summary
  }

  private func digest(of file: PublishedFile) throws(SpoolError) -> Digest {
    if let digest = file.digest { return digest }
    return try context.exportFolder.digest(ofFile: file.path)
  }

  /// An auxiliary file, as a subject.
  package func subject(_ name: String, _ text: String) -> Receipt.Subject {
    Receipt.Subject(name: name, digest: SHA256.digest(of: text), byteCount: text.utf8.count)
  }

  /// The sources, the program and the machine.
  package func origin(
    of program: Receipt.Named, on host: Receipt.Named
  ) throws(SpoolError) -> Receipt.Origin {
    let run = context.run
    var sources: [Receipt.Source] = []
    for (input, path) in run.inputs.sorted(by: { $0.key < $1.key }) {
      guard let digest = run.recordings?[input] else { continue }
      sources.append(try source(input, path, digest))
    }
    return Receipt.Origin(
      program: program, host: host,
      run: Receipt.Run(
        id: run.id.name, pipeline: run.pipeline,
        pipelineDigest: run.request.map { SHA256.digest(of: $0.pipelineText) },
        startedAt: run.startedAt, finishedAt: context.now),
      sources: sources, authorities: context.authorities.map(\.url))
  }

  /// The stages, in order.
  package func stages() throws(SpoolError) -> [Receipt.Stage] {
    var stages: [Receipt.Stage] = []
    for work in context.work {
      let components = work.components
      guard let parameters = Value(json: components.parameters) else {
        throw SpoolError("the record of the step \(work.record.id) cannot be read")
      }
      var stage = Receipt.Stage(
        id: work.record.id.name, kind: components.kind, revision: components.revision,
        parameters: JSONValue(parameters),
        inputs: named(components.inputs) { $0 },
        outputs: named(work.record.outputs) { output in
          Receipt.Output(
            kind: output.kind.rawValue, identity: output.identity,
            file: output.artifact.map {
              Receipt.Output.File(digest: $0.digest, byteCount: $0.byteCount)
            })
        },
        libraries: components.libraries, key: components.key.digest,
        isReused: work.record.outcome == .reused, finishedAt: work.record.finishedAt)
      stage.run = work.maker?.name
      if let place = work.workplace {
        stage.program = Receipt.Named(name: place.program, version: place.version)
        stage.host = Receipt.Named(name: place.host, version: place.system)
      }
      stage.begunAt = work.record.begunAt
      stages.append(stage)
    }
    return stages
  }

  private func named<Thing, Other>(
    _ things: [PortName: Thing], _ change: (Thing) -> Other
  ) -> [String: Other] {
    Dictionary(
      things.map { ($0.key.name, change($0.value)) }, uniquingKeysWith: { first, _ in first })
  }

  private func source(
    _ input: String, _ path: String, _ digest: Digest
  ) throws(SpoolError) -> Receipt.Source {
    let origin = context.origins[input]
    let last = path.split(separator: "/").last.map(String.init) ?? path
    var source = Receipt.Source(input: input, name: origin?.name ?? last, digest: digest)
    var status = stat()
    if unsafe stat(path, &status) == 0 { source.byteCount = Int(status.st_size) }
    // The inbox's parent folders are private.
    source.inbox = origin?.inbox?.split(separator: "/").last.map(String.init)
    source.arrivedAt = origin?.arrivedAt
    guard let sidecar = origin?.sidecar else { return source }
    let isShort = sidecar.byteCount <= Self.sidecarLimit
    source.sidecar = Receipt.Sidecar(
      name: origin?.sidecarName, digest: sidecar.digest, byteCount: sidecar.byteCount,
      content: isShort ? Array(try context.store.text(of: sidecar).utf8) : nil)
    return source
  }

  /// A file's path from the receipt's folder.
  private func name(of file: PublishedFile) -> String {
    let folder = context.folder + "/"
    return file.path.hasPrefix(folder) ? String(file.path.dropFirst(folder.count)) : file.path
  }
}

extension JSONValue {
  package init(_ value: Value) {
    switch value {
    case .null: self = .null
    case .flag(let flag): self = .boolean(flag)
    case .number(let number): self = .decimal(number)
    case .text(let text): self = .text(text)
    case .list(let values): self = .list(values.map { JSONValue($0) })
    case .group(let members): self = .object(members.mapValues { JSONValue($0) })
    }
  }
}

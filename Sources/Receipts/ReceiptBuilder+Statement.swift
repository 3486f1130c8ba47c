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
      subjects.append(
        Receipt.Subject(
          name: name(of: file.path), digest: try digest(of: file), byteCount: file.byteCount,
          step: file.step.name, samples: samples(of: file)))
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
  /// - Parameter names: the receipt's; one that is there is replaced.
  package func origin(
    of program: Receipt.Named, on host: Receipt.Named, as names: ReceiptNames
  ) throws(SpoolError) -> JSONValue {
    let run = context.run
    var replaced = context.replaced
    let path = context.folder + "/" + names.receipt
    if let file = ReceiptFile(at: path) { replaced[path] = replaced[path] ?? file.digest }
    var sources: [JSONValue] = []
    for (input, file) in context.files.sorted(by: { $0.key < $1.key }) {
      guard let digest = run.recordings?[input] else { continue }
      sources.append(try source(input, file.name, at: file.path, digest))
    }
    return Receipt.origin(
      program: program, host: host,
      run: Receipt.run(
        id: run.id.name, pipeline: run.pipeline,
        pipelineDigest: run.request.map { SHA256.digest(of: $0.pipelineText) },
        startedAt: run.startedAt, finishedAt: context.now),
      sources: sources, authorities: context.authorities.map(\.url),
      replaced: replaced.map { (name(of: $0.key), $0.value) }.sorted { $0.0 < $1.0 },
      receipt: names.statedName)
  }

  /// The stages, in order.
  package func stages() throws(SpoolError) -> [JSONValue] {
    var stages: [JSONValue] = []
    for work in context.work {
      let (record, components) = (work.record, work.components)
      guard let parameters = Value(json: components.parameters) else {
        throw SpoolError("the record of the step \(record.id) cannot be read")
      }
      stages.append(
        Receipt.stage(
          id: record.id.name, kind: components.kind, revision: components.revision,
          parameters: JSONValue(parameters), inputs: named(components.inputs) { $0 },
          outputs: named(record.outputs) { output in
            Receipt.output(
              kind: output.kind.rawValue, identity: output.identity,
              file: output.artifact.map { ($0.digest, $0.byteCount) })
          },
          libraries: components.libraries, key: components.key.digest,
          isReused: record.outcome == .reused, damage: record.damage?.json, run: work.maker?.name,
          program: work.host.map { ($0.program, $0.version) },
          host: work.host.map { ($0.host, $0.system) }, begunAt: record.begunAt,
          finishedAt: record.finishedAt,
          facts: components.kind == "assert" ? facts(of: record) : nil,
          verified: ["export", "split"].contains(components.kind) ? verified(of: record) : nil))
    }
    return stages
  }

  /// The facts that a stage found.
  private func facts(of record: StepRecord) -> [JSONValue]? {
    record.foundValue?["facts"]?.list?.compactMap { fact in
      guard let name = fact["name"]?.text, let measured = fact["measured"]?.text,
        let allowed = fact["allowed"]?.text, case .boolean(let holds)? = fact["holds"]
      else { return nil }
      return Receipt.fact(name, measured: measured, allowed: allowed, holds: holds)
    }
  }

  /// What the files of a stage were found to hold when they were decoded again.
  private func verified(of record: StepRecord) -> [JSONValue]? {
    record.foundValue?["files"]?.list?.compactMap { file in
      guard let format = file["format"]?.text, let rate = file["sampleRate"]?.integer,
        let channels = file["channels"]?.integer, let frames = file["frames"]?.integer
      else { return nil }
      func level(_ name: String, _ unit: Unit = .decibelsTruePeak) -> String? {
        file[name]?.number.map { unit.format(($0 * 10).rounded() / 10) }
      }
      return Receipt.verified(
        format, rate: rate, channels: channels, frames: frames, files: file["files"]?.integer,
        isEqual: file["samplesEqual"] == .boolean(true), truePeak: level("truePeak"),
        loudness: level("integratedLoudness", .lufs), ceiling: level("ceiling"),
        limit: level("limit"), encodings: file["encodings"]?.integer ?? 1)
    }
  }

  private func named<Thing, Other>(
    _ things: [PortName: Thing], _ change: (Thing) -> Other
  ) -> [String: Other] {
    Dictionary(
      things.map { ($0.key.name, change($0.value)) }, uniquingKeysWith: { first, _ in first })
  }

  private func source(
    _ input: String, _ name: String, at path: String, _ digest: Digest
  ) throws(SpoolError) -> JSONValue {
    let origin = context.origins[input]
    return Receipt.source(
      input: input, name: origin?.name ?? name.pathNames.last ?? name,
      digest: digest,
      byteCount: (try? FileStamp(following: path)).map { Int($0.byteCount) },
      // The inbox's parent folders are private.
      inbox: origin?.inbox.flatMap(\.pathNames.last),
      arrivedAt: origin?.arrivedAt,
      sidecar: try origin?.sidecar.map { (sidecar) throws(SpoolError) in
        let isShort = sidecar.byteCount <= Self.sidecarLimit
        return Receipt.sidecar(
          name: origin?.sidecarName, digest: sidecar.digest, byteCount: sidecar.byteCount,
          content: isShort ? try context.store.bytes(of: sidecar) : nil)
      })
  }

  /// A file's path from the receipt's folder.
  private func name(of path: String) -> String {
    let folder = context.folder + "/"
    return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
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

internal import JSONText
import Glibc
import Hashing
import PipelineEngine
import PipelineModel
import Proof

/// Where one receipt is made: turns what the engine knows into what a receipt says, and puts files
/// into the user's folder.
struct ReceiptDesk {
  /// A sidecar of at most so many bytes stands in the receipt whole.
  private static let sidecarLimit = 64 << 10

  private let testimony: Testimony

  init(_ testimony: Testimony) { self.testimony = testimony }

  /// What the public key is called in the folder: `spool.pub`, unless another key has that name.
  func keyName(for key: VerifyingKey) -> String {
    let usual = "spool.pub"
    let path = testimony.folder + "/" + usual
    guard unsafe access(path, F_OK) == 0,
      let other = try? testimony.custody.digest(ofFile: path),
      other != SHA256.digest(of: key.pem)
    else { return usual }
    return "spool-\(key.id.hex.prefix(8)).pub"
  }

  // MARK: Files

  /// Puts a text into the user's folder.
  func publish(_ text: String, as name: String) throws(StageError) -> PublishedFile {
    try publish(text, as: name, of: testimony.recording)
  }

  /// Puts a text into the user's folder, made of a recording or of none.
  func publish(
    _ text: String, as name: String, of recording: RecordingIdentity?
  ) throws(StageError) -> PublishedFile {
    let digest = SHA256.digest(of: text)
    return try publish(text, as: name, content: digest, digest: digest, of: recording)
  }

  /// Signs a receipt and puts it into the user's folder. One that says the same stays: it was
  /// signed when the work was done.
  /// - Returns: the receipt, and its text.
  func publish(
    _ receipt: Receipt, signedBy key: SigningKey, as name: String
  ) throws(StageError) -> (file: PublishedFile, text: String) {
    let standing = receipt.standing(
      at: testimony.folder + "/" + name, signedBy: key.verifyingKey)
    let text = standing ?? receipt.signed(by: key).text
    let file = try publish(
      text, as: name,
      content: SHA256.digest(
        of: "spool-receipt-1\n\(receipt.substance)\n\(key.verifyingKey.id)\n"),
      digest: nil, of: testimony.recording)
    return (file, text)
  }

  private func publish(
    _ text: String, as name: String, content: Digest, digest: Digest?,
    of recording: RecordingIdentity?
  ) throws(StageError) -> PublishedFile {
    let path = testimony.folder + "/" + name
    let custody = testimony.custody
    do throws(StoreError) {
      if try custody.isPublished(content, at: path) {
        return PublishedFile(
          path: path, byteCount: custody.byteCount(ofPublished: path) ?? text.utf8.count,
          step: testimony.step, wasThere: true, digest: digest)
      }
    } catch {
      throw StageError(error)
    }
    let byteCount = try custody.publish(
      content, at: path, of: recording, isReplacing: testimony.isReplacing
    ) { (temporary) throws(StageError) in try Self.write(text, to: temporary) }
    return PublishedFile(
      path: path, byteCount: byteCount, step: testimony.step, wasThere: false, digest: digest)
  }

  private static func write(_ text: String, to path: String) throws(StageError) {
    let file = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(path) }
      rest = rest.dropFirst(count)
    }
  }

  private static func failure(_ path: String) -> StageError {
    let code = errno
    return StageError(
      "cannot write \(path)", reason: unsafe String(cString: strerror(code)),
      cause: code == ENOSPC || code == EDQUOT ? .fullDisk : .environment)
  }

  // MARK: What a receipt says

  /// The exports, with their digests: that of the artifact, where the file is its copy, and read
  /// once where it was tagged on its way.
  func exports() throws(StageError) -> [Receipt.Subject] {
    var subjects: [Receipt.Subject] = []
    for file in testimony.run.published {
      let digest = try digest(of: file)
      subjects.append(
        Receipt.Subject(
          name: name(of: file), digest: digest, byteCount: file.byteCount, step: file.step.name))
    }
    return subjects
  }

  private func digest(of file: PublishedFile) throws(StageError) -> Digest {
    if let digest = file.digest { return digest }
    do throws(StoreError) { return try testimony.custody.digest(ofFile: file.path) } catch {
      throw StageError(error)
    }
  }

  /// A file that helps with checking, as a subject.
  func subject(_ file: PublishedFile) -> Receipt.Subject? {
    file.digest.map { digest in
      Receipt.Subject(name: name(of: file), digest: digest, byteCount: file.byteCount)
    }
  }

  /// What came in, and who worked on it.
  func origin(
    of program: Receipt.Named, on host: Receipt.Named
  ) throws(StageError) -> Receipt.Origin {
    let run = testimony.run
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
        startedAt: run.startedAt, finishedAt: testimony.now),
      sources: sources)
  }

  /// What was done, in order.
  func stages() throws(StageError) -> [Receipt.Stage] {
    var stages: [Receipt.Stage] = []
    for work in testimony.work {
      let components = work.components
      guard let parameters = Value(json: components.parameters) else {
        throw StageError("the record of the step \(work.record.id) cannot be read")
      }
      stages.append(
        Receipt.Stage(
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
          isReused: work.record.outcome == .reused, finishedAt: work.record.finishedAt))
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
  ) throws(StageError) -> Receipt.Source {
    let origin = testimony.origins[input]
    let last = path.split(separator: "/").last.map(String.init) ?? path
    var source = Receipt.Source(input: input, name: origin?.name ?? last, digest: digest)
    var status = stat()
    if unsafe stat(path, &status) == 0 { source.byteCount = Int(status.st_size) }
    source.inbox = origin?.inbox
    source.arrivedAt = origin?.arrivedAt
    guard let sidecar = origin?.sidecar else { return source }
    do throws(StoreError) {
      let isShort = sidecar.byteCount <= Self.sidecarLimit
      source.sidecar = Receipt.Sidecar(
        name: origin?.sidecarName, digest: sidecar.digest, byteCount: sidecar.byteCount,
        content: isShort ? Array(try testimony.store.text(of: sidecar).utf8) : nil)
    } catch {
      throw StageError(error)
    }
    return source
  }

  /// A file's path from the receipt's folder.
  private func name(of file: PublishedFile) -> String {
    let folder = testimony.folder + "/"
    return file.path.hasPrefix(folder) ? String(file.path.dropFirst(folder.count)) : file.path
  }
}

extension JSONValue {
  /// A stage's parameters.
  init(_ value: Value) {
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

import Audio
import Media
import PipelineModel
import Platform

/// Encodes a stream to a file of one format.
final class FileEncoding: LaneWork {
  let firstFrame: Frames
  private let port: PortName
  /// Limits the samples; nil for formats that take all.
  private let bounds: SampleBounds?
  private let encoder: SoundFileEncoder
  // Optional only so that it can be consumed at the end.
  private var draft: ArtifactDraft?

  init(
    _ target: ExportTarget, _ stream: SoundOutline, _ context: SinkContext,
    resuming noted: ExportState.Lane?
  ) throws(SpoolError) {
    port = target.format.port
    bounds = target.bounds
    let name = "\(context.work.name).\(port)"
    let claim = context.work.claim
    var resuming = noted?.state
    if let noted, noted.byteCount > 0 {
      draft = try claim.resumeDraft(name, .file, DraftPrefix(byteCount: noted.byteCount))
      if draft == nil { resuming = nil }
    }
    if draft == nil { draft = try claim.makeDraft(name, .file) }
    do {
      encoder = try SoundFileEncoder(
        path: draft?.path ?? "", spec: target.spec, format: stream.format, pool: context.pool,
        work: EncodingWork(folder: claim.folder, name: name, resuming: resuming))
    } catch {
      throw FileEncoding.failure(error, port)
    }
    firstFrame = encoder.progress().needsFrom
  }

  func begin(at frame: Frames) { encoder.begin(at: frame) }

  func take(_ block: SharedBuffer) throws(SpoolError) {
    do { try encoder.write(bounds?.bounded(block) ?? block) } catch {
      throw FileEncoding.failure(error, port)
    }
  }

  func seal() throws(SpoolError) -> Artifact? {
    do { try encoder.finish() } catch { throw FileEncoding.failure(error, port) }
    guard let draft = draft.take() else { return nil }
    return try draft.seal()
  }

  var status: ExportState.Lane {
    let progress = encoder.progress()
    return ExportState.Lane(
      needsFrom: progress.needsFrom, byteCount: progress.byteCount, state: progress.state)
  }

  func flush(isSealed: Bool) throws(SpoolError) {
    guard !isSealed else { return }
    do { try encoder.flush() } catch { throw FileEncoding.failure(error, port) }
  }

  func cancel() { encoder.cancel() }

  /// An encoder's error, without the draft's path, which means nothing to the user.
  private static func failure(_ error: SpoolError, _ port: PortName) -> SpoolError {
    SpoolError(
      "cannot write the \(port) file", reason: error.reason, advice: error.advice,
      cause: error.cause)
  }
}

import Audio
import Media
import PipelineModel
import Platform
import Proof
import Synchronization

/// Encodes a stream to a file of one format, decodes the file again, and keeps it only if it holds
/// that stream. A lossy file that decodes above the promised ceiling is encoded again from the
/// beginning of the stream, behind a lower limiter.
final class FileEncoding: LaneWork {
  /// Which encoding of the file it is, and what its sound is limited to.
  struct Round: Codable, Hashable {
    var number = 1
    var limit: Decibels?
    /// By how much the file of the round before was above the ceiling.
    var excess: Decibels?

    /// What comes after a file that decodes so much above the ceiling: a limiter that is lower by that
    /// much, and by more where the last step took less than it was.
    func next(_ excess: Decibels, above ceiling: Decibels) -> Round {
      var step = excess.value
      if let last = self.excess?.value {
        let effect = (last - step) / last
        step *= effect > 0 ? min(1 / effect, Self.mostSteps) : Self.mostSteps
      }
      // Tenths, so that the next process limits to the same.
      let lower = (((limit ?? ceiling).value - step) * 10).rounded(.down) / 10
      return Round(number: number + 1, limit: Decibels(lower), excess: excess)
    }

    private static let mostSteps = 3.0
  }

  /// One encoding, and two more behind a lower limiter.
  static let mostRounds = 3

  private struct State {
    var round: Round
    /// Whether the next round needs the stream again.
    var isSetBack = false
    var check: ExportCheck?
  }

  let firstFrame: Frames
  let wasSealed: Bool
  private let target: ExportTarget
  private let format: AudioFormat
  private let promise: LevelPromise?
  private let canRepeat: Bool
  /// The hashes of what formats without loss are given.
  private let samples: (() throws(SpoolError) -> SampleTree?)?
  /// Limits the samples; nil for formats that take all.
  private let bounds: SampleBounds?
  private let limiter: Limiter?
  private let buffers: BufferPool
  private let work: EncodingWork
  private let encoder: SoundFileEncoder
  // Optional only so that it can be consumed at the end.
  private var draft: ArtifactDraft?
  /// The end of the stream so far.
  private var position = Frames.zero
  private let state: Mutex<State>
  private let isCancelled = Atomic(false)
  /// Whether its files were deleted. Held while they are flushed or deleted: a flush opens them by name.
  private let isDiscarded = Mutex(false)

  /// - Parameter samples: waits for the hashes of what the encoder is given; nil for lossy formats.
  init(
    _ target: ExportTarget, _ stream: SoundOutline, _ context: SinkContext,
    resuming noted: ExportSink.State.Lane?,
    samples: (() throws(SpoolError) -> SampleTree?)? = nil
  ) throws(SpoolError) {
    self.target = target
    self.samples = samples
    format = stream.format
    promise = context.promise
    canRepeat = context.canRepeat
    bounds = target.bounds
    buffers = context.buffers
    let round = noted?.round ?? Round()
    state = Mutex(State(round: round))
    limiter = round.limit.map { Limiter(Limiter.Settings(ceiling: $0), format: stream.format) }
    let suffix = round.number > 1 ? "-\(round.number)" : ""
    let name = "\(context.work.name).\(target.format.port)\(suffix)"
    let claim = context.work.claim
    var resuming = noted?.state
    let stamp = try? FileStamp(at: "\(claim.folder)/\(name)")
    if let noted, noted.byteCount > 0 {
      // Or it was sealed, and begun anew by a process that was stopped before it recorded that.
      wasSealed = stamp.map { $0.isReadOnly || $0.hasSeveralNames || $0.byteCount == 0 } ?? true
      draft = try claim.resumeDraft(name, .file, DraftPrefix(byteCount: noted.byteCount))
      if draft == nil { resuming = nil }
    } else {
      wasSealed = false
    }
    if draft == nil { draft = try claim.makeDraft(name, .file) }
    work = EncodingWork(folder: claim.folder, name: name, resuming: resuming)
    do {
      encoder = try SoundFileEncoder(
        path: draft?.path ?? "", spec: target.spec, format: stream.format, pool: context.pool,
        work: work)
    } catch {
      throw FileEncoding.failure(error, target.format.port)
    }
    // A limiter needs all that came before.
    firstFrame = limiter == nil ? encoder.progress().needsFrom : .zero
  }

  func begin(at frame: Frames) {
    position = frame
    encoder.begin(at: frame)
  }

  func take(_ block: SharedBuffer) throws(SpoolError) {
    position += block.buffer.frameCount
    let block = bounds?.bounded(block) ?? block
    guard let limiter else { return try write(block) }
    var output = buffers.makeBuffer(
      channelCount: block.buffer.channelCount,
      capacity: limiter.blockCapacity(for: block.buffer.capacity))
    limiter.process(block.buffer, into: &output)
    if output.frameCount > .zero { try write(SharedBuffer(output)) }
  }

  private func write(_ block: SharedBuffer) throws(SpoolError) {
    do { try encoder.write(block) } catch {
      throw FileEncoding.failure(error, target.format.port)
    }
  }

  func seal() throws(SpoolError) -> Artifact? {
    if let limiter {
      var rest = AudioBuffer(
        channelCount: format.channelCount, capacity: limiter.capacity(for: .zero))
      limiter.finish(into: &rest)
      if rest.frameCount > .zero { try write(SharedBuffer(rest)) }
    }
    do { try encoder.finish() } catch {
      throw FileEncoding.failure(error, target.format.port)
    }
    guard let path = draft?.path else { return nil }
    // A pass without any sound fails by itself.
    if target.isVerified, position > .zero, try !isAsGiven(path) { return nil }
    guard let draft = draft.take() else { return nil }
    return try draft.seal()
  }

  /// Verifies the file.
  /// - Returns: false where it is to be encoded once more.
  private func isAsGiven(_ path: String) throws(SpoolError) -> Bool {
    let round = state.withLock { $0.round }
    var check: ExportCheck
    do throws(SpoolError) {
      check = try target.verify(
        path, of: format, frames: position, samples: try samples?(), promise: promise
      ) { () throws(SpoolError) in
        if isCancelled.load(ordering: .relaxed) { throw .cancelled }
      }
    } catch {
      // Nothing of what was encoded is resumed: the next run makes all of it.
      if error.kind == .broken { discard(path) }
      throw error
    }
    check.encodings = round.number
    check.limit = round.limit
    if let excess = check.excess, let promise, canRepeat, round.number < Self.mostRounds {
      let next = round.next(excess, above: promise.truePeak)
      state.withLock { state in
        state.round = next
        state.isSetBack = true
      }
      discard(path)
      return false
    }
    state.withLock { $0.check = check }
    return true
  }

  private func discard(_ path: String) {
    isDiscarded.withLock { isDiscarded in
      isDiscarded = true
      work.discard()
      // One that cannot be deleted goes with the folder of the work, and is never resumed.
      try? FileOperations.uncounted.unlink(path)
    }
  }

  var needsStreamAgain: Bool { state.withLock { $0.isSetBack } }

  var status: ExportSink.State.Lane {
    let state = state.withLock { $0 }
    guard !state.isSetBack else {
      return ExportSink.State.Lane(needsFrom: .zero, byteCount: 0, state: "", round: state.round)
    }
    let progress = encoder.progress()
    return ExportSink.State.Lane(
      needsFrom: limiter == nil ? progress.needsFrom : .zero, byteCount: progress.byteCount,
      state: progress.state, round: state.round.number > 1 ? state.round : nil,
      check: state.check)
  }

  func flush(isSealed: Bool) throws(SpoolError) {
    guard !isSealed else { return }
    try isDiscarded.withLock { (isDiscarded) throws(SpoolError) in
      guard !isDiscarded else { return }
      do throws(SpoolError) { try encoder.flush() } catch {
        throw FileEncoding.failure(error, target.format.port)
      }
    }
  }

  func cancel() {
    isCancelled.store(true, ordering: .relaxed)
    encoder.cancel()
  }

  /// An encoder's error, without the draft's path, which means nothing to the user but on a full disk.
  private static func failure(_ error: SpoolError, _ port: PortName) -> SpoolError {
    if error.isFullDisk { return error }
    return SpoolError(
      "cannot write the \(port) file", reason: error.reason, advice: error.advice,
      cause: error.cause)
  }
}

import Audio
package import PipelineEngine
import PipelineModel
import Platform
import Synchronization

/// One traversal of the sound: blocks go from the source through the processors, and at some of the
/// steps on the way to taps, each with a thread of its own. An interrupted pass resumes at the
/// newest restart point from which every listener gets what it still needs.
final class SoundPass {
  private let order: PassOrder
  private let context: PassContext
  private let pool: WorkerPool
  private let source: any SoundSource
  private let sourceStep: StepID
  private let stream: SoundStream
  private let taps: [SoundTap]
  private let reporters: [SoundPassBuilder.Reporter]
  private let fallible: [SoundPassBuilder.Fallible]
  private let journal: PassJournal
  private let fault: PassFault

  /// Opens what the pass begins with.
  static func open(
    _ order: PassOrder, in context: PassContext
  ) throws(PassFailure) -> any SoundSource {
    switch order.start {
    case .opened(let inputs):
      guard let first = order.path.first, let stage = first.step.stage as? any SoundSourceStage
      else { throw PassFailure(order.path.first?.step.id, SpoolError("this is no source")) }
      do throws(SpoolError) {
        var opened: [SoundInput] = []
        for input in inputs { opened.append(try SoundInput(input, in: context.store)) }
        return try stage.open(opened)
      } catch {
        throw PassFailure(first.step.id, error)
      }
    case .kept(let id, let artifact):
      do { return try PCMArtifact(artifact, in: context.store).open() } catch {
        throw PassFailure(id, error)
      }
    }
  }

  /// Makes the processors and the taps of a pass, as an earlier process left them where one did.
  init(
    _ order: PassOrder, source: any SoundSource, context: PassContext, pool: WorkerPool,
    timing: SoundPassExecutor.Timing
  ) throws(PassFailure) {
    self.order = order
    self.context = context
    self.pool = pool
    self.source = source
    let fault = PassFault()
    self.fault = fault
    let buffers = BufferPool()
    // The output of a plugin that is not deterministic cannot be resumed.
    let isRepeatable = order.path.allSatisfy { member in
      (member.step.stage as? any SoundFilterStage)?.isRepeatable ?? true
    }
    let (noted, notedAt) = isRepeatable ? try SoundPass.record(in: context) : (nil, 0)
    let builder = SoundPassBuilder(
      order, context: context, pool: pool, buffers: buffers, fault: fault, note: noted)
    let segments = try builder.segments(of: source.outline)
    sourceStep = order.sourceStep
    reporters = builder.reporters
    fallible = builder.fallible
    taps = segments.flatMap(\.taps)

    var note = PassState()
    note.listeners = builder.standings
    note.moments = (noted?.moments ?? []).filter { $0.given.count == segments.count }
    let restartPoint = note.restart
    if let restartPoint {
      do throws(SnapshotError) {
        for (index, segment) in segments.enumerated() {
          if let state = restartPoint.state(ofSegment: index) { try segment.chain?.restore(state) }
        }
      } catch {
        throw PassFailure(
          sourceStep,
          SpoolError("the pass cannot go on where it was", reason: "its states do not fit"))
      }
    }
    journal = PassJournal(note, every: timing.note, claim: context.claim, fault: fault)
    stream = try SoundStream(
      source, of: sourceStep, through: segments, fallible: builder.fallible, from: restartPoint,
      momentInterval: timing.restartPoint, buffers: buffers, journal: journal, fault: fault)
    let outline = source.outline
    let begin = Frames(restartPoint?.frame ?? 0).duration(at: outline.format.sampleRate)
    for part in builder.damage { context.dropped(part.step, part.part, part.goesOnAt) }
    let again = builder.damage.map(\.share).max() ?? 0
    context.resumed(
      begin.value, outline.duration?.value,
      (noted?.secondsInHand(at: notedAt) ?? 0) + again * context.claim.spentSeconds)
  }

  /// The state that an earlier process recorded, nil where there is none, and its time.
  private static func record(
    in context: PassContext
  ) throws(PassFailure) -> (note: PassState?, notedAt: Double) {
    do throws(SpoolError) {
      let last = try context.claim.lastEntry()
      return (last.flatMap { PassState.read($0.text) }, last?.notedAt ?? 0)
    } catch {
      throw PassFailure(nil, error)
    }
  }

  /// Streams everything, and collects what the taps give.
  func run() throws(PassFailure) -> PassOutcome {
    taps.forEach { $0.start() }
    journal.start(taps)
    defer { journal.end() }
    let watch = StopWatch(check: context.check, fault: fault, step: sourceStep)
    defer { watch.end() }
    stream.run(check: context.check) { report($0, isAtEnd: $1) }
    taps.forEach { $0.close() }
    taps.forEach { $0.join() }
    do throws(PassFailure) {
      if let failure = fault.failure { throw failure }
      return try conclude()
    } catch {
      // A listener that was cancelled because the pass failed reports an error of its own.
      let failure = fault.failure ?? error
      // A pass that the user stops resumes from exactly here.
      if failure.error.cause == .cancelled { try? journal.noteNow() }
      throw failure
    }
  }

  /// The stream has ended well: seals what was written, and lets the analyses decide.
  private func conclude() throws(PassFailure) -> PassOutcome {
    let rate = source.outline.format.sampleRate
    guard stream.frames.count > 0 else {
      throw PassFailure(
        sourceStep,
        SpoolError("the recording holds no sound", advice: "check that it is the right file"))
    }
    if let step = stream.firstSilencedStep {
      throw PassFailure(
        step,
        SpoolError(
          "\(step) leaves nothing of the sound", reason: "the recording is too short for it",
          advice: "check its times against the recording's length"))
    }
    var outcome = PassOutcome(mediaSeconds: stream.frames.duration(at: rate).value)
    var kept: [StepID: Artifact] = [:]
    if case .kept(let id, let artifact) = order.start { kept[id] = artifact }
    for (index, tap) in taps.enumerated() where !tap.isAnalysis {
      let result = try tap.finish()
      journal.finish(index, result)
      if let artifact = result.artifacts[.sound] { kept[tap.at] = artifact }
      outcome.results[tap.step, default: PassOutcome.Result()].merge(result)
    }
    for (index, tap) in taps.enumerated() where tap.isAnalysis {
      guard let artifact = kept[tap.at] else { continue }
      let result = try tap.conclude(artifact, context, pool: pool)
      journal.finish(index, result)
      outcome.results[tap.step, default: PassOutcome.Result()].merge(result)
    }
    try keepReports(&outcome)
    try keepFigures(&outcome)
    try describeSource(&outcome)
    for (step, result) in outcome.results {
      for warning in result.warnings { context.warn(step, warning) }
    }
    return outcome
  }

  /// Keeps what plugins tell about what they did.
  private func keepFigures(_ outcome: inout PassOutcome) throws(PassFailure) {
    for member in fallible where member.isPending {
      var result = PassOutcome.Result()
      result.warnings = member.processor.warnings
      if let figures = member.processor.figures {
        do throws(SpoolError) {
          result.artifacts[.measurement] = try context.store.keep(figures, as: .measurement)
        } catch { throw PassFailure(member.step, error) }
      }
      outcome.results[member.step, default: PassOutcome.Result()].merge(result)
    }
  }

  /// Keeps what processors tell about what they did.
  private func keepReports(_ outcome: inout PassOutcome) throws(PassFailure) {
    for reporter in reporters {
      let step = reporter.step
      let report = reporter.processor.report()
      var result = PassOutcome.Result()
      do throws(SpoolError) {
        result.artifacts[.measurement] =
          try context.store.keep(try Findings.json(report), as: .measurement)
      } catch { throw PassFailure(step, error) }
      result.warnings = reporter.stage?.warnings(of: report) ?? []
      outcome.results[step, default: PassOutcome.Result()].merge(result)
    }
  }

  /// What is recorded about a source that was done in this pass.
  private func describeSource(_ outcome: inout PassOutcome) throws(PassFailure) {
    guard case .opened = order.start, order.path.first?.isPending == true else { return }
    var result = outcome.results[sourceStep] ?? PassOutcome.Result()
    result.warnings += source.warnings
    result.identity = result.identity ?? result.artifacts[.sound]?.digest
    result.hint = SoundPassExecutor.hint(
      source.outline.format, seconds: Int(outcome.mediaSeconds.rounded()))
    if let report = source.report() {
      do { result.artifacts[.measurement] = try context.store.keep(report, as: .measurement) } catch
      { throw PassFailure(sourceStep, error) }
    }
    outcome.results[sourceStep] = result
  }

  private func report(_ frames: Frames, isAtEnd: Bool) {
    let rate = source.outline.format.sampleRate
    let total = (isAtEnd ? frames : source.outline.frames)?.duration(at: rate).value
    for member in order.path where member.isPending {
      // What is read again for the source's sake was processed before.
      let done = member.step.id == sourceStep ? frames : max(frames, stream.restart)
      context.report(member.step.id, done.duration(at: rate).value, total)
    }
  }
}

/// Checks many times a second whether a pass has to stop, on a thread of its own, so that threads
/// which wait for an encoder or a disk need not.
final class StopWatch: Sendable {
  /// The time between two checks: far less than a person notices.
  private static let interval = Duration.milliseconds(20)

  private let pause = Pause()
  private let thread: BackgroundThread

  /// Begins to watch; what `check` throws becomes the pass's fault.
  init(
    check: @escaping @Sendable () throws(SpoolError) -> Void, fault: PassFault, step: StepID
  ) {
    let pause = pause
    thread = BackgroundThread(name: "stop-watch") {
      while pause.wait(Self.interval) {
        do throws(SpoolError) { try check() } catch {
          fault.record(PassFailure(step, error))
          return
        }
      }
    }
  }

  func end() {
    pause.end()
    thread.join()
  }
}

/// The first failure of a pass, which ends all of its threads.
final class PassFault: Sendable {
  private struct State {
    var failure: PassFailure?
    var actions: [@Sendable () -> Void] = []
  }
  private let state = Mutex(State())

  /// What failed first; nil while nothing did.
  var failure: PassFailure? { state.withLock(\.failure) }

  /// Keeps the first failure and wakes all waiting threads.
  func record(_ failure: PassFailure) {
    let actions = state.withLock { state -> [@Sendable () -> Void] in
      guard state.failure == nil else { return [] }
      state.failure = failure
      return state.actions
    }
    actions.forEach { $0() }
  }

  /// Has something done when the pass fails; at once if it failed already.
  func onFailure(_ action: @escaping @Sendable () -> Void) {
    let hasFailed = state.withLock { state -> Bool in
      state.actions.append(action)
      return state.failure != nil
    }
    if hasFailed { action() }
  }
}

extension PassOutcome.Result {
  /// Takes over what another tap of the same step gave.
  package mutating func merge(_ other: PassOutcome.Result) {
    identity = identity ?? other.identity
    artifacts.merge(other.artifacts) { $1 }
    memo = memo ?? other.memo
    hint = hint ?? other.hint
    warnings += other.warnings
  }
}

package import Audio
import Media
package import PipelineEngine
package import PipelineModel
package import Platform

/// Runs the passes of sound stages: one reader, one thread for the processors, one for each
/// listener, and a pool for encoders, with bounded queues between them, so that memory stays flat
/// however long the recording is.
package struct SoundPassExecutor: PassExecutor {
  package let family = StageFamily.sound
  private let pool: WorkerPool
  private let coreCount: Int
  private let timing: Timing

  package init(coreCount: Int, timing: Timing = .usual) {
    self.coreCount = max(1, coreCount)
    self.timing = timing
    pool = WorkerPool(threadCount: max(1, coreCount))
  }

  /// Runs a pass to its end. Blocks. Where a listener needs the stream once more, it flows again as
  /// in a pass that was interrupted: what the others have is not made again.
  package func run(_ order: PassOrder, in context: PassContext) throws(PassFailure) -> PassOutcome {
    var workSeconds: [StepID: Double] = [:]
    var (isRepeated, isBegunAnew) = (false, false)
    while true {
      let source = try SoundPass.open(order, in: context)
      let pass = try SoundPass(
        order, source: source, context: context, pool: pool, timing: timing,
        isRepeated: isRepeated, isBegunAnew: isBegunAnew)
      guard pass.isResumable else {
        isBegunAnew = true
        continue
      }
      let result = try pass.run()
      workSeconds.merge(pass.workSeconds, uniquingKeysWith: +)
      guard var outcome = result else {
        isRepeated = true
        continue
      }
      outcome.workSeconds = workSeconds
      return outcome
    }
  }

  /// Opens the file as a recording, as every source of sound does.
  package func probe(_ file: SourceFile) throws(SpoolError) { _ = try MediaProbe.describe(file) }

  /// Reckons with measured costs a second of sound; the encoders dominate.
  package func estimate(_ order: PassOrder) throws(PassFailure) -> PassEstimate {
    guard case .opened(let inputs) = order.start, let first = order.path.first,
      let stage = first.step.stage as? any SoundSourceStage
    else { throw PassFailure(order.path.first?.step.id, SpoolError("there is no recording")) }
    let outline = try attributing(to: first.step.id) { () throws(SpoolError) in
      try stage.outline(of: SoundInput.all(inputs, in: nil))
    }
    let streams = try SoundPassExecutor.streams(of: order, source: outline)
    var cost = SinkCost()
    for member in order.path where member.isKept {
      let stream = streams[member.step.id] ?? outline
      cost.byteCount += (stream.frames?.count ?? 0) * 4 * stream.format.channelCount
    }
    cost.coreSeconds += 0.001 + 0.0003 * Double(order.path.count)
    for listener in order.listeners {
      guard let sink = listener.step.stage as? any SoundSinkStage else {
        cost.coreSeconds += 0.0005
        continue
      }
      let stream = streams[listener.at] ?? outline
      try attributing(to: listener.step.id) { () throws(SpoolError) in try sink.check(stream) }
      let more = sink.cost(of: stream)
      cost.byteCount += more.byteCount
      cost.scratchByteCount += more.scratchByteCount
      cost.publishedByteCount += more.publishedByteCount
      cost.coreSeconds += more.coreSeconds
    }
    let duration = outline.duration?.value
    return PassEstimate(
      mediaSeconds: duration, storeByteCount: cost.byteCount,
      scratchByteCount: cost.scratchByteCount, publishedByteCount: cost.publishedByteCount,
      seconds: (duration ?? 0) * cost.coreSeconds / Double(coreCount),
      hints: SoundPassExecutor.hints(for: outline),
      outlines: streams.compactMapValues { try? Findings.json($0) })
  }

  /// What flows behind each step of a pass, as far as it is known beforehand.
  private static func streams(
    of order: PassOrder, source: SoundOutline
  ) throws(PassFailure) -> [StepID: SoundOutline] {
    var streams: [StepID: SoundOutline] = [:]
    var stream = source
    for member in order.path {
      if let filter = member.step.stage as? any SoundFilterStage {
        do { stream = try filter.outline(after: stream) } catch {
          throw PassFailure(member.step.id, error)
        }
      }
      streams[member.step.id] = stream
    }
    return streams
  }

  /// What a source's checkpoint is found by when the same sound may come again in another
  /// wrapping: its format and its length to the second.
  package static func hint(_ format: AudioFormat, seconds: Int) -> String {
    "\(Int(format.sampleRate.value))/\(format.channelCount)/\(seconds)"
  }

  /// The hints that sound of about this length may have been recorded under: a header's length may
  /// be off by the codec's padding.
  private static func hints(for outline: SoundOutline) -> [String] {
    guard let duration = outline.duration else { return [] }
    let seconds = Int(duration.value.rounded())
    return [seconds - 1, seconds, seconds + 1].map { hint(outline.format, seconds: $0) }
  }

  /// How often a pass records restart points and journal entries. Results do not depend on it.
  package struct Timing: Sendable {
    /// The time between two restart points.
    package let restartPoint: Duration
    /// The time between two entries: the most that a crash costs, besides the work of the encoders.
    package let note: Duration

    /// Half a second is lost, and the cost of entries cannot be measured.
    package static let usual = Timing(restartPoint: .milliseconds(250), note: .milliseconds(500))
  }
}

/// One traversal of the sound: blocks go from the source through the processors, and at some of the
/// steps on the way to taps, each with a thread of its own. An interrupted pass resumes at the
/// newest restart point from which every listener gets what it still needs.
private final class SoundPass {
  private let order: PassOrder
  private let context: PassContext
  private let pool: WorkerPool
  private let source: any SoundSource
  private let sourceStep: StepID
  private let stream: SoundStream
  private let taps: [SoundTap]
  private let reporters: [SoundPassBuilder.Reporter]
  private let fallible: [SoundPassBuilder.Fallible]
  private let meters: [StepID: WorkMeter]
  private let journal: PassJournal
  private let fault: PassFault
  /// Whether the processors took the states of an earlier process; if not, the pass has to begin anew.
  let isResumable: Bool
  /// Whether what is recorded of an earlier process holds no longer: the next one must not rely on it.
  private let isSetBack: Bool

  /// Opens what the pass begins with.
  static func open(
    _ order: PassOrder, in context: PassContext
  ) throws(PassFailure) -> any SoundSource {
    switch order.start {
    case .opened(let inputs):
      guard let first = order.path.first, let stage = first.step.stage as? any SoundSourceStage
      else { throw PassFailure(order.path.first?.step.id, SpoolError("this is no source")) }
      return try attributing(to: first.step.id) { () throws(SpoolError) in
        try stage.open(SoundInput.all(inputs, in: context.store))
      }
    case .kept(let id, let artifact):
      return try attributing(to: id) { () throws(SpoolError) in
        try PCMArtifact(artifact, in: context.store).open()
      }
    }
  }

  /// Makes the processors and the taps of a pass, as an earlier process left them where one did.
  /// - Parameters:
  ///   - isRepeated: whether the stream flows again in this process.
  ///   - isBegunAnew: whether to ignore what an earlier process recorded.
  init(
    _ order: PassOrder, source: any SoundSource, context: PassContext, pool: WorkerPool,
    timing: SoundPassExecutor.Timing, isRepeated: Bool, isBegunAnew: Bool
  ) throws(PassFailure) {
    self.order = order
    self.context = context
    self.pool = pool
    self.source = source
    let fault = PassFault()
    self.fault = fault
    let buffers = BufferPool()
    // The output of a plugin that is not deterministic cannot be resumed.
    let isRepeatable = order.path.allSatisfy(\.step.stage.isRepeatable)
    let (noted, notedAt) =
      isRepeatable && !isBegunAnew ? try SoundPass.record(in: context) : (nil, 0)
    let builder = SoundPassBuilder(
      order, context: context, pool: pool, buffers: buffers, fault: fault,
      canRepeat: isRepeatable, note: noted)
    let segments = try builder.segments(of: source.outline)
    sourceStep = order.sourceStep
    reporters = builder.reporters
    isSetBack = builder.isSetBack
    fallible = builder.fallible
    taps = segments.flatMap(\.taps)
    let sourceMeter = builder.meter(of: order.sourceStep)
    meters = builder.meters

    var note = PassState()
    note.listeners = builder.standings
    note.moments = (noted?.moments ?? []).filter { $0.given.count == segments.count }
    let restartPoint = note.restart
    isResumable = restartPoint.map { SoundPass.restore($0, to: segments) } ?? true
    journal = PassJournal(note, every: timing.note, claim: context.claim, fault: fault)
    stream = try SoundStream(
      source, of: sourceStep, through: segments, fallible: builder.fallible, from: restartPoint,
      momentInterval: timing.restartPoint, buffers: buffers, journal: journal, fault: fault,
      meter: sourceMeter)
    guard !isRepeated, isResumable else { return }
    let outline = source.outline
    let begin = Frames(restartPoint?.frame ?? 0).duration(at: outline.format.sampleRate)
    for part in builder.damage { context.dropped(part.step, part.part, part.goesOnAt) }
    let again = builder.damage.map(\.share).max() ?? 0
    context.resumed(
      begin.value, outline.duration?.value,
      (noted?.secondsInHand(at: notedAt) ?? 0) + again * context.claim.spentSeconds)
  }

  /// Restores the processors' states; false where one does not fit.
  private static func restore(
    _ point: PassState.RestartPoint, to segments: [SoundStream.Segment]
  ) -> Bool {
    do throws(SnapshotError) {
      for (index, segment) in segments.enumerated() {
        if let state = point.state(ofSegment: index) { try segment.chain?.restore(state) }
      }
      return true
    } catch { return false }
  }

  /// The state that an earlier process recorded, nil where there is none, and its time.
  private static func record(
    in context: PassContext
  ) throws(PassFailure) -> (note: PassState?, notedAt: Double) {
    let last = try attributing(to: nil) { () throws(SpoolError) in try context.claim.lastEntry() }
    return (last.flatMap { PassState.read($0.text) }, last?.notedAt ?? 0)
  }

  /// Seconds of work inside each step so far.
  var workSeconds: [StepID: Double] { meters.mapValues(\.seconds) }

  /// Streams everything, and collects what the taps give; nil where the stream has to flow again.
  func run() throws(PassFailure) -> PassOutcome? {
    taps.forEach { $0.start() }
    journal.start(taps)
    defer { journal.end() }
    if isSetBack {
      try attributing(to: sourceStep) { () throws(SpoolError) in try journal.noteNow(always: true) }
    }
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
      // What a plugin warned of may say why it failed.
      for member in fallible where member.isPending {
        for warning in member.processor.warnings { context.warn(member.step, warning) }
      }
      throw failure
    }
  }

  /// The stream has ended well: seals what was written, and lets the analyses decide.
  private func conclude() throws(PassFailure) -> PassOutcome? {
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
    var isNeededAgain = false
    for (index, tap) in taps.enumerated() where !tap.isAnalysis {
      let result = try tap.finish()
      guard !tap.needsStreamAgain else {
        isNeededAgain = true
        continue
      }
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
    guard !isNeededAgain else {
      // The next traversal begins with what is noted here, and so does one after a crash.
      journal.end()
      try attributing(to: nil) { () throws(SpoolError) in try journal.noteNow(always: true) }
      return nil
    }
    for reporter in reporters {
      let report = reporter.processor.report()
      let warnings = reporter.stage?.warnings(of: report) ?? []
      try keep(warnings, of: reporter.step, in: &outcome) { () throws(SpoolError) in
        try Findings.json(report)
      }
    }
    for member in fallible where member.isPending {
      try keep(member.processor.warnings, of: member.step, in: &outcome) {
        member.processor.figures
      }
    }
    try describeSource(&outcome)
    for (step, result) in outcome.results {
      for warning in result.warnings { context.warn(step, warning) }
    }
    return outcome
  }

  /// Keeps what a part of the pass tells about what it did.
  private func keep(
    _ warnings: [String], of step: StepID, in outcome: inout PassOutcome,
    _ report: () throws(SpoolError) -> String?
  ) throws(PassFailure) {
    var result = PassOutcome.Result()
    result.warnings = warnings
    result.artifacts[.measurement] = try attributing(to: step) { () throws(SpoolError) in
      guard let report = try report() else { return nil }
      return try context.store.keep(report, as: .measurement)
    }
    outcome.results[step, default: PassOutcome.Result()].merge(result)
  }

  /// What is recorded about a source that was done in this pass.
  private func describeSource(_ outcome: inout PassOutcome) throws(PassFailure) {
    guard case .opened = order.start, order.path.first?.isPending == true else { return }
    try keep(source.warnings, of: sourceStep, in: &outcome) { source.report() }
    // What follows the source in another pipeline may bring it down.
    if order.plan.isBelowCeiling(sourceStep) != true, let overload = source.overload {
      context.warn(sourceStep, overload)
    }
    var result = outcome.results[sourceStep] ?? PassOutcome.Result()
    result.identity = result.identity ?? result.artifacts[.sound]?.digest
    result.hint = SoundPassExecutor.hint(
      source.outline.format, seconds: Int(outcome.mediaSeconds.rounded()))
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
private final class StopWatch: Sendable {
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

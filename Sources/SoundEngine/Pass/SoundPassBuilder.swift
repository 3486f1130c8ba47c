import Audio
import FoundationEssentials
import PipelineEngine
import PipelineModel
import Platform

/// Makes the parts of a pass from its order.
final class SoundPassBuilder {
  private let order: PassOrder
  private let context: PassContext
  private let pool: WorkerPool
  private let buffers: BufferPool
  private let fault: PassFault
  /// Whether the same stream can be had once more.
  private let canRepeat: Bool
  /// What an earlier process recorded of the pass.
  private let note: PassState?
  /// The listeners made so far, as they stand at the beginning.
  private(set) var standings: [PassState.State] = []
  /// What an earlier process left, and is damaged.
  private(set) var damage: [SoundPassDamage] = []
  /// Whether a listener begins earlier than an earlier process recorded.
  private(set) var isSetBack = false
  /// The processors that report on their work, where that is wanted.
  private(set) var reporters: [Reporter] = []
  /// The processors that can fail.
  private(set) var fallible: [Fallible] = []
  /// The meters of the work inside each step.
  private(set) var meters: [StepID: WorkMeter] = [:]

  /// A processor that reports on its work.
  struct Reporter {
    let step: StepID
    let processor: any ReportingProcessor
    /// The stage that knows whether the report gives cause for warnings.
    let stage: (any SoundFilterStage)?
  }

  /// A processor that can fail.
  struct Fallible {
    let step: StepID
    let isPending: Bool
    let processor: PluginProcessor
  }

  init(
    _ order: PassOrder, context: PassContext, pool: WorkerPool,
    buffers: BufferPool, fault: PassFault, canRepeat: Bool, note: PassState?
  ) {
    self.note = note
    self.canRepeat = canRepeat
    self.order = order
    self.context = context
    self.pool = pool
    self.buffers = buffers
    self.fault = fault
  }

  /// The segments of a pass over a source, cut at each listener: the source's own, and those of the
  /// processors, in order. Follows the stream's format and length from step to step.
  func segments(of source: SoundOutline) throws(PassFailure) -> [SoundStream.Segment] {
    var filters = order.path[...]
    let first = if case .opened = order.start { filters.popFirst() } else { PassOrder.Member?.none }
    let id = order.sourceStep
    var segments = [
      SoundStream.Segment(
        chain: nil, step: id, taps: try taps(at: id, first, on: source, segment: 0),
        capacity: SoundStream.blockLength)
    ]
    var format = source.format
    var stream = source
    var processors: [any Processor] = []
    for filter in filters {
      let id = filter.step.id
      let processor: any Processor
      (processor, stream) = try self.processor(filter, on: stream)
      if filter.isPending, let reporter = processor as? any ReportingProcessor {
        let stage = filter.step.stage as? any SoundFilterStage
        reporters.append(Reporter(step: id, processor: reporter, stage: stage))
      }
      if let processor = processor as? PluginProcessor {
        fallible.append(Fallible(step: id, isPending: filter.isPending, processor: processor))
      }
      processors.append(TimedProcessor(processor, meter(of: id)))
      let taps = try taps(at: id, filter, on: stream, segment: segments.count)
      guard !taps.isEmpty || id == filters.last?.step.id else { continue }
      let chain = ProcessorChain(processors, format: format)
      segments.append(
        SoundStream.Segment(
          chain: chain, step: id, taps: taps,
          capacity: chain.blockCapacity(for: segments.last?.capacity ?? .zero)))
      format = stream.format
      processors = []
    }
    return segments
  }

  /// The meter of the work inside a step, which is one for all its parts.
  func meter(of step: StepID) -> WorkMeter {
    if let meter = meters[step] { return meter }
    let meter = WorkMeter()
    meters[step] = meter
    return meter
  }

  /// The processor of a filter, and what becomes of the stream behind it.
  private func processor(
    _ member: PassOrder.Member, on stream: SoundOutline
  ) throws(PassFailure) -> (any Processor, SoundOutline) {
    try attributing(to: member.step.id) { () throws(SpoolError) in
      if let stage = member.step.stage as? any SoundFilterStage {
        let outline = try stage.outline(after: stream)
        return (try stage.makeProcessor(for: stream.format, check: context.check), outline)
      }
      if let stage = member.step.stage as? any AnalysedSoundStage, let memo = member.memo {
        let outline = try stage.outline(after: stream, memo: memo)
        return (try stage.makeProcessor(for: stream.format, memo: memo), outline)
      }
      throw SpoolError("sound cannot flow through \(member.step.descriptor.kind)")
    }
  }

  /// Everything that hears the stream behind a step. `segment` is the segment's number in the pass.
  private func taps(
    at id: StepID, _ member: PassOrder.Member?, on outline: SoundOutline, segment: Int
  ) throws(PassFailure) -> [SoundTap] {
    var taps: [SoundTap] = []
    if let member, member.isKept {
      let port = member.step.descriptor.outputs.first?.name ?? .sound
      taps.append(
        try tap(id, at: id, outline, segment) { (work) throws(SpoolError) in
          .sink(try PCMArtifact.Writer(outline.format, port: port, work: work))
        })
    } else if let member, member.isPending, segment == 0 {
      taps.append(
        try tap(id, at: id, outline, segment) { _ in .sink(PCMArtifact.Identity(outline.format)) })
    }
    for listener in order.listeners where listener.at == id {
      let step = listener.step
      if let stage = step.stage as? any SoundSinkStage {
        taps.append(
          try tap(step.id, at: id, outline, segment, reports: true) { (work) throws(SpoolError) in
            try stage.check(outline)
            return .sink(
              try stage.makeSink(for: outline, in: sinkContext(of: listener, work)))
          })
      } else if let stage = step.stage as? any AnalysedSoundStage {
        taps.append(
          try tap(step.id, at: id, outline, segment, reports: true) { (work) throws(SpoolError) in
            .sink(try stage.makeAnalysis(of: outline.format, resuming: work.resuming))
          })
      }
    }
    return taps
  }

  /// A listener that an earlier process has finished is not made again.
  private func tap(
    _ step: StepID, at position: StepID, _ outline: SoundOutline, _ segment: Int,
    reports: Bool = false,
    _ make: (ListenerWork) throws(SpoolError) -> SoundTap.End
  ) throws(PassFailure) -> SoundTap {
    let number = standings.count
    let noted = note?.listener(number, segment: segment)
    var status = noted ?? PassState.State(segment: segment)
    let end: SoundTap.End
    if let result = noted?.result, isThere(result) {
      end = .finished(result)
    } else {
      status.result = nil
      let work = ListenerWork(
        claim: context.claim, name: "\(number)-\(step)", resuming: noted?.progress)
      do { end = try make(work) } catch { throw PassFailure(step, error) }
      // Not the recorded state: files may be gone since.
      status.needsFrom = end.sink?.firstFrame.count ?? 0
      status.movedAt = Date().timeIntervalSince1970
      if let noted {
        damage += SoundPassDamage.found(
          in: end, of: step, noted: noted, rate: outline.format.sampleRate)
        isSetBack = isSetBack || SoundPassDamage.isSetBack(end, noted: noted)
      }
    }
    standings.append(status)
    let rate = outline.format.sampleRate
    let total = outline.duration?.value
    let report = context.report
    return SoundTap(
      step: step, at: position, end, fault: fault, meter: meter(of: step),
      report: { frames in
        if reports { report(step, frames.duration(at: rate).value, total) }
      })
  }

  /// Whether the store still has what a listener gave.
  private func isThere(_ result: PassOutcome.Result) -> Bool {
    result.artifacts.values.allSatisfy { (try? context.store.path(of: $0)) != nil }
  }

  private func sinkContext(
    of listener: PassOrder.Listener, _ work: ListenerWork
  ) throws(SpoolError) -> SinkContext {
    let sealed = context.sealed
    let step = listener.step.id
    var made = SinkContext(
      store: context.store, work: work,
      inputs: try SoundInput.all(listener.inputs, in: context.store),
      pool: WorkerPool(sharing: pool, meter(of: step)), buffers: buffers,
      didSeal: { sealed(step, $0, $1) })
    made.promise = LevelPromise(of: listener.chain)
    made.canRepeat = canRepeat
    return made
  }
}

/// A part of a listener's recorded work that differs from what was written.
struct SoundPassDamage: Hashable {
  /// The step whose it is.
  let step: StepID
  /// What it is, in words.
  let part: String
  /// Where it resumes, in seconds of the recording.
  let goesOnAt: Double
  /// How much of what there was of it is made again: 1 for all.
  let share: Double

  /// A recorded state from which a listener cannot resume: it needs sound again that it had.
  static func found(
    in end: SoundTap.End, of step: StepID, noted: PassState.State, rate: Hertz
  ) -> [SoundPassDamage] {
    guard let sink = end.sink else { return [] }
    var parts = sink.damagedParts
    let had = had(noted)
    // An export knows all its parts, and those that are begun anew without damage.
    if parts.isEmpty, !(sink is ExportSink), sink.firstFrame.count < had {
      parts[name(of: sink)] = sink.firstFrame
    }
    return parts.sorted { $0.key < $1.key }.map { part, frame in
      let share = had > 0 ? 1 - min(1, Double(frame.count) / Double(had)) : 1
      return SoundPassDamage(
        step: step, part: part, goesOnAt: frame.duration(at: rate).value, share: share)
    }
  }

  /// Whether a listener needs sound again that it had.
  static func isSetBack(_ end: SoundTap.End, noted: PassState.State) -> Bool {
    end.sink.map { $0.firstFrame.count < had(noted) } ?? false
  }

  /// One that was done, and whose artifacts the store has lost, had needed nothing more.
  private static func had(_ noted: PassState.State) -> Int {
    noted.result == nil ? noted.needsFrom : .max
  }

  private static func name(of sink: any SoundSink) -> String {
    switch sink {
    case is PCMArtifact.Writer: "kept sound"
    case is any SoundAnalysis: "measurement"
    default: "unfinished work"
    }
  }
}

extension PassOrder {
  /// The step that the pass begins with.
  var sourceStep: StepID {
    switch start {
    case .opened: path.first?.step.id ?? StepID("")
    case .kept(let id, _): id
    }
  }
}

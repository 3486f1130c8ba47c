import Audio
import PipelineEngine
import PipelineModel

/// A pass, cut into segments at each listener.
struct SoundPassLayout {
  /// The step that the pass begins with.
  let sourceStep: StepID
  /// The source's own segment, and those of the processors, in order.
  private(set) var segments: [SoundStream.Segment] = []
  /// The processors that tell what they did, where that is wanted.
  private(set) var reporters: [Reporter] = []

  /// The processors that can fail.
  private(set) var fallible: [Fallible] = []

  /// A processor that can fail.
  struct Fallible {
    let step: StepID
    let isPending: Bool
    let processor: any FallibleProcessor
  }

  /// A processor that tells what it did.
  struct Reporter {
    let step: StepID
    let processor: any ReportingProcessor
    /// The stage that knows whether people should be warned of it.
    let stage: (any SoundFilterStage)?
  }

  /// Makes the processors and the taps of a pass over a source, following the stream's format and
  /// length from step to step.
  init(
    _ order: PassOrder, source: SoundOutline, _ builder: SoundPassBuilder
  ) throws(PassFailure) {
    var filters = order.path[...]
    var first: PassOrder.Member?
    switch order.start {
    case .opened:
      first = filters.popFirst()
      sourceStep = first?.step.id ?? StepID("")
    case .kept(let id, _):
      sourceStep = id
    }
    segments.append(
      SoundStream.Segment(
        chain: nil, step: sourceStep,
        taps: try builder.taps(at: sourceStep, first, on: source, segment: 0),
        capacity: SoundStream.blockLength))

    var format = source.format
    var stream = source
    var processors: [any Processor] = []
    for filter in filters {
      let id = filter.step.id
      let processor: any Processor
      (processor, stream) = try builder.processor(filter, on: stream)
      if filter.isPending, let reporter = processor as? any ReportingProcessor {
        let stage = filter.step.stage as? any SoundFilterStage
        reporters.append(Reporter(step: id, processor: reporter, stage: stage))
      }
      if let processor = processor as? any FallibleProcessor {
        fallible.append(
          Fallible(step: id, isPending: filter.isPending, processor: processor))
      }
      processors.append(processor)
      let taps = try builder.taps(at: id, filter, on: stream, segment: segments.count)
      guard !taps.isEmpty || id == filters.last?.step.id else { continue }
      let chain = ProcessorChain(processors, format: format)
      segments.append(
        SoundStream.Segment(
          chain: chain, step: id, taps: taps,
          capacity: chain.blockCapacity(for: segments.last?.capacity ?? .zero)))
      format = stream.format
      processors = []
    }
  }
}

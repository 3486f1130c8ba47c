import AudioModel
import PipelineEngine
import PipelineModel
import Threading

/// Makes the parts of a pass from its order.
struct SoundPassBuilder {
  private let order: PassOrder
  private let outline: SoundOutline
  private let context: PassContext
  private let pool: WorkerPool
  private let buffers: BufferPool
  private let fault: PassFault

  init(
    _ order: PassOrder, outline: SoundOutline, context: PassContext, pool: WorkerPool,
    buffers: BufferPool, fault: PassFault
  ) {
    self.order = order
    self.outline = outline
    self.context = context
    self.pool = pool
    self.buffers = buffers
    self.fault = fault
  }

  /// The processor of a filter.
  func processor(_ member: PassOrder.Member) throws(PassFailure) -> any Processor {
    do throws(StageError) {
      if let stage = member.step.stage as? any SoundFilterStage {
        return try stage.makeProcessor(for: outline.format)
      }
      if let stage = member.step.stage as? any AnalysedSoundStage, let memo = member.memo {
        return try stage.makeProcessor(for: outline.format, memo: memo)
      }
      throw StageError("sound cannot flow through \(member.step.descriptor.kind)")
    } catch {
      throw PassFailure(member.step.id, error)
    }
  }

  /// Everything that hears the stream behind a step.
  func taps(
    at id: StepID, _ member: PassOrder.Member?, isSource: Bool
  ) throws(PassFailure) -> [SoundTap] {
    var taps: [SoundTap] = []
    do {
      if let member, member.isKept {
        let port = member.step.descriptor.outputs.first?.name ?? .sound
        taps.append(
          tap(
            id, at: id,
            .sink(try KeptSoundWriter(outline.format, port: port, store: context.store))))
      } else if let member, member.isPending, isSource {
        taps.append(tap(id, at: id, .sink(SoundIdentity(outline.format))))
      }
    } catch {
      throw PassFailure(id, error)
    }
    for listener in order.listeners where listener.at == id {
      do {
        let step = listener.step
        if let stage = step.stage as? any SoundSinkStage {
          let sink = try stage.makeSink(for: outline, in: sinkContext(of: step.id))
          taps.append(tap(step.id, at: id, .sink(sink), reports: true))
        } else if let stage = step.stage as? any AnalysedSoundStage {
          taps.append(
            tap(
              step.id, at: id, .analysis(try stage.makeAnalysis(of: outline.format)),
              reports: true))
        }
      } catch {
        throw PassFailure(listener.step.id, error)
      }
    }
    return taps
  }

  private func sinkContext(of step: StepID) -> SinkContext {
    let sealed = context.sealed
    return SinkContext(
      store: context.store, pool: pool, buffers: buffers,
      didSeal: { sealed(step, $0, $1) })
  }

  private func tap(
    _ step: StepID, at position: StepID, _ end: SoundTap.End, reports: Bool = false
  ) -> SoundTap {
    let rate = outline.format.sampleRate
    let total = outline.duration?.value
    let report = context.report
    return SoundTap(
      step: step, at: position, end, fault: fault,
      report: { frames in
        if reports { report(step, frames.duration(at: rate).value, total) }
      })
  }
}

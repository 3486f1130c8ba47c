package import Audio
package import PipelineEngine
package import PipelineModel
import Platform

/// Runs the passes of sound stages: one reader, one thread for the processors, one for each
/// listener, and a pool for encoders, with bounded queues between them, so that memory stays flat
/// however long the recording is.
package struct SoundPassExecutor: PassExecutor {
  package let family = StageFamily.sound
  private let pool: WorkerPool
  private let coreCount: Int
  private let timing: Timing

  package init(coreCount: Int) { self.init(coreCount: coreCount, timing: .usual) }

  package init(coreCount: Int, timing: Timing) {
    self.coreCount = max(1, coreCount)
    self.timing = timing
    pool = WorkerPool(threadCount: max(1, coreCount))
  }

  /// Runs a pass to its end. Blocks.
  package func run(_ order: PassOrder, in context: PassContext) throws(PassFailure) -> PassOutcome {
    let source = try SoundPass.open(order, in: context)
    let pass = try SoundPass(order, source: source, context: context, pool: pool, timing: timing)
    return try pass.run()
  }

  /// Reckons with measured costs a second of sound; the encoders dominate.
  package func estimate(_ order: PassOrder) throws(PassFailure) -> PassEstimate {
    guard case .opened(let inputs) = order.start, let first = order.path.first,
      let stage = first.step.stage as? any SoundSourceStage
    else { throw PassFailure(order.path.first?.step.id, SpoolError("there is no recording")) }
    let outline: SoundOutline
    do throws(SpoolError) {
      var opened: [SoundInput] = []
      for input in inputs { opened.append(try SoundInput(input, in: nil)) }
      outline = try stage.outline(of: opened)
    } catch {
      throw PassFailure(first.step.id, error)
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
      do { try sink.check(stream) } catch { throw PassFailure(listener.step.id, error) }
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
      hints: SoundPassExecutor.hints(for: outline))
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

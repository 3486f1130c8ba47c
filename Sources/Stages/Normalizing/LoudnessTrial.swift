import AudioModel
import DSP
import PipelineModel
import Threading

/// One trial of a search: runs gain and limiter over the whole sound, and measures how loud it
/// becomes.
///
/// The sound is cut into stretches of one length, whatever the number of cores, which are tried
/// side by side. Each begins a little earlier than it counts, until the limiter and the meter's
/// filters have forgotten that they did not hear what came before.
struct LoudnessTrial: Sendable {
  /// What is tried.
  let decision: NormalizeDecision
  /// The sound before it.
  let sound: KeptSound
  /// Throws when the pass has to stop.
  let check: @Sendable () throws(StageError) -> Void

  /// How many steps of the loudness history a stretch counts: 30 s.
  private static let stretch = 300
  /// How many come before them: a second, after which the limiter, at a release of 100 ms, is off
  /// by less than 0.0005 dB from where it would be, and the meter by far less.
  private static let runIn = 10
  /// Small enough to stay in the processor's cache from the reader to the meter.
  private static let blockLength = Frames(4096)

  private var stepLength: Frames {
    LoudnessHistory.stepLength(at: sound.outline.format.sampleRate)
  }

  /// How loud the whole sound becomes; the same on any number of threads. Blocks.
  /// - Parameters:
  ///   - begun: what an earlier run of the same trial told of, to go on behind.
  ///   - note: told of the whole stretches that are done so far.
  func run(
    on pool: WorkerPool, from begun: LoudnessHistory = LoudnessHistory(),
    note: (LoudnessHistory) -> Void = { _ in }
  ) throws(StageError) -> LoudnessHistory {
    let steps = (sound.outline.frames ?? .zero).count / stepLength.count
    var starts = stride(from: begun.count, to: steps, by: Self.stretch).makeIterator()
    let results = OrderedResults<Result<LoudnessHistory, StageError>>(
      pool: pool, limit: pool.threadCount + 1)
    var history = begun
    var failure: StageError?
    while true {
      while failure == nil, !results.isFull, let start = starts.next() {
        results.submit { Result { () throws(StageError) in try measure(from: start) } }
      }
      // After a failure, too, what is under way is waited for: it reads a file that others own.
      guard let result = results.next() else { break }
      switch result {
      case .success(let part):
        history.append(part, steps: 0..<part.count)
        if part.count == Self.stretch { note(history) }
      case .failure(let error): failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return history
  }

  /// How loud the stretch becomes that begins with a step.
  private func measure(from start: Int) throws(StageError) -> LoudnessHistory {
    let format = sound.outline.format
    let runIn = min(start, Self.runIn)
    let source = try sound.open(at: Frames((start - runIn) * stepLength.count))
    let processor = decision.makeProcessor(for: format)
    let meter = LoudnessMeter(format: format, includesPeaks: false)
    var input = AudioBuffer(channelCount: format.channelCount, capacity: Self.blockLength)
    var output = AudioBuffer(
      channelCount: format.channelCount, capacity: Self.blockLength + processor.latency)
    while meter.history.count < runIn + Self.stretch {
      try check()
      guard try source.read(into: &input) else {
        processor.finish(into: &output)
        meter.analyse(output)
        break
      }
      processor.process(input, into: &output)
      meter.analyse(output)
    }
    var history = LoudnessHistory()
    history.append(meter.history, steps: runIn..<runIn + Self.stretch)
    return history
  }
}

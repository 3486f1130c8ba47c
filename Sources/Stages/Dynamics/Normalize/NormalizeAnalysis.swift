import Audio
import FoundationEssentials
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import SoundEngine
import Store
import Synchronization

extension NormalizeStage {
  /// Measures the stream, and settles the gain.
  final class Analysis: SoundAnalysis {
    private let target: NormalizeStage.Target
    private let isDualMono: Bool
    private let meter: ResumableMeter<LoudnessMeter>
    private let search: SearchProgress

    /// What is recorded of it.
    private struct SavedState: Codable {
      let meter: String
      let search: SearchProgress.SavedState?
    }

    init(
      _ target: NormalizeStage.Target, _ format: AudioFormat, isDualMono: Bool,
      resuming progress: ListenerProgress?
    ) {
      self.target = target
      self.isDualMono = isDualMono
      let note = progress.flatMap { try? Findings.decode(SavedState.self, from: $0.state) }
      let heard = progress.flatMap { progress in
        note.map { ListenerProgress(needsFrom: progress.needsFrom, state: $0.meter) }
      }
      meter = ResumableMeter(
        { LoudnessMeter(format: format, isDualMono: isDualMono) }, resuming: heard)
      search = SearchProgress(resuming: note?.search)
    }

    var firstFrame: Frames { meter.firstFrame }

    func take(_ block: SharedBuffer) { meter.hear(block.buffer) }

    func progress() -> ListenerProgress? {
      let heard = meter.progress
      let note = SavedState(meter: heard.state, search: search.text)
      return (try? Findings.json(note)).map {
        ListenerProgress(needsFrom: heard.needsFrom, state: $0)
      }
    }

    func conclude(
      _ sound: PCMArtifact, store: any ArtifactStore, pool: WorkerPool,
      check: @escaping @Sendable () throws(SpoolError) -> Void
    ) throws(SpoolError) -> PassOutcome.Result {
      let found = meter.finding()
      let before = NormalizeLevels(found)
      var decision = decide(before, found.history)
      var after = before.amplified(by: decision.gain)
      after.integratedLoudness = found.history.integrated(behind: decision.gain)
      let unlimited = after.integratedLoudness
      switch (target, decision.ceiling) {
      case (.loudness(let wanted, _), let ceiling?):
        let finder = LoudnessSearch(
          wanted: wanted, ceiling: ceiling, sound: sound, isDualMono: isDualMono, pool: pool,
          check: check)
        let (gain, reached) = try finder.settle(from: decision.gain, noting: search)
        decision.gain = gain
        after.limit(to: ceiling, reaching: reached)
      case (.gain, let ceiling?):
        let trial = LoudnessTrial(
          decision: decision, sound: sound, isDualMono: isDualMono, check: check)
        after.limit(to: ceiling, reaching: try trial.run(on: pool).integrated())
      default: break
      }
      let findings = NormalizeStage.Report(
        before: before, after: after, gain: decision.gain, isLimited: decision.ceiling != nil)
      var result = PassOutcome.Result()
      result.warnings =
        warnings(before, after, decision, sound.outline)
        + albumWarnings(after, unlimited: unlimited, decision)
      result.memo = try Findings.json(decision)
      result.artifacts[.measurement] = try store.keep(
        try Findings.json(findings), as: .measurement)
      return result
    }

    /// What the user asked for and does not get.
    private func warnings(
      _ before: NormalizeLevels, _ after: NormalizeLevels, _ decision: NormalizeStage.Decision,
      _ stream: SoundOutline
    ) -> [String] {
      guard before.samplePeak != nil else {
        return ["nothing was changed: the recording is silent"]
      }
      guard case .loudness(let wanted, let ceiling) = target else { return [] }
      guard let reached = after.integratedLoudness else {
        guard before.integratedLoudness == nil else {
          return [
            "the loudness ends below -70 LUFS, where it is not measured, and not at "
              + "\(wanted.value)"
          ]
        }
        guard let duration = stream.duration, duration.value >= 0.4 else {
          return [
            "nothing was changed: less than 400 ms have no loudness; a peak can be reached, "
              + "normalize: { peak: -1 dB }"
          ]
        }
        return ["nothing was changed: nowhere is the recording louder than -70 LUFS"]
      }
      guard abs(reached.value - wanted.value) > 0.1 else { return [] }
      let places = Self.tenths(reached.value)
      guard decision.ceiling != nil else {
        return [
          "the loudness ends at \(places) LUFS, not at \(wanted.value): so near to -70 LUFS every "
            + "gain changes which parts count"
        ]
      }
      return [
        "the loudness ends at \(places) LUFS, not at \(wanted.value): with no true peak above "
          + "\(ceiling.value) dBTP, more gain makes this recording hardly any louder"
      ]
    }

    /// To one decimal.
    private static func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }

    /// The least loss of loudness among an album's recordings that a warning names, in LU.
    private static let toldLoss = 0.5

    /// What the ceiling takes from a recording of an album, and not from the others.
    private func albumWarnings(
      _ after: NormalizeLevels, unlimited: LUFS?, _ decision: NormalizeStage.Decision
    ) -> [String] {
      guard case .gain = target, let ceiling = decision.ceiling, let unlimited,
        let reached = after.integratedLoudness, unlimited.value - reached.value > Self.toldLoss
      else { return [] }
      let loss = Self.tenths(unlimited.value - reached.value)
      return [
        "the loudness ends at \(Self.tenths(reached.value)) LUFS, \(loss) LU below that of the "
          + "album's gain: true peaks are limited to \(ceiling.value) dBTP, and it is quieter among the "
          + "others than it was"
      ]
    }

    private func decide(
      _ before: NormalizeLevels, _ history: LoudnessHistory
    ) -> NormalizeStage.Decision {
      switch target {
      case .gain(let gain, let ceiling):
        guard let truePeak = before.truePeak else {
          return NormalizeStage.Decision(gain: Decibels(0))
        }
        return NormalizeStage.Decision(
          gain: gain, ceiling: truePeak.value + gain.value > ceiling.value ? ceiling : nil)
      case .peak(let peak):
        guard let highest = before.samplePeak else {
          return NormalizeStage.Decision(gain: Decibels(0))
        }
        return NormalizeStage.Decision(gain: Decibels(peak.value - highest.value))
      case .loudness(let wanted, let ceiling):
        guard let loudness = before.integratedLoudness else {
          return NormalizeStage.Decision(gain: Decibels(0))
        }
        // Parts below -70 LUFS do not count, until the gain lifts them.
        let gain =
          LoudnessHistory.gain(of: [history], reaching: wanted)
          ?? Decibels(wanted.value - loudness.value)
        let truePeak = (before.truePeak?.value ?? -.infinity) + gain.value
        return NormalizeStage.Decision(
          gain: gain, ceiling: truePeak > ceiling.value ? ceiling : nil)
      }
    }
  }
}

/// Finds the gain with which limited sound reaches a loudness.
///
/// A limiter takes loudness away, and how much is only known from trying.
struct LoudnessSearch {
  /// The loudness to reach.
  let wanted: LUFS
  /// The ceiling of the limiter.
  let ceiling: Decibels
  /// The sound before gain and limiter.
  let sound: PCMArtifact
  /// Whether mono counts as both speakers play it.
  var isDualMono = false
  /// Threads for the stretches of a trial, one a core.
  let pool: WorkerPool
  /// Throws when the pass has to stop.
  let check: @Sendable () throws(SpoolError) -> Void

  /// The gain and what it reaches, beginning at the gain that would do without a limiter, or where
  /// `status` says that an earlier process came to.
  func settle(
    from unlimited: Decibels, noting status: SearchProgress
  ) throws(SpoolError) -> (gain: Decibels, reached: LUFS) {
    var (steps, begun) =
      status.latest ?? (LoudnessSteps(wanted: wanted, unlimited: unlimited), LoudnessHistory())
    while !steps.isSettled {
      let trial = LoudnessTrial(
        decision: NormalizeStage.Decision(gain: steps.gain, ceiling: ceiling), sound: sound,
        isDualMono: isDualMono, check: check)
      let history = try trial.run(on: pool, from: begun) { status.record(steps, $0) }
      guard let reached = history.integrated() else { break }
      steps.take(reached)
      begun = LoudnessHistory()
      status.record(steps, begun)
    }
    return (steps.gain, steps.expected)
  }
}

/// How far a search for a gain is: what one thread does, and another may record at any time.
final class SearchProgress: Sendable {
  /// A search as text.
  struct SavedState: Codable, Hashable {
    /// The trials so far.
    let steps: LoudnessSteps
    /// What the trial under way has measured, in Base64.
    let history: String
  }

  private let state: Mutex<(LoudnessSteps, LoudnessHistory)?>

  /// A search that begins, or resumes where an earlier process left it.
  init(resuming note: SavedState?) {
    var begun: (LoudnessSteps, LoudnessHistory)?
    if let note, let bytes = Data(base64Encoded: note.history),
      let history = try? LoudnessHistory(ProcessorSnapshot(bytes: Array(bytes)))
    {
      begun = (note.steps, history)
    }
    state = Mutex(begun)
  }

  /// The trials so far, and what the one under way has measured; nil before the first.
  var latest: (LoudnessSteps, LoudnessHistory)? { state.withLock { $0 } }

  /// Takes up how far the search is.
  func record(_ steps: LoudnessSteps, _ history: LoudnessHistory) {
    state.withLock { $0 = (steps, history) }
  }

  /// The search as text; nil before the first trial.
  var text: SavedState? {
    latest.map { steps, history in
      SavedState(steps: steps, history: Data(history.snapshot.bytes).base64EncodedString())
    }
  }
}

/// One trial of a search: runs gain and limiter over the whole sound, and measures how loud it
/// becomes.
///
/// The sound is cut into stretches of one length, whatever the number of cores, which are tried
/// side by side. Each begins a little earlier than it counts, until the limiter and the meter's
/// filters have forgotten that they did not hear what came before.
struct LoudnessTrial: Sendable {
  /// What is tried.
  let decision: NormalizeStage.Decision
  /// The sound before it.
  let sound: PCMArtifact
  /// Whether mono counts as both speakers play it.
  var isDualMono = false
  /// Throws when the pass has to stop.
  let check: @Sendable () throws(SpoolError) -> Void

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
  ///   - begun: what an earlier run of the same trial passed to `record`, to resume behind.
  ///   - record: called with the whole stretches that are done so far.
  func run(
    on pool: WorkerPool, from begun: LoudnessHistory = LoudnessHistory(),
    record: (LoudnessHistory) -> Void = { _ in }
  ) throws(SpoolError) -> LoudnessHistory {
    let steps = (sound.outline.frames ?? .zero).count / stepLength.count
    var starts = stride(from: begun.count, to: steps, by: Self.stretch).makeIterator()
    let results = OrderedResults<Result<LoudnessHistory, SpoolError>>(
      pool: pool, limit: pool.threadCount + 1)
    var history = begun
    var failure: SpoolError?
    while true {
      while failure == nil, !results.isFull, let start = starts.next() {
        results.submit { Result { () throws(SpoolError) in try measure(from: start) } }
      }
      // After a failure, too, what is under way is waited for: it reads a file that others own.
      guard let result = results.next() else { break }
      switch result {
      case .success(let part):
        history.append(part, steps: 0..<part.count)
        if part.count == Self.stretch { record(history) }
      case .failure(let error): failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return history
  }

  /// How loud the stretch becomes that begins with a step.
  private func measure(from start: Int) throws(SpoolError) -> LoudnessHistory {
    let format = sound.outline.format
    let runIn = min(start, Self.runIn)
    let source = try sound.open(at: Frames((start - runIn) * stepLength.count))
    let processor = decision.makeProcessor(for: format)
    let meter = LoudnessMeter(format: format, includesPeaks: false, isDualMono: isDualMono)
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

/// What the decision rests on; an absent figure is that of silence.
struct NormalizeLevels: Codable, Sendable {
  fileprivate(set) var integratedLoudness: LUFS?
  private(set) var truePeak: Decibels?
  private(set) var samplePeak: Decibels?

  init(_ loudness: LoudnessMeter.Finding) {
    integratedLoudness = loudness.integrated
    truePeak = loudness.peaks.truePeak
    samplePeak = loudness.peaks.samplePeak
  }

  /// The levels behind a limiter that had something to do.
  mutating func limit(to ceiling: Decibels, reaching loudness: LUFS?) {
    integratedLoudness = loudness
    truePeak = ceiling
    samplePeak = nil
  }

  /// The levels behind a gain.
  func amplified(by gain: Decibels) -> NormalizeLevels {
    var result = self
    result.integratedLoudness?.value += gain.value
    result.truePeak?.value += gain.value
    result.samplePeak?.value += gain.value
    return result
  }
}

extension NormalizeStage {
  /// What to reach.
  enum Target: Sendable {
    case loudness(LUFS, ceiling: Decibels)
    case peak(Decibels)
    /// What was found for a whole album.
    case gain(Decibels, ceiling: Decibels)
  }

  /// Levels before and after.
  struct Report: Codable, Sendable {
    let before: NormalizeLevels
    let after: NormalizeLevels
    let gain: Decibels
    let isLimited: Bool
  }

  /// What the stage will do, once it has heard everything.
  struct Decision: Codable, Sendable {
    var gain: Decibels
    /// The ceiling that a limiter keeps; nil where no peak can reach it.
    var ceiling: Decibels?

    func makeProcessor(for format: AudioFormat) -> any Processor {
      var processors: [any Processor] = [Gain(gain, format: format)]
      if let ceiling {
        processors.append(Limiter(Limiter.Settings(ceiling: ceiling), format: format))
      }
      return ProcessorChain(processors, format: format)
    }
  }
}

import AudioModel
import DSP
import PipelineModel
import Synchronization
import Threading

/// Finds the gain with which limited sound reaches a loudness.
///
/// A limiter takes loudness away, and how much is only known from trying. Each round tries two
/// gains at the same time, and draws a line through what they reach.
struct LoudnessSearch {
  /// The loudness to reach.
  let wanted: LUFS
  /// The ceiling of the limiter.
  let ceiling: Decibels
  /// The sound before gain and limiter.
  let sound: KeptSound
  /// Throws when the pass has to stop.
  let check: @Sendable () throws(StageError) -> Void

  private static let maximumRounds = 4

  /// The gain, beginning at the one that would do without a limiter.
  func gain(from unlimited: Decibels) throws(StageError) -> Decibels {
    var line = LoudnessLine(wanted: wanted, unlimited: unlimited)
    for _ in 0..<Self.maximumRounds {
      let (low, high) = line.trials
      let upper = Trial(gain: high, search: self)
      let thread = BackgroundThread(name: "trial") { upper.run() }
      let lower = Trial(gain: low, search: self)
      lower.run()
      thread.join()
      guard let reachedLow = try lower.result(), let reachedHigh = try upper.result() else { break }
      if line.settle(reachedLow, reachedHigh) { break }
    }
    return line.gain
  }

  /// One gain tried over the whole sound.
  private final class Trial: Sendable {
    private let gain: Decibels
    private let search: LoudnessSearch
    private let outcome = Mutex<Result<LUFS?, StageError>>(.success(nil))

    init(gain: Decibels, search: LoudnessSearch) {
      self.gain = gain
      self.search = search
    }

    func result() throws(StageError) -> LUFS? { try outcome.withLock { $0 }.get() }

    func run() {
      do throws(StageError) {
        let loudness = try measure()
        outcome.withLock { $0 = .success(loudness) }
      } catch {
        outcome.withLock { $0 = .failure(error) }
      }
    }

    private func measure() throws(StageError) -> LUFS? {
      let source = try search.sound.open()
      let format = source.outline.format
      let decision = NormalizeDecision(gain: gain, ceiling: search.ceiling)
      let processor = decision.makeProcessor(for: format)
      let meter = LoudnessMeter(format: format, includesPeaks: false)
      let length = Frames(16384)
      var input = AudioBuffer(channelCount: format.channelCount, capacity: length)
      var output = AudioBuffer(
        channelCount: format.channelCount, capacity: length + processor.latency)
      while try source.read(into: &input) {
        try search.check()
        processor.process(input, into: &output)
        meter.analyse(output)
      }
      processor.finish(into: &output)
      meter.analyse(output)
      return meter.finding().integrated
    }
  }
}

/// The bookkeeping of a search: which two gains to try, and what follows from what they reached.
/// A pure value.
struct LoudnessLine {
  /// How far apart the two gains of a round are.
  private static let spread = 1.5
  /// Beyond this, more gain buys only distortion.
  private static let maximumExtra = 12.0
  /// How far a line may be followed beyond its two points.
  private static let reach = 0.5

  private let wanted: LUFS
  private let unlimited: Decibels
  private var low: Decibels

  /// The best gain known.
  private(set) var gain: Decibels

  init(wanted: LUFS, unlimited: Decibels) {
    self.wanted = wanted
    self.unlimited = unlimited
    low = unlimited
    gain = unlimited
  }

  /// The two gains to try next.
  var trials: (low: Decibels, high: Decibels) { (low, Decibels(low.value + Self.spread)) }

  /// Takes up what the two gains reached.
  /// - Returns: whether the search is over.
  mutating func settle(_ reachedLow: LUFS, _ reachedHigh: LUFS) -> Bool {
    // Never flat: a limiter that gives nothing back any more would send the gain to infinity.
    let slope = max((reachedHigh.value - reachedLow.value) / Self.spread, 0.05)
    let extra = (wanted.value - reachedLow.value) / slope
    let most = unlimited.value + Self.maximumExtra
    gain = Decibels(min(max(low.value + extra, unlimited.value), most))
    if gain.value == most || (-Self.reach...Self.spread + Self.reach).contains(extra) {
      return true
    }
    low = Decibels(max(gain.value - Self.spread / 2, unlimited.value))
    return false
  }
}

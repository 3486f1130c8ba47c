import AudioModel
import DSP
import PipelineModel
import Synchronization
import Threading

/// Finds the gain with which limited sound reaches a loudness.
///
/// A limiter takes loudness away, and how much is only known from trying: a trial runs gain and
/// limiter over the whole sound and measures what comes out, each on a thread of its own.
struct LoudnessSearch {
  /// The loudness to reach.
  let wanted: LUFS
  /// The ceiling of the limiter.
  let ceiling: Decibels
  /// The sound before gain and limiter.
  let sound: KeptSound
  /// Throws when the pass has to stop.
  let check: @Sendable () throws(StageError) -> Void

  private static let blockLength = Frames(16384)

  /// The gain and what it reaches, beginning at the gain that would do without a limiter.
  func settle(from unlimited: Decibels) throws(StageError) -> (gain: Decibels, reached: LUFS) {
    var steps = LoudnessSteps(wanted: wanted, unlimited: unlimited)
    while !steps.isSettled {
      guard let reached = try trial(steps.gain) else { break }
      steps.take(reached)
    }
    return (steps.gain, steps.expected)
  }

  /// The loudness behind a gain and the limiter; nil for silence.
  private func trial(_ gain: Decibels) throws(StageError) -> LUFS? {
    let source = try sound.open()
    let format = source.outline.format
    let processor = NormalizeDecision(gain: gain, ceiling: ceiling).makeProcessor(for: format)
    let buffers = BufferPool()
    let listener = TrialListener(format)
    // A trial that is given up ends its listener as well.
    defer { listener.end() }
    let capacity = Self.blockLength + processor.latency
    var input = buffers.makeBuffer(
      channelCount: format.channelCount, capacity: Self.blockLength)
    while try source.read(into: &input) {
      try check()
      var output = buffers.makeBuffer(channelCount: format.channelCount, capacity: capacity)
      processor.process(input, into: &output)
      listener.hear(SharedBuffer(output))
    }
    var rest = buffers.makeBuffer(channelCount: format.channelCount, capacity: capacity)
    processor.finish(into: &rest)
    listener.hear(SharedBuffer(rest))
    return listener.end()
  }
}

/// Measures the loudness of a trial on a thread of its own.
private final class TrialListener {
  private let queue = BoundedQueue<SharedBuffer>(capacity: 4)
  private let loudness: Box
  private let thread: BackgroundThread

  /// Where the thread leaves what it found.
  private final class Box: Sendable {
    let value = Mutex<LUFS?>(nil)
  }

  init(_ format: AudioFormat) {
    let queue = queue
    let box = Box()
    loudness = box
    thread = BackgroundThread(name: "trial") {
      let meter = LoudnessMeter(format: format, includesPeaks: false)
      while let block = queue.receive() { meter.analyse(block.buffer) }
      box.value.withLock { $0 = meter.finding().integrated }
    }
  }

  func hear(_ block: SharedBuffer) { _ = queue.send(block) }

  /// The sound has ended: what was found.
  @discardableResult
  func end() -> LUFS? {
    queue.close()
    thread.join()
    return loudness.value.withLock { $0 }
  }
}

/// The bookkeeping of a search: which gain to try next, and when that is good enough. A pure
/// value.
struct LoudnessSteps {
  /// Near enough, in LU.
  private static let tolerance = 0.03
  /// What a decibel of gain brings at first, where a limiter has a little to do.
  private static let usualSlope = 0.88
  /// A step so short, in LU, that it ends near enough although the slope is only known roughly; a
  /// measured slope carries further than the usual one.
  private static let sureStep = (usual: 0.12, measured: 0.25)
  /// Beyond this, more gain buys only distortion.
  private static let maximumExtra = 12.0
  private static let maximumTrials = 5

  private let wanted: LUFS
  private let unlimited: Decibels
  private var last: (gain: Decibels, reached: LUFS)?
  private var trials = 0

  /// The gain to try next, or to take.
  private(set) var gain: Decibels
  /// What the gain reaches, measured or, behind a last short step, reckoned.
  private(set) var expected: LUFS
  /// Whether the search is over.
  private(set) var isSettled = false

  init(wanted: LUFS, unlimited: Decibels) {
    self.wanted = wanted
    self.unlimited = unlimited
    gain = unlimited
    expected = wanted
  }

  /// Takes up what the gain reached.
  mutating func take(_ reached: LUFS) {
    trials += 1
    expected = reached
    let missing = wanted.value - reached.value
    if abs(missing) <= Self.tolerance {
      isSettled = true
      return
    }
    var slope = Self.usualSlope
    if let last, last.gain != gain {
      // Never flat: a limiter that gives nothing back any more would send the gain to infinity.
      slope = (reached.value - last.reached.value) / (gain.value - last.gain.value)
      slope = min(max(slope, 0.05), 1)
    }
    let sure = last == nil ? Self.sureStep.usual : Self.sureStep.measured
    let most = unlimited.value + Self.maximumExtra
    let next = min(max(gain.value + missing / slope, unlimited.value), most)
    isSettled =
      abs(missing) <= sure || next == most || next == gain.value || trials == Self.maximumTrials
    last = (gain, reached)
    expected = LUFS(reached.value + (next - gain.value) * slope)
    gain = Decibels(next)
  }
}

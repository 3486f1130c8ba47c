import Audio
import Platform

/// A processor with a meter of the time that it takes.
///
/// Every fifth call is timed, and the sum is extrapolated by frames: reading a clock costs as much
/// as a processor takes for a few frames. Five, because a chain calls its processors 16 times for
/// each block of a stream, and timed calls must not always fall on the same place of a block.
final class TimedProcessor: Processor {
  private static let interval = 5

  private let base: any Processor
  private let meter: WorkMeter
  private var calls = 0
  private var frames = 0
  private var timedFrames = 0
  private var timed = Duration.zero

  init(_ base: any Processor, _ meter: WorkMeter) {
    self.base = base
    self.meter = meter
  }

  var outputFormat: AudioFormat { base.outputFormat }
  var latency: Frames { base.latency }
  func capacity(for input: Frames) -> Frames { base.capacity(for: input) }
  func blockCapacity(for input: Frames) -> Frames { base.blockCapacity(for: input) }
  var snapshot: ProcessorSnapshot { base.snapshot }
  func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) { try base.restore(snapshot) }
  func code(_ coder: inout StateCoder) throws(SnapshotError) { try base.code(&coder) }

  func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    let count = input.frameCount.count
    frames += count
    calls += 1
    guard calls % Self.interval == 1 else { return base.process(input, into: &output) }
    let start = ContinuousClock.now
    base.process(input, into: &output)
    timed += ContinuousClock.now - start
    timedFrames += count
  }

  func finish(into output: inout AudioBuffer) {
    let start = ContinuousClock.now
    base.finish(into: &output)
    let last = ContinuousClock.now - start
    let sum = timed / .nanoseconds(1) * Double(frames) / Double(max(1, timedFrames))
    meter.add(nanoseconds: Int64(sum + last / .nanoseconds(1)))
  }
}

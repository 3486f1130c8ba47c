public import AudioModel

/// Joins sounds one after the other; where two meet, the end of one and the beginning of the next
/// sound together for as long as the crossfade takes.
///
/// Sound that is not at a joint comes through bit for bit, but for samples that are no numbers, which
/// become 0. What comes out does not depend on how the sounds were cut into blocks. A sound between
/// two others has to be twice as long as the crossfade, the first and the last once. Belongs to one
/// thread at a time.
public final class Joiner {
  /// What comes in, and what comes out.
  public let format: AudioFormat
  /// How long two neighbours sound together.
  public let crossfade: Frames

  private let curve: FadeCurve
  /// The newest frames of the sound in hand, which are crossfaded if another follows.
  private var held: FrameQueue
  /// The end of the sound before, as far as it is not joined yet.
  private var ending: FrameQueue

  /// A joiner that waits for the first sound.
  public init(crossfade: Frames, curve: FadeCurve, format: AudioFormat) {
    precondition(crossfade.count >= 0)
    self.format = format
    self.crossfade = crossfade
    self.curve = curve
    held = FrameQueue(channelCount: format.channelCount, capacity: crossfade.count)
    ending = FrameQueue(channelCount: format.channelCount, capacity: crossfade.count)
  }

  /// Takes the next block of the sound in hand, and replaces the content of `output` with what is
  /// ready: at most as many frames as came in.
  public func take(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    let count = input.frameCount.count
    let joined = min(ending.count, count)
    join(input, count: joined, into: &output)
    // What was held back goes first, then the block, and its end is held back.
    let ready = max(held.count + count - joined - crossfade.count, 0)
    let old = min(ready, held.count)
    held.move(old, to: &output)
    let direct = ready - old
    copy(input, start: joined, count: direct, into: &output)
    held.append(input, start: joined + direct, count: count - joined - direct)
  }

  /// The sound in hand has ended, and another follows.
  /// - Returns: false where it was too short for its crossfades; then nothing may follow.
  public func endPart() -> Bool {
    guard ending.count == 0, held.count == crossfade.count else { return false }
    held.copy(held.count, to: &ending)
    held.drop(held.count)
    return true
  }

  /// The last sound has ended: replaces the content of `output` with what was held back of it, a
  /// crossfade at most.
  /// - Returns: false where it was too short for its crossfade.
  public func finish(into output: inout AudioBuffer) -> Bool {
    output.frameCount = .zero
    held.move(held.count, to: &output)
    return ending.count == 0
  }

  private func copy(
    _ input: borrowing AudioBuffer, start: Int, count: Int, into output: inout AudioBuffer
  ) {
    let place = output.frameCount.count
    output.append(contentsOf: input, start: Frames(start), count: Frames(count))
    for channel in 0..<output.channelCount {
      let samples = unsafe output.baseAddress(ofChannel: channel) + place
      unsafe FiniteSamples.copy(from: samples, to: samples, count: count)
    }
  }

  /// Crossfades the first frames of a block with the end of the sound before.
  private func join(_ input: borrowing AudioBuffer, count: Int, into output: inout AudioBuffer) {
    let place = output.frameCount.count
    let done = crossfade.count - ending.count
    copy(input, start: 0, count: count, into: &output)
    for index in 0..<count {
      let share = (Double(done + index) + 0.5) / Double(crossfade.count)
      let (falling, rising) = (Float(curve.gain(at: 1 - share)), Float(curve.gain(at: share)))
      for channel in 0..<output.channelCount {
        let samples = unsafe output.baseAddress(ofChannel: channel) + place
        unsafe samples[index] = samples[index] * rising + ending[channel, index] * falling
      }
    }
    ending.drop(count)
  }
}

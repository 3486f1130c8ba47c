/// Concatenates sounds with a crossfade at each joint.
///
/// Outside the joints sound passes bit-exactly, except for damaged samples, which become 0. The
/// result does not depend on block boundaries. A sound between two others must be at least two
/// crossfades long, the first and the last one. Belongs to one thread at a time.
package final class Joiner {
  package let format: AudioFormat
  /// The length of the crossfade.
  package let crossfade: Frames

  private let curve: FadeCurve
  /// The newest frames of the current sound, which are crossfaded if another sound follows.
  private var held: FrameQueue
  /// The end of the previous sound that is not yet crossfaded.
  private var ending: FrameQueue

  package init(crossfade: Frames, curve: FadeCurve, format: AudioFormat) {
    precondition(crossfade.count >= 0)
    self.format = format
    self.crossfade = crossfade
    self.curve = curve
    held = FrameQueue(channelCount: format.channelCount, capacity: crossfade.count)
    ending = FrameQueue(channelCount: format.channelCount, capacity: crossfade.count)
  }

  /// Takes the next block of the current sound and replaces the content of `output` with the
  /// finished frames: at most as many as `input` has.
  package func take(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    let count = input.frameCount.count
    let joined = min(ending.count, count)
    FiniteSamples.append(input, start: 0, count: joined, to: &output)
    ending.crossfade(
      joined, into: &output, at: 0, curve: curve, done: crossfade.count - ending.count,
      of: crossfade.count)
    // Held frames come out first, then the block; the end of the block is held.
    let ready = max(held.count + count - joined - crossfade.count, 0)
    let old = min(ready, held.count)
    held.move(old, to: &output)
    let direct = ready - old
    FiniteSamples.append(input, start: joined, count: direct, to: &output)
    held.append(input, start: joined + direct, count: count - joined - direct)
  }

  /// Ends the current sound; another one follows.
  /// - Returns: false if it was too short for its crossfades; then no calls may follow.
  package func endPart() -> Bool {
    guard ending.count == 0, held.count == crossfade.count else { return false }
    held.copy(held.count, to: &ending)
    held.drop(held.count)
    return true
  }

  /// Ends the last sound: replaces the content of `output` with the held frames, at most a
  /// crossfade.
  /// - Returns: false if it was too short for its crossfade.
  package func finish(into output: inout AudioBuffer) -> Bool {
    output.frameCount = .zero
    held.move(held.count, to: &output)
    return ending.count == 0
  }
}

/// Keeps stretches of sound and removes what lies between them, with a crossfade at each joint.
///
/// Sound outside the joints passes bit-exactly. Reports a `Timeline`.
package final class Splice: ReportingProcessor {
  package let outputFormat: AudioFormat
  /// A crossfade, and the tail that is dropped.
  package var latency: Frames { Frames(crossfade + tail) }

  private let pieces: [Range<Int>]
  private let crossfade: Int
  private let curve: FadeCurve
  private let tail: Int

  /// The end of the stream so far, which may have to be dropped.
  private var coming: FrameQueue
  /// The end of a piece, held for the crossfade with the next one.
  private var ending: FrameQueue
  /// Frames processed, and frames returned.
  private var (position, given) = (0, 0)
  /// Frames done of the current crossfade.
  private var joined = 0
  /// The first piece that ends after the position.
  private var current = 0
  private var block: AudioBuffer
  private static let blockSize = 1024

  /// Keeps `pieces`, in frames: not empty, in order, not overlapping. If there are several, the
  /// first and the last must be at least one crossfade long, those in between two. The last `tail`
  /// frames of the stream are dropped.
  package init(
    keeping pieces: [Range<Int>], crossfade: Frames = .zero, curve: FadeCurve = .linear,
    droppingLast tail: Frames = .zero, format: AudioFormat
  ) {
    precondition(crossfade.count >= 0 && tail.count >= 0)
    outputFormat = format
    self.pieces = pieces
    self.crossfade = crossfade.count
    self.curve = curve
    self.tail = tail.count
    coming = FrameQueue(channelCount: format.channelCount, capacity: tail.count)
    ending = FrameQueue(channelCount: format.channelCount, capacity: crossfade.count)
    block = AudioBuffer(channelCount: format.channelCount, capacity: Frames(Self.blockSize))
  }

  /// The input, plus at the end a held piece end.
  package func capacity(for input: Frames) -> Frames { input + Frames(crossfade) }

  /// The length of the input.
  package func blockCapacity(for input: Frames) -> Frames { input }

  /// Returns the kept frames of a block.
  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    let count = input.frameCount.count
    guard tail > 0 else { return treat(input, start: 0, count: count, into: &output) }
    let ready = max(coming.count + count - tail, 0)
    let held = min(ready, coming.count)
    var left = held
    while left > 0 {
      let part = min(left, Self.blockSize)
      block.frameCount = .zero
      coming.move(part, to: &block)
      treat(block, start: 0, count: part, into: &output)
      left -= part
    }
    treat(input, start: 0, count: ready - held, into: &output)
    coming.append(input, start: ready - held, count: count - (ready - held))
  }

  /// Processes frames that are certain not to be part of the tail.
  private func treat(
    _ input: borrowing AudioBuffer, start: Int, count: Int, into output: inout AudioBuffer
  ) {
    var start = start
    let end = start + count
    while start < end {
      while current < pieces.count, pieces[current].upperBound <= position { current += 1 }
      guard current < pieces.count else {
        position += end - start
        return
      }
      let piece = pieces[current]
      let limit: Int
      let hasNext = current + 1 < pieces.count
      if position < piece.lowerBound {
        limit = piece.lowerBound
      } else if current > 0, position < piece.lowerBound + crossfade {
        limit = min(piece.lowerBound + crossfade, piece.upperBound)
        let run = min(limit - position, end - start)
        join(input, start: start, count: run, into: &output)
      } else if hasNext, position >= piece.upperBound - crossfade {
        limit = piece.upperBound
        joined = 0
        ending.append(input, start: start, count: min(limit - position, end - start))
      } else {
        limit = hasNext ? piece.upperBound - crossfade : piece.upperBound
        copy(input, start: start, count: min(limit - position, end - start), into: &output)
      }
      let run = min(limit - position, end - start)
      position += run
      start += run
    }
  }

  private func copy(
    _ input: borrowing AudioBuffer, start: Int, count: Int, into output: inout AudioBuffer
  ) {
    FiniteSamples.append(input, start: start, count: count, to: &output)
    given += count
  }

  /// Crossfades the start of a piece with the end of the previous one.
  private func join(
    _ input: borrowing AudioBuffer, start: Int, count: Int, into output: inout AudioBuffer
  ) {
    let place = output.frameCount.count
    copy(input, start: start, count: count, into: &output)
    ending.crossfade(count, into: &output, at: place, curve: curve, done: joined, of: crossfade)
    joined += count
  }

  /// Returns the end of a piece without a successor, unfaded, or the rest of a crossfade that had
  /// begun.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    let count = ending.count
    ending.move(count, to: &output)
    given += count
    guard joined > 0 else { return }
    for index in 0..<count {
      let share = (Double(joined + index) + 0.5) / Double(crossfade)
      let gain = Float(curve.gain(at: 1 - share))
      for channel in 0..<output.channelCount {
        unsafe output.baseAddress(ofChannel: channel)[index] *= gain
      }
    }
  }

  package func report() -> Timeline {
    var (kept, place): ([(old: Range<Int>, new: Int)], Int) = ([], 0)
    for piece in pieces where piece.lowerBound < position {
      if !kept.isEmpty { place -= crossfade }
      kept.append((piece.clamped(to: 0..<position), place))
      place += min(piece.upperBound, position) - piece.lowerBound
    }
    return Timeline(
      kept, before: position + coming.count, after: given, at: outputFormat.sampleRate)
  }

  /// The position and the frames held back: 4 bytes a sample.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&position, in: 0...)
    try coder.pass(&given, in: 0...)
    try coder.pass(&joined, in: 0...crossfade)
    try coming.code(&coder)
    try ending.code(&coder)
    current = pieces.firstIndex { $0.upperBound > position } ?? pieces.count
  }
}

public import AudioModel

/// Keeps stretches of sound and leaves out what lies between them; at each joint the end of one and
/// the beginning of the next are crossfaded, so that nothing of what was left out is heard.
///
/// Sound that is not at a joint comes through bit for bit. What it did is a `Timeline`.
public final class Splice: ReportingProcessor {
  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// A crossfade, and what is dropped at the end.
  public var latency: Frames { Frames(crossfade + tail) }

  private let pieces: [Range<Int>]
  private let crossfade: Int
  private let curve: FadeCurve
  private let tail: Int

  /// The end of the stream so far, which may have to be dropped.
  private var coming: FrameQueue
  /// The end of a piece, which waits for the next one.
  private var ending: FrameQueue
  /// Frames that were treated, and frames that were given.
  private var (position, given) = (0, 0)
  /// Frames of the crossfade in hand that are done.
  private var joined = 0
  /// The first piece that the position has not passed.
  private var current = 0
  private var block: AudioBuffer
  private static let blockSize = 1024

  /// Keeps `pieces`, in frames: not empty, in order, not overlapping. Where there is more than one,
  /// the first and the last must be as long as the crossfade, and those in between twice as long. Of the stream,
  /// `tail` frames at its end count as not being there.
  public init(
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

  /// What went in, and at the end a piece's end that waited in vain.
  public func capacity(for input: Frames) -> Frames { input + Frames(crossfade) }

  /// As much as went in.
  public func blockCapacity(for input: Frames) -> Frames { input }

  /// Gives what is kept of a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
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

  /// Takes frames that are there for certain.
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
    let place = output.frameCount.count
    output.append(contentsOf: input, start: Frames(start), count: Frames(count))
    for channel in 0..<output.channelCount {
      let samples = unsafe output.baseAddress(ofChannel: channel) + place
      unsafe FiniteSamples.copy(from: samples, to: samples, count: count)
    }
    given += count
  }

  /// Crossfades the beginning of a piece with the end of the one before.
  private func join(
    _ input: borrowing AudioBuffer, start: Int, count: Int, into output: inout AudioBuffer
  ) {
    let place = output.frameCount.count
    copy(input, start: start, count: count, into: &output)
    for index in 0..<count {
      let (out, into) = gains(at: joined + index)
      for channel in 0..<output.channelCount {
        let samples = unsafe output.baseAddress(ofChannel: channel) + place
        unsafe samples[index] = samples[index] * into + ending[channel, index] * out
      }
    }
    ending.drop(count)
    joined += count
  }

  /// The gains of the frame of a crossfade: of what ends, and of what begins.
  private func gains(at index: Int) -> (Float, Float) {
    let place = (Double(index) + 0.5) / Double(crossfade)
    return (Float(curve.gain(at: 1 - place)), Float(curve.gain(at: place)))
  }

  /// The stream has ended: gives the end of a piece that no other followed, as it was; or, where
  /// one had just begun, the rest of its crossfade.
  public func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    let count = ending.count
    ending.move(count, to: &output)
    given += count
    guard joined > 0 else { return }
    for index in 0..<count {
      let gain = gains(at: joined + index).0
      for channel in 0..<output.channelCount {
        unsafe output.baseAddress(ofChannel: channel)[index] *= gain
      }
    }
  }

  /// Where the sound went.
  public func report() -> Timeline {
    var (kept, place): ([(old: Range<Int>, new: Int)], Int) = ([], 0)
    for piece in pieces where piece.lowerBound < position {
      if !kept.isEmpty { place -= crossfade }
      kept.append((piece.clamped(to: 0..<position), place))
      place += min(piece.upperBound, position) - piece.lowerBound
    }
    return Timeline(
      kept, before: position + coming.count, after: given, at: outputFormat.sampleRate)
  }
}

extension Splice {
  /// Where it is, and what it holds back: 4 bytes a sample.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(position)
    snapshot.append(given)
    snapshot.append(joined)
    coming.append(to: &snapshot)
    ending.append(to: &snapshot)
    return snapshot
  }

  /// Takes over the state of a splice of the same pieces.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let position = try reader.next(Int.self)
    let given = try reader.next(Int.self)
    let joined = try reader.next(Int.self)
    guard position >= 0, given >= 0, (0...crossfade).contains(joined) else { throw SnapshotError() }
    try coming.restore(from: &reader)
    try ending.restore(from: &reader)
    try reader.finish()
    (self.position, self.given, self.joined) = (position, given, joined)
    current = 0
    while current < pieces.count, pieces[current].upperBound <= position { current += 1 }
  }
}

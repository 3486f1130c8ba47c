/// Finds stretches in which every channel stays below a threshold, and shortens them.
///
/// The start and the end of a silence that is too long are kept and crossfaded; everything else
/// passes bit-exactly. Reports a `SilenceReport`.
package final class SilenceShortener: ReportingProcessor {
  /// The definition of silence, and its target length.
  package struct Settings: Hashable, Sendable {
    /// The sample level, relative to full scale, that ends a silence.
    package var threshold: Decibels
    /// The shortest silence; clamped to 0…60 s.
    package var minimum: Seconds
    /// The length that longer silences are cut to; clamped to 0…60 s. Nil leaves them alone.
    package var maximum: Seconds?
    /// The part of that length directly before the next sound; at most `maximum`.
    package var padding: Seconds
    /// The crossfade across the cut; at most `padding`.
    package var crossfade: Seconds

    package init(
      threshold: Decibels, minimum: Seconds, maximum: Seconds?, padding: Seconds = Seconds(0),
      crossfade: Seconds = Seconds(0)
    ) {
      self.threshold = threshold
      self.minimum = minimum
      self.maximum = maximum
      self.padding = padding
      self.crossfade = crossfade
    }
  }

  package let outputFormat: AudioFormat
  /// The frames of a silence held until its length is known.
  package let latency: Frames

  private let threshold: Float
  private let minimum: Int
  /// Frames of a silence after which the rest is removed; `Int.max` for none.
  private let limit: Int
  /// Frames kept at the start of a silence, and before the next sound.
  private let (head, padding): (Int, Int)
  private let crossfade: Int

  /// The position, and the length of the current silence, in frames.
  private var (position, quiet) = (0, 0)
  /// The frames held behind the head of a silence.
  private var waiting: FrameQueue
  /// The start of the removed part, which is faded out.
  private var leaving: FrameQueue
  private var removed: [Range<Int>] = []
  private var silences: [Range<Int>] = []

  private static let chunk = 512
  private let levels = Scratch<Float>(repeating: 0, count: chunk)
  private var block: AudioBuffer

  package init(_ settings: Settings, format: AudioFormat) {
    func frames(_ time: Seconds, atMost limit: Int = .max) -> Int {
      min(Seconds(min(max(time.value, 0), 60)).frames(at: format.sampleRate).count, limit)
    }
    outputFormat = format
    threshold = Float(settings.threshold.amplitude)
    minimum = max(frames(settings.minimum), 1)
    if let maximum = settings.maximum.map({ frames($0) }) {
      padding = frames(settings.padding, atMost: maximum)
      head = maximum - padding
      crossfade = frames(settings.crossfade, atMost: padding)
      limit = max(minimum - 1, maximum)
    } else {
      (head, padding, crossfade, limit) = (.max, 0, 0, .max)
    }
    let held = limit == .max ? 0 : limit - head + Self.chunk
    latency = Frames(held)
    waiting = FrameQueue(channelCount: format.channelCount, capacity: held)
    leaving = FrameQueue(channelCount: format.channelCount, capacity: crossfade)
    block = AudioBuffer(channelCount: format.channelCount, capacity: Frames(Self.chunk))
  }

  /// Returns sound at once, and of silence the part that is kept.
  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = min(Self.chunk, input.frameCount.count - start)
      block.frameCount = .zero
      FiniteSamples.append(input, start: start, count: count, to: &block)
      unsafe LinkedLevel.measure(block, start: 0, count: count, into: levels.start)
      takeBlock(into: &output)
      start += count
    }
  }

  /// Splits the block into loud and quiet runs. Unchanged sound is passed on in long stretches,
  /// although it crosses the threshold with every wave.
  private func takeBlock(into output: inout AudioBuffer) {
    let count = block.frameCount.count
    let levels = unsafe self.levels.start
    var (start, direct) = (0, 0)
    while start < count {
      let isLoud = unsafe levels[start] >= threshold
      var end = start &+ 1
      while end < count, unsafe (levels[end] >= threshold) == isLoud { end &+= 1 }
      if isLoud {
        endSilence(into: &output)
      } else if end - start <= head - quiet {
        quiet += end - start
      } else {
        let rest = start + max(head - quiet, 0)
        output.append(contentsOf: block, start: Frames(direct), count: Frames(rest - direct))
        quiet += rest - start
        hold(rest, end)
        direct = end
      }
      position += end - start
      start = end
    }
    output.append(contentsOf: block, start: Frames(direct), count: Frames(count - direct))
  }

  /// Holds the quiet frames behind the head of a silence.
  private func hold(_ start: Int, _ end: Int) {
    var next = start
    while next < end {
      // Up to the limit nothing is decided; beyond it only the newest frames matter.
      let count = quiet < limit ? min(limit - quiet, end - next) : end - next
      waiting.append(block, start: next, count: count)
      next += count
      quiet += count
      if quiet > limit { forget() }
    }
  }

  /// Drops the frames between the crossfade and the padding.
  private func forget() {
    if leaving.count == 0 { waiting.copy(crossfade, to: &leaving) }
    waiting.drop(max(0, waiting.count - padding))
  }

  /// Returns the held frames of a completed silence and records it.
  private func endSilence(into output: inout AudioBuffer) {
    guard quiet > 0 else { return }
    let place = output.frameCount.count
    waiting.move(waiting.count, to: &output)
    if quiet > limit {
      let begin = position - quiet + head
      removed.append(begin..<position - padding)
      for index in 0..<leaving.count {
        let share = (Float(index) + 0.5) / Float(crossfade)
        for channel in 0..<output.channelCount {
          let samples = unsafe output.baseAddress(ofChannel: channel) + place
          let old = leaving[channel, index]
          unsafe samples[index] = old + (samples[index] - old) * share
        }
      }
      leaving.drop(leaving.count)
    }
    if quiet >= minimum { silences.append(position - quiet..<position) }
    quiet = 0
  }

  /// Returns the held frames of a silence at the end.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    endSilence(into: &output)
  }

  /// The silences, and the resulting timeline.
  package func report() -> SilenceReport {
    var kept: [(old: Range<Int>, new: Int)] = []
    var (start, place) = (0, 0)
    for gap in removed + [position..<position] {
      if gap.lowerBound > start {
        kept.append((start..<gap.lowerBound, place))
        place += gap.lowerBound - start
      }
      start = gap.upperBound
    }
    let rate = outputFormat.sampleRate
    return SilenceReport(
      Timeline(kept, before: position, after: place, at: rate),
      silences: silences.map {
        SilenceReport.Silence(
          from: Frames($0.lowerBound).duration(at: rate),
          to: Frames($0.upperBound).duration(at: rate))
      })
  }

  /// The frames held and the results: 16 bytes per silence, and as much per cut.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&position, in: 0...)
    try coder.pass(&quiet, in: 0...position)
    try Self.code(&removed, &coder)
    try Self.code(&silences, &coder)
    try waiting.code(&coder)
    try leaving.code(&coder)
  }

  private static func code(
    _ ranges: inout [Range<Int>], _ coder: inout StateCoder
  ) throws(SnapshotError) {
    var bounds = ranges.map { SIMD2($0.lowerBound, $0.upperBound) }
    try coder.pass(list: &bounds)
    guard bounds.allSatisfy({ $0.x <= $0.y }) else { throw SnapshotError() }
    ranges = bounds.map { $0.x..<$0.y }
  }
}

/// The silences of a recording, and its timeline after they were shortened.
package struct SilenceReport: Hashable, Sendable, Codable {
  /// A silence, in seconds of the old time.
  package struct Silence: Hashable, Sendable, Codable {
    package let from: Seconds
    package let to: Seconds
  }

  /// The length of the sound before.
  package let before: Seconds
  /// The length after.
  package let after: Seconds
  /// The pieces that were kept.
  package let pieces: [Timeline.Piece]
  /// All silences, shortened or not.
  package let silences: [Silence]

  init(_ timeline: Timeline, silences: [Silence]) {
    before = timeline.before
    after = timeline.after
    pieces = timeline.pieces
    self.silences = silences
  }
}

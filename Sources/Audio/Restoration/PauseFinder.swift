/// Finds where sound resumes after a pause, while streaming: the cut points of a recording of
/// several pieces.
///
/// A pause is a time of at least `minimum` in which every sample of every channel stays below the
/// threshold. The cut point lies `padding` before the sound that ends the pause, to keep soft
/// onsets, but never before the pause. Silence before the first sound or after the last is no
/// pause.
package final class PauseFinder: Analyser {
  package struct Settings: Hashable, Sendable {
    /// The level of a sample, relative to full scale, that ends a pause.
    package var threshold: Decibels
    /// The shortest pause; at least one frame.
    package var minimum: Seconds
    /// The distance from the cut point to the sound.
    package var padding: Seconds

    package init(threshold: Decibels, minimum: Seconds, padding: Seconds) {
      self.threshold = threshold
      self.minimum = minimum
      self.padding = padding
    }
  }

  private let threshold: Float
  private let minimum: Int
  private let padding: Int
  /// Quiet frames since the last sound or the beginning.
  private var quiet = 0
  private var hasHeardSound = false
  private var frames = 0
  private var found: [Frames] = []

  private static let chunk = 512
  private let levels = Scratch<Float>(repeating: 0, count: chunk)
  private var block: AudioBuffer

  /// Starts at frame 0.
  package init(_ settings: Settings, format: AudioFormat) {
    threshold = Float(settings.threshold.amplitude)
    minimum = max(settings.minimum.frames(at: format.sampleRate).count, 1)
    padding = max(settings.padding.frames(at: format.sampleRate).count, 0)
    block = AudioBuffer(channelCount: format.channelCount, capacity: Frames(Self.chunk))
  }

  /// The number of frames analysed.
  package var position: Frames { Frames(frames) }

  /// No later cut point lies before this frame. At most the padding behind `position`.
  package var settled: Frames { Frames(hasHeardSound ? frames - min(padding, quiet) : frames) }

  /// The cut points so far, in order.
  package func finding() -> [Frames] { found }

  package func analyse(_ input: borrowing AudioBuffer) {
    analyse(input, from: .zero)
  }

  /// Analyses a block from frame `first`.
  package func analyse(_ input: borrowing AudioBuffer, from first: Frames) {
    var start = first.count
    while start < input.frameCount.count {
      let count = min(Self.chunk, input.frameCount.count - start)
      block.frameCount = .zero
      FiniteSamples.append(input, start: start, count: count, to: &block)
      unsafe LinkedLevel.measure(block, start: 0, count: count, into: levels.start)
      for index in 0..<count {
        if unsafe levels.start[index] >= threshold {
          if hasHeardSound, quiet >= minimum {
            found.append(Frames(frames + index - min(padding, quiet)))
          }
          hasHeardSound = true
          quiet = 0
        } else {
          quiet += 1
        }
      }
      frames += count
      start += count
    }
  }

  /// The position, and 8 bytes per cut point.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&frames, in: 0...)
    try coder.pass(&quiet, in: 0...frames)
    try coder.pass(flag: &hasHeardSound)
    try coder.pass(list: &found)
    guard found.allSatisfy({ (0..<frames).contains($0.count) }) else { throw SnapshotError() }
  }
}

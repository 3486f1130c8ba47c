import Audio
import PipelineModel

/// The samples of a stream over full scale, which formats of integers clip. A pure value that resumes
/// with the stream.
package struct ClippedSamples: Codable, Hashable, Sendable {
  private static let fullScale = SampleBounds(limit: 1)

  /// The samples of all frames before this one are counted.
  private var end = 0
  private var count = 0
  /// The greatest magnitude.
  private var peak: Float = 1

  init() {}

  /// Counts those of a block that begins at frame `start`, except what was counted before.
  mutating func add(_ block: borrowing AudioBuffer, at start: Frames) {
    let frameCount = block.frameCount.count
    let known = max(0, end - start.count)
    guard known < frameCount else { return }
    end = start.count + frameCount
    guard !Self.fullScale.holds(block) else { return }
    for channel in 0..<block.channelCount {
      let samples = block.channel(channel)
      for frame in known..<frameCount {
        let magnitude = samples[frame].magnitude
        // What is no number, or beyond all sound, is silence in the file.
        guard magnitude > 1, magnitude < 0x1p64 else { continue }
        count += 1
        peak = max(peak, magnitude)
      }
    }
  }

  /// The samples of both.
  func joined(with other: Self) -> Self {
    var sum = self
    sum.count += other.count
    sum.peak = max(peak, other.peak)
    return sum
  }

  /// The warning of files that clip them; nil where none are, or where all formats hold them.
  package func warning(of targets: [ExportTarget]) -> String? {
    let formats = targets.filter { $0.depth != nil }.map(\.format.rawValue)
    guard count > 0, !formats.isEmpty else { return nil }
    let excess = Decibels(amplitude: Double(peak)).value
    let level = Unit.decibels.format(max(0.01, (excess * 100).rounded() / 100))
    return "\(count) \(count == 1 ? "sample lies" : "samples lie") up to \(level) over full scale "
      + "and \(count == 1 ? "is" : "are") clipped in \(formats.joined(separator: ", ")): "
      + Self.advice
  }

  /// What helps, in terms of a pipeline.
  package static let advice =
    "put normalize or limit above, or keep them with wav: { bits: float }"
}

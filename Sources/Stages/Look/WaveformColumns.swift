import AudioModel
import DSP
import PipelineModel

/// The peaks of a sound, joined to as many columns as a picture has.
struct WaveformColumns {
  /// What a column of a channel shows, as amplitudes.
  struct Column {
    let lowest: Double
    let highest: Double
    let rms: Double
  }

  /// The columns of each channel, from the left to the right; as many in each. Of sound with fewer
  /// points than that there is one for each point.
  private(set) var channels: [[Column]]

  /// Reads the peaks once.
  init(
    _ peaks: PeakFile, framesPerPoint: Int, frames: Frames, channelCount: Int, atMost limit: Int
  ) throws(StageError) {
    let points = peaks.pointCount
    let count = min(limit, points)
    var channels = Array(repeating: [Column](), count: channelCount)
    var joined = Array(repeating: Peak.none, count: channelCount)
    var start = 0
    try peaks.forEachRun(joining: 1) { (first, peaks) in
      for point in 0..<peaks.count / channelCount {
        for channel in 0..<channelCount {
          joined[channel] = joined[channel].union(peaks[point * channelCount + channel])
        }
        let index = first + point
        guard (index + 1) * count / points > index * count / points else { continue }
        let end = min((index + 1) * framesPerPoint, frames.count)
        for (channel, peak) in joined.enumerated() {
          channels[channel].append(
            Column(
              lowest: Double(peak.lowest), highest: Double(peak.highest),
              rms: Double(peak.rms(of: end - start))))
          joined[channel] = .none
        }
        start = end
      }
    }
    self.channels = channels
  }
}

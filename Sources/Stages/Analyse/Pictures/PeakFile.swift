import Audio
import PipelineModel
import Platform
import Receipts
import SoundEngine

extension WaveformStage {
  /// The peaks of the finest zoom level, in a file of the work's own: memory stays flat however long
  /// the sound is, and an interrupted pass resumes behind the recorded peaks.
  final class PeakFile {
    /// The points so far, for a journal entry that refers to them.
    let prefix: @Sendable () -> DraftPrefix
    /// Makes durable what was appended.
    let flusher: @Sendable () throws(SpoolError) -> Void
    /// Whether the first peaks are those of an earlier process.
    let isResumed: Bool
    private let draft: ArtifactDraft
    private let channelCount: Int
    private(set) var pointCount: Int

    private static let floatsPerPeak = 3
    /// Points of the finest level that are read at once: what the coarsest joins is among them.
    private static let runLength = 4096

    /// Starts a file, or goes on behind the points of an earlier one.
    init(_ work: ListenerWork, channelCount: Int, resuming noted: DraftPrefix?) throws(SpoolError) {
      self.channelCount = channelCount
      let name = work.name + ".peaks"
      if let noted, noted.byteCount > 0,
        let draft = try work.claim.resumeDraft(name, .file, noted)
      {
        self.draft = consume draft
        pointCount = noted.byteCount / (4 * Self.floatsPerPeak * channelCount)
        isResumed = true
      } else {
        draft = try work.claim.makeDraft(name, .file)
        pointCount = 0
        isResumed = false
      }
      (flusher, prefix) = (draft.flusher, draft.prefix)
    }

    /// Adds peaks, all channels of one point after the other.
    func append(_ peaks: [Peak]) throws(SpoolError) {
      guard !peaks.isEmpty else { return }
      var floats: [Float] = []
      floats.reserveCapacity(Self.floatsPerPeak * peaks.count)
      for peak in peaks {
        floats.append(peak.lowest)
        floats.append(peak.highest)
        floats.append(peak.energy)
      }
      try unsafe draft.append(floats.span.bytes)
      pointCount += peaks.count / channelCount
    }

    /// Goes through all points, `factor` of them joined to one, in runs of many: `body` is given the
    /// number of a run's first point, and the peaks of its points, the channels side by side.
    /// - Parameter factor: a power of two, at most `runLength`.
    func forEachRun(
      joining factor: Int, _ body: (Int, [Peak]) throws(SpoolError) -> Void
    ) throws(SpoolError) {
      precondition(Self.runLength % factor == 0)
      let reader = try FileReader(draft.path)
      let floatsPerPoint = Self.floatsPerPeak * channelCount
      var floats = [Float](repeating: 0, count: min(Self.runLength, pointCount) * floatsPerPoint)
      var joined: [Peak] = []
      for first in stride(from: 0, to: pointCount, by: Self.runLength) {
        let count = min(Self.runLength, pointCount - first)
        try reader.read(into: &floats, count: count * floatsPerPoint)
        joined.removeAll(keepingCapacity: true)
        for start in stride(from: 0, to: count, by: factor) {
          for channel in 0..<channelCount {
            var peak = Peak.none
            for point in start..<min(start + factor, count) {
              let place = point * floatsPerPoint + channel * Self.floatsPerPeak
              peak = peak.union(
                Peak(lowest: floats[place], highest: floats[place + 1], energy: floats[place + 2]))
            }
            joined.append(peak)
          }
        }
        try body(first / factor, joined)
      }
    }
  }
}

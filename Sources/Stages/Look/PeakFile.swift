import AudioModel
import DSP
import PipelineModel

/// The peaks of the finest zoom level, in a file of the work's own: memory stays flat however long
/// the sound is, and a pass that was cut off goes on behind the peaks that it vouched for.
final class PeakFile {
  /// The points so far, for a note that vouches for them.
  let prefix: @Sendable () -> DraftPrefix
  /// Makes durable what was appended.
  let flusher: @Sendable () throws(StoreError) -> Void
  /// Whether the first peaks are those of an earlier process.
  let isResumed: Bool
  private let draft: ArtifactDraft
  private let channelCount: Int
  private(set) var pointCount: Int

  private static let floatsPerPeak = 3
  private var pointByteCount: Int { 4 * Self.floatsPerPeak * channelCount }

  /// Starts a file, or goes on behind the points of an earlier one.
  init(_ work: ListenerWork, channelCount: Int, resuming noted: DraftPrefix?) throws(StageError) {
    self.channelCount = channelCount
    let name = work.name + ".peaks"
    do {
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
    } catch { throw StageError(error) }
    (flusher, prefix) = (draft.flusher, draft.prefix)
  }

  /// Adds peaks, all channels of one point after the other.
  func append(_ peaks: [Peak]) throws(StageError) {
    guard !peaks.isEmpty else { return }
    let floats = peaks.flatMap { [$0.lowest, $0.highest, $0.energy] }
    do { try unsafe draft.append(floats.span.bytes) } catch { throw StageError(error) }
    pointCount += peaks.count / channelCount
  }

  /// Goes through all points, `factor` of them joined to one; `body` is given the number of each and
  /// its peaks, one a channel.
  func forEachPoint(
    joining factor: Int, _ body: (Int, [Peak]) throws(StageError) -> Void
  ) throws(StageError) {
    let reader = try FileReader(draft.path)
    var floats = [Float](repeating: 0, count: 4096 * Self.floatsPerPeak * channelCount)
    var joined = [Peak](repeating: .none, count: channelCount)
    var done = 0
    while done < pointCount {
      let count = min(4096, pointCount - done)
      try reader.read(into: &floats, count: count * Self.floatsPerPeak * channelCount)
      for point in 0..<count {
        for channel in 0..<channelCount {
          let start = (point * channelCount + channel) * Self.floatsPerPeak
          joined[channel] = joined[channel].union(
            Peak(lowest: floats[start], highest: floats[start + 1], energy: floats[start + 2]))
        }
        done += 1
        if done % factor == 0 || done == pointCount {
          try body((done - 1) / factor, joined)
          for channel in 0..<channelCount { joined[channel] = .none }
        }
      }
    }
  }
}

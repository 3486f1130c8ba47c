import AudioModel
import DSP
import PipelineModel

/// Measures how loud a track is, a stretch at a time, without keeping any of it.
// Unchecked: it is worked on by one thread at a time; whoever hands it out waits for the piece of
// work before the next, and before asking for the finding.
final class LoudnessScan: @unchecked Sendable {
  /// Blocks of a stretch: some seconds of sound, a fraction of a second of work.
  private static let stretch = 16

  /// The lane that it is measured for.
  let lane: Int
  /// Whether the track was heard to its end.
  private(set) var isOver = false
  private let source: any SoundSource
  private let meter: LoudnessMeter
  private let buffers: BufferPool

  init(_ source: any SoundSource, lane: Int, buffers: BufferPool) {
    self.source = source
    self.lane = lane
    self.buffers = buffers
    meter = LoudnessMeter(format: source.outline.format, includesPeaks: false)
  }

  /// Hears the next stretch.
  func advance() throws(StageError) {
    for _ in 0..<Self.stretch where !isOver {
      var buffer = buffers.makeBuffer(
        channelCount: source.outline.format.channelCount, capacity: SoundStream.blockLength)
      isOver = try !source.read(into: &buffer)
      meter.analyse(buffer)
    }
  }

  /// The integrated loudness of what was heard; nil for silence.
  var loudness: LUFS? { meter.finding().integrated }
}

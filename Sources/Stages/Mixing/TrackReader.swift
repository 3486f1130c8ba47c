import AudioModel
import PipelineModel

/// Reads one track in blocks that are counted from the beginning of the mix.
// Unchecked: whoever owns a reader has one piece of work at most under way with it, and takes its
// result, through a lock, before it hands out the next.
final class TrackReader: @unchecked Sendable {
  private let source: any SoundSource
  private let buffers: BufferPool
  /// Frames of the mix before the track begins.
  private var silence: Frames
  /// Frames of the track that are left out.
  private var left: Frames

  /// Reads an open track that begins `offset` after the mix; its first frames are left out where
  /// that is negative.
  init(_ source: any SoundSource, offset: Frames, buffers: BufferPool) {
    self.source = source
    self.buffers = buffers
    silence = max(offset, .zero)
    left = max(Frames(-offset.count), .zero)
  }

  /// The next `length` frames of the mix.
  func next(_ length: Frames) throws(StageError) -> TrackBlock {
    let before = min(silence, length)
    silence = silence - before
    guard before < length else { return TrackBlock(silence: before, sound: nil, isLast: false) }
    while left > .zero {
      var passing = makeBuffer(min(left, length))
      guard try source.read(into: &passing) else {
        return TrackBlock(silence: .zero, sound: nil, isLast: true)
      }
      left = left - passing.frameCount
    }
    var buffer = makeBuffer(length - before)
    _ = try source.read(into: &buffer)
    let isLast = buffer.frameCount < buffer.capacity
    return TrackBlock(silence: before, sound: SharedBuffer(buffer), isLast: isLast)
  }

  private func makeBuffer(_ capacity: Frames) -> AudioBuffer {
    buffers.makeBuffer(channelCount: source.outline.format.channelCount, capacity: capacity)
  }
}

/// What a track gives to a block of the mix.
struct TrackBlock: Sendable {
  /// Frames before the sound.
  let silence: Frames
  /// The sound; nil where the track has not begun.
  let sound: SharedBuffer?
  /// Whether the track ends here.
  let isLast: Bool

  /// Where it ends, in the block.
  var end: Frames { silence + (sound?.buffer.frameCount ?? .zero) }
}

internal import AudioModel
internal import Synchronization

/// The hash of a stream's samples while the stream goes by: one thread adds, any may look.
final class StreamHash: Sendable {
  private let hash: Mutex<SampleHash>
  private let bits: Int

  /// Goes on from what `work` holds, or begins anew; for integer samples of `bits`.
  init(resuming work: ResumableWork?, bits: Int) {
    hash = Mutex(work?.state.extent.hash ?? SampleHash())
    self.bits = bits
  }

  /// The hash of all samples so far.
  var current: SampleHash { hash.withLock { $0 } }

  /// Adds a block, which ``SampleHash/add(_:at:bits:)`` describes.
  func add(_ block: SharedBuffer, at start: Int) {
    hash.withLock { $0.add(block.buffer, at: start, bits: bits) }
  }
}

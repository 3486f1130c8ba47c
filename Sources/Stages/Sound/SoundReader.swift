import AudioModel
import PipelineEngine
import PipelineModel
import Threading

/// Reads a source on a thread of its own.
// Unchecked: the source is touched by that thread alone between `start` and `join`.
final class SoundReader: @unchecked Sendable {
  private let source: any SoundSource
  private let step: StepID
  private let blockLength: Frames
  private let buffers: BufferPool
  private let queue: BoundedQueue<SharedBuffer>
  private let fault: PassFault
  private var thread: BackgroundThread?

  init(
    _ source: any SoundSource, step: StepID, blockLength: Frames, buffers: BufferPool,
    into queue: BoundedQueue<SharedBuffer>, fault: PassFault
  ) {
    self.source = source
    self.step = step
    self.blockLength = blockLength
    self.buffers = buffers
    self.queue = queue
    self.fault = fault
  }

  /// Begins to read; `check` is asked before every block.
  func start(check: @escaping @Sendable () throws(StageError) -> Void) {
    thread = BackgroundThread(name: "reader") { [self] in
      do throws(StageError) {
        while true {
          try check()
          var buffer = buffers.makeBuffer(
            channelCount: source.outline.format.channelCount, capacity: blockLength)
          guard try source.read(into: &buffer), queue.send(SharedBuffer(buffer)) else { break }
        }
      } catch {
        fault.note(PassFailure(step, error))
      }
      queue.close()
    }
  }

  /// Waits for the end of the recording.
  func join() { thread?.join() }
}

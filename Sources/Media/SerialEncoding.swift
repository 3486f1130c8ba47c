internal import AudioModel
internal import Synchronization
internal import Threading

/// Encodes a stream with one encoder on a thread of its own.
final class SerialEncoding: SoundFileEncoding {
  let survival: any EncodingSurvival
  let firstFrameNeeded: Int

  /// A block, of which the first frames are not wanted.
  private struct Piece {
    let block: SharedBuffer
    let skipped: Frames
  }

  private let path: String
  private let queue = BoundedQueue<Piece>(capacity: 4)
  private let failure = Failure()
  private let thread: BackgroundThread
  // Frames of the stream so far.
  private var end = 0

  /// Opens the file at `path`, and goes on with it where `work` allows it.
  init(
    settings: EncoderSettings, path: String, work: ResumableWork?
  ) throws(MediaError) {
    let writer = try SerialWriter(settings: settings, path: path, work: work)
    self.path = path
    survival = writer.survival
    firstFrameNeeded = writer.start
    let queue = queue
    let failure = failure
    thread = BackgroundThread(name: "encode-\(settings.muxer)") {
      do throws(MediaError) {
        while let piece = queue.receive() {
          try writer.write(piece.block.buffer, from: piece.skipped)
        }
        if !failure.isAbandoned { try writer.finish() }
      } catch {
        failure.error = error
        queue.cancel()
      }
    }
  }

  /// An encoding that was not finished leaves its file as it is.
  deinit {
    cancel()
    thread.join()
  }

  func cancel() {
    failure.isAbandoned = true
    queue.cancel()
  }

  func begin(at frame: Int) { end = frame }

  func write(_ block: SharedBuffer) throws(MediaError) {
    let skipped = Frames(max(0, firstFrameNeeded - end))
    end += block.buffer.frameCount.count
    guard skipped < block.buffer.frameCount else { return }
    guard !queue.send(Piece(block: block, skipped: skipped)), let error = failure.error else {
      return
    }
    throw error
  }

  func finish() throws(MediaError) {
    guard end >= firstFrameNeeded else { throw MediaError(shortened: path) }
    queue.close()
    thread.join()
    if let error = failure.error { throw error }
    if failure.isAbandoned { throw MediaError(stopped: path) }
  }

  /// What the two threads tell each other beside the sound.
  private final class Failure: Sendable {
    private let state = Mutex<(error: MediaError?, isAbandoned: Bool)>((nil, false))

    var error: MediaError? {
      get { state.withLock { $0.error } }
      set { state.withLock { $0.error = newValue } }
    }

    var isAbandoned: Bool {
      get { state.withLock { $0.isAbandoned } }
      set { state.withLock { $0.isAbandoned = newValue } }
    }
  }
}

internal import AudioModel
internal import CLibAV
internal import Synchronization
internal import Threading

/// Encodes a stream with one encoder on a thread of its own.
final class SerialEncoding: SoundFileEncoding {
  private let queue = BoundedQueue<SharedBuffer>(capacity: 4)
  private let failure = Failure()
  private let thread: BackgroundThread

  init(settings: EncoderSettings, path: String) throws(MediaError) {
    let writer = try Writer(settings: settings, path: path)
    let queue = queue
    let failure = failure
    thread = BackgroundThread(name: "encode-\(settings.muxer)") {
      do throws(MediaError) {
        while let block = queue.receive() { try writer.write(block.buffer) }
        if !failure.isAbandoned { try writer.finish() }
      } catch {
        failure.error = error
        queue.cancel()
      }
    }
  }

  /// An encoding that was not finished leaves its file as it is.
  deinit {
    failure.isAbandoned = true
    queue.cancel()
    thread.join()
  }

  func write(_ block: SharedBuffer) throws(MediaError) {
    guard !queue.send(block), let error = failure.error else { return }
    throw error
  }

  func finish() throws(MediaError) {
    queue.close()
    thread.join()
    if let error = failure.error { throw error }
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

  /// The encoder, the file, and the sound that does not fill a packet yet.
  private final class Writer: @unchecked Sendable {
    // Made by the thread that starts the encoding thread, and touched by that one alone
    // afterwards.
    private var encoder: EncoderContext
    private let output: OutputFile
    private let stream: Int
    private let timeBase: AVRational
    private var block: AudioBuffer

    init(settings: EncoderSettings, path: String) throws(MediaError) {
      encoder = try EncoderContext(settings, path: path)
      output = try OutputFile(path: path, muxer: settings.muxer)
      stream = try output.addStream(for: encoder)
      try output.begin(options: settings.muxerOptions)
      timeBase = spool_rational(1, Int32(settings.format.sampleRate.value))
      block = AudioBuffer(
        channelCount: settings.format.channelCount, capacity: Frames(encoder.frameSize))
    }

    func write(_ sound: borrowing AudioBuffer) throws(MediaError) {
      var taken = Frames.zero
      while taken < sound.frameCount {
        let count = min(block.capacity - block.frameCount, sound.frameCount - taken)
        block.append(contentsOf: sound, start: taken, count: count)
        taken += count
        if block.frameCount == block.capacity {
          try encode()
          block.frameCount = .zero
        }
      }
    }

    func finish() throws(MediaError) {
      try encode()
      let (output, stream, timeBase) = (output, stream, timeBase)
      try encoder.finish { (packet) throws(MediaError) in
        try output.write(packet, stream: stream, timeBase: timeBase)
      }
      try output.finish()
    }

    private func encode() throws(MediaError) {
      let (output, stream, timeBase) = (output, stream, timeBase)
      try encoder.encode(block) { (packet) throws(MediaError) in
        try output.write(packet, stream: stream, timeBase: timeBase)
      }
    }
  }
}

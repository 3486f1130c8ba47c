import Audio
import CLibAVLoader
import CPosix
import Platform
import Synchronization

/// Encodes chunks of a stream in parallel in a pool, and writes their packets in order.
///
/// Long chunks have so many packets that the muxer's table is as large as the encoders' memory, so
/// they are muxed after encoding; until then their packets are in the store. Packets of short
/// chunks are written to the file at once, from which a later process resumes.
final class ChunkedEncoding: SoundFileEncoding {
  let survival: (any EncodingSurvival)?
  let firstFrameNeeded: Int

  private let settings: EncoderSettings
  private let plan: ChunkPlan
  private let muxer: ChunkedEncoding.Muxer
  private let jobs: OrderedResults<Result<PacketRun, SpoolError>>
  private let store: (any ChunkStore)?
  // Nil except for FLAC.
  private let hash: StreamHash?
  // The number of leading chunks from an earlier process.
  private let leading: Int
  // The first frame of the remaining chunks.
  private let soundStart: Int
  private let stop = StopSign()
  private var sound: ChunkedEncoding.HeldSound
  // Frames of the stream so far.
  private var end = 0
  private var nextChunk = 0
  private var chunksTaken = 0

  /// Opens the file at `path`; with `work`, packets are stored resumably.
  init(
    settings: EncoderSettings, plan: ChunkPlan, path: String, pool: WorkerPool,
    work: ResumableWork?
  ) throws(SpoolError) {
    muxer = try ChunkedEncoding.Muxer(
      settings: settings, plan: plan, path: path, work: plan.isLong ? nil : work)
    sound = plan.isLong ? .file(try SoundStash(beside: path)) : .memory(SoundWindow())
    let files = plan.isLong ? work.map { ChunkFiles($0, plan: plan) } : nil
    if plan.isLong && files == nil {
      store = try NamelessChunks(beside: path)
    } else {
      store = files
    }
    leading = files?.leadingAtStart ?? muxer.leadingCount
    let chunks: (any EncodingSurvival)? = files ?? muxer.indexed
    let hash =
      settings.isFLAC
      ? settings.bits.map { StreamHash(resuming: work, bits: $0, chunks: chunks) } : nil
    self.hash = hash
    survival = chunks.map { hash ?? $0 }
    soundStart = plan.input(of: leading).lowerBound
    firstFrameNeeded = min(soundStart, hash?.current.frames ?? soundStart)
    (nextChunk, chunksTaken) = (leading, leading)
    self.settings = settings
    self.plan = plan
    jobs = OrderedResults(
      pool: pool, limit: pool.threadCount + 2, priority: plan.isLong ? .normal : .high)
  }

  /// Jobs still in the pool do not touch any file afterwards.
  deinit {
    stop.raise()
    store?.close()
  }

  func begin(at frame: Int) { end = frame }

  func write(_ block: SharedBuffer) throws(SpoolError) {
    let start = end
    end += block.buffer.frameCount.count
    hash?.add(block, at: start)
    if end > soundStart { try sound.append(block, at: start) }
    try startWholeChunks()
    // Results already finished are kept.
    while jobs.isNextReady { try takeOldest() }
  }

  func finish() throws(SpoolError) {
    let hash = hash?.current
    guard end > soundStart || leading == 0, hash?.frames ?? end == end else {
      throw SpoolError(shortened: muxer.path)
    }
    try startWholeChunks()
    let chunkCount = nextChunk + 1
    let last = ChunkLabel(last: nextChunk, of: plan, end: end)
    try start(last)
    while jobs.count > 0 { try takeOldest() }
    if plan.isLong {
      spool_libav_give_pages_back()
      for chunk in 0..<chunkCount {
        // Returns the encoders' memory, also of other files, to the system before the muxer's table
        // needs it.
        posix_trim_memory()
        let label = chunk < last.chunk ? ChunkLabel(chunk, of: plan) : last
        guard let run = store?.load(label) else { throw SpoolError(lostChunk: muxer.path) }
        try muxer.append(run, end: end)
      }
    }
    try muxer.finish(end: end, hash: hash)
  }

  func cancel() { stop.raise() }

  private func startWholeChunks() throws(SpoolError) {
    // One more frame, so that the last chunk is never empty.
    while end > plan.input(of: nextChunk).upperBound {
      try start(ChunkLabel(nextChunk, of: plan))
    }
  }

  private func start(_ label: ChunkLabel) throws(SpoolError) {
    if jobs.isFull { try takeOldest() }
    let job = ChunkedEncoding.Job(
      settings: settings, plan: plan, label: label,
      sound: sound.covering(label.range), store: store, stop: stop,
      path: muxer.path)
    jobs.submit { job.run() }
    nextChunk += 1
    dropSound()
  }

  /// Waits for the oldest chunk.
  private func takeOldest() throws(SpoolError) {
    guard let result = jobs.next() else { return }
    let run = try result.get()
    // A stopped job's result is incomplete.
    if stop.isRaised { throw SpoolError(stopped: muxer.path) }
    if !plan.isLong { try muxer.append(run, end: end) }
    chunksTaken += 1
    dropSound()
  }

  private func dropSound() {
    sound.drop(
      handedOut: plan.input(of: nextChunk).lowerBound,
      encoded: plan.input(of: chunksTaken).lowerBound,
      channelCount: settings.format.channelCount)
  }
}

extension SpoolError {
  /// The encoding was cancelled.
  init(stopped path: String) {
    self.init(
      "go on writing", path, reason: "it was stopped", advice: SpoolError.tryAgain)
  }

  /// The stream ended before the frame up to which an earlier process encoded it.
  init(shortened path: String) {
    self.init(
      "go on writing", path,
      reason: "the sound is shorter than it was before the interruption",
      advice: "start anew")
  }

  /// Stored packets have disappeared.
  init(lostChunk path: String) {
    self.init(
      "write", path, reason: "sound that was encoded cannot be read back",
      advice: "check the disk, and try again")
  }
}

/// The running hash of a stream's samples, and its resumable chunks, if any. The hash is stored only
/// in the encoder's state, so sound is needed from the point that either of them has reached.
final class StreamHash: EncodingSurvival {
  private let hash: Mutex<SampleHash>
  private let bits: Int
  private let chunks: (any EncodingSurvival)?

  /// Resumes the hash of `work`, or starts a new one; for integer samples of `bits`.
  init(resuming work: ResumableWork?, bits: Int, chunks: (any EncodingSurvival)?) {
    hash = Mutex(work?.state.extent.hash ?? SampleHash())
    self.bits = bits
    self.chunks = chunks
  }

  var extent: EncodingExtent {
    var extent = chunks?.extent ?? EncodingExtent()
    let hash = current
    extent.frames = min(extent.frames, hash.frames)
    extent.hash = hash
    return extent
  }

  func flush() throws(SpoolError) { try chunks?.flush() }

  /// The hash of all samples so far.
  var current: SampleHash { hash.withLock { $0 } }

  /// Adds a block, which ``SampleHash/add(_:at:bits:)`` describes.
  func add(_ block: SharedBuffer, at start: Int) {
    hash.withLock { $0.add(block.buffer, at: start, bits: bits) }
  }
}

/// A chunk store in an unnamed temporary file.
final class NamelessChunks: ChunkStore {
  private struct Places {
    var end = 0
    var ranges: [ChunkLabel: Range<Int>] = [:]
  }

  private let file: OpenFile
  private let owner = SHA256.digest(of: [])
  private let places = Mutex(Places())

  /// Opens a file in the folder of `path`, which names it in errors.
  init(beside path: String) throws(SpoolError) {
    file = try OpenFile(namelessBeside: path)
  }

  func save(_ run: PacketRun, as label: ChunkLabel) throws(SpoolError) {
    let bytes = ChunkRecord(run, as: label).bytes(owner: owner)
    let start = places.withLock { places in
      defer { places.end += bytes.count }
      return places.end
    }
    try file.write(bytes, at: start)
    places.withLock { $0.ranges[label] = start..<start + bytes.count }
  }

  func load(_ label: ChunkLabel) -> PacketRun? {
    guard let range = places.withLock({ $0.ranges[label] }),
      let bytes = try? file.read(range.count, at: range.lowerBound)
    else { return nil }
    return ChunkRecord(bytes, owner: owner)?.run
  }

  // The file has no name, so no other process can find it.
  func close() {}
}

extension ChunkedEncoding {
  /// The sound of chunks that are being collected or encoded; thread-safe for reading.
  enum HeldSound: Sendable {
    /// Long chunks, in a file.
    case file(SoundStash)
    /// Short ones, in memory.
    case memory(SoundWindow)

    /// Adds the next block; its first frame has the number `start`.
    mutating func append(_ block: SharedBuffer, at start: Int) throws(SpoolError) {
      switch self {
      case .file(let stash): try stash.write(block.buffer, at: start)
      case .memory(var window):
        self = .memory(SoundWindow())
        window.append(block, at: start)
        self = .memory(window)
      }
    }

    /// The frames of `range`, for another thread; in memory they live as long as the result.
    func covering(_ range: Range<Int>) -> ChunkedEncoding.HeldSound {
      switch self {
      case .file: self
      case .memory(let window): .memory(window.covering(range))
      }
    }

    /// Replaces the content of `buffer`, which has room, with the frames of `range`, counted from the
    /// start of the stream.
    func read(_ range: Range<Int>, into buffer: inout AudioBuffer) throws(SpoolError) {
      switch self {
      case .file(let stash): try stash.read(range, into: &buffer)
      case .memory(let window): window.read(range, into: &buffer)
      }
    }

    /// Drops the frames no chunk needs: those before `handedOut` if chunks own copies, else those
    /// before `encoded`.
    mutating func drop(handedOut: Int, encoded: Int, channelCount: Int) {
      switch self {
      case .file(let stash): stash.drop(before: encoded, channelCount: channelCount)
      case .memory(var window):
        self = .memory(SoundWindow())
        window.drop(before: handedOut)
        self = .memory(window)
      }
    }
  }
}

struct SoundWindow {
  private struct Piece {
    let start: Int
    let block: SharedBuffer
    var end: Int { start + block.buffer.frameCount.count }
  }

  private var pieces: [Piece] = []

  /// Adds the next block; its first frame has the number `start`.
  mutating func append(_ block: SharedBuffer, at start: Int) {
    pieces.append(Piece(start: start, block: block))
  }

  /// Drops every block that ends at or before `frame`. O(blocks).
  mutating func drop(before frame: Int) {
    pieces.removeFirst(pieces.prefix { $0.end <= frame }.count)
  }

  /// The blocks with frames of `range`.
  func covering(_ range: Range<Int>) -> SoundWindow {
    var window = SoundWindow()
    window.pieces = pieces.filter { $0.end > range.lowerBound && $0.start < range.upperBound }
    return window
  }

  func read(_ range: Range<Int>, into buffer: inout AudioBuffer) {
    buffer.frameCount = .zero
    for piece in pieces where piece.end > range.lowerBound && piece.start < range.upperBound {
      let start = max(range.lowerBound, piece.start)
      let end = min(range.upperBound, piece.end)
      buffer.append(
        contentsOf: piece.block.buffer, start: Frames(start - piece.start),
        count: Frames(end - start))
    }
    precondition(buffer.frameCount.count == range.count, "the window does not hold \(range)")
  }
}

/// A stretch of a stream in an unnamed temporary file, with one writing and many reading threads.
///
/// Long chunks encoded in parallel need minutes of sound at once. In a file they take no program
/// memory, and because finished parts are released at once, the file seldom reaches the disk.
final class SoundStash: Sendable {
  /// The file range of each channel; mostly unused.
  private static let channelByteCount = 1 << 37

  private let file: OpenFile

  /// Opens a file in the folder of `path`, which names it in errors.
  init(beside path: String) throws(SpoolError) {
    file = try OpenFile(namelessBeside: path)
  }

  /// Writes a block whose first frame has the number `start`.
  func write(_ block: borrowing AudioBuffer, at start: Int) throws(SpoolError) {
    for channel in 0..<block.channelCount {
      let samples = unsafe UnsafeRawBufferPointer(
        start: block.baseAddress(ofChannel: channel), count: block.frameCount.count * 4)
      try unsafe file.write(samples, at: offset(start, channel))
    }
  }

  /// Replaces the content of `buffer` with the frames of `range`, all of which were written.
  func read(_ range: Range<Int>, into buffer: inout AudioBuffer) throws(SpoolError) {
    buffer.frameCount = Frames(range.count)
    for channel in 0..<buffer.channelCount {
      let samples = unsafe UnsafeMutableRawBufferPointer(
        start: buffer.baseAddress(ofChannel: channel), count: range.count * 4)
      try unsafe file.read(into: samples, at: offset(range.lowerBound, channel))
    }
  }

  /// Releases the disk space of the frames before `frame`.
  func drop(before frame: Int, channelCount: Int) {
    for channel in 0..<channelCount {
      file.punchHole(at: offset(0, channel), byteCount: frame * 4)
    }
  }

  private func offset(_ frame: Int, _ channel: Int) -> Int {
    channel * Self.channelByteCount + frame * 4
  }
}

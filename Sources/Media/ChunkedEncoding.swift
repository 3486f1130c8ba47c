internal import AudioModel
internal import CLibAVLoader
internal import CPosix
internal import Threading

/// Encodes chunks of a stream side by side in a pool, and writes their packets in order.
///
/// Long chunks have so many packets that the muxer's table of them counts: for hours of sound it is
/// as large as what the encoders work on. So they are muxed when the encoders are done, whose place
/// the table then takes; until then their packets lie in the store. Those of short chunks go into
/// the file as they come, where the next process finds them.
final class ChunkedEncoding: SoundFileEncoding {
  let survival: any EncodingSurvival
  let firstFrameNeeded: Int

  private let settings: EncoderSettings
  private let plan: ChunkPlan
  private let muxer: ChunkMuxer
  private let jobs: OrderedResults<Result<PacketRun, MediaError>>
  private let store: (any ChunkStore)?
  // Nil for all but FLAC.
  private let hash: StreamHash?
  // How many chunks from the first on an earlier process left.
  private let leading: Int
  // The first frame of the others.
  private let soundStart: Int
  private let stop = StopSign()
  private var sound: HeldSound
  // Frames of the stream so far.
  private var end = 0
  private var nextChunk = 0
  private var chunksTaken = 0

  /// Opens the file at `path`; with `work`, packets lie where the next process finds them.
  init(
    settings: EncoderSettings, plan: ChunkPlan, path: String, pool: WorkerPool,
    work: ResumableWork?
  ) throws(MediaError) {
    muxer = try ChunkMuxer(
      settings: settings, plan: plan, path: path, work: plan.isLong ? nil : work)
    sound = plan.isLong ? .file(try SoundStash(beside: path)) : .memory(SoundWindow())
    hash = settings.isFLAC ? settings.bits.map { StreamHash(resuming: work, bits: $0) } : nil
    let files = plan.isLong ? work.map { ChunkFiles($0, plan: plan) } : nil
    if plan.isLong && files == nil {
      store = try NamelessChunks(beside: path)
    } else {
      store = files
    }
    leading = files?.leadingAtStart ?? muxer.leadingCount
    let chunks: (any EncodingSurvival)? = files ?? muxer.indexed
    if let chunks, let hash {
      survival = HashedChunks(chunks: chunks, hash: hash)
    } else {
      survival = chunks ?? NothingSurvives()
    }
    soundStart = plan.input(of: leading).lowerBound
    firstFrameNeeded = min(soundStart, hash?.current.frames ?? soundStart)
    (nextChunk, chunksTaken) = (leading, leading)
    self.settings = settings
    self.plan = plan
    // A file of short chunks holds the most bytes: done early, it is hashed and published while the
    // chunks of AAC, which take the longest and leave little to write, still keep all cores busy.
    jobs = OrderedResults(
      pool: pool, limit: pool.threadCount + 2, priority: plan.isLong ? .normal : .high)
  }

  /// What the pool still has of an encoding that is dropped leaves all files alone.
  deinit {
    stop.raise()
    store?.close()
  }

  func begin(at frame: Int) { end = frame }

  func write(_ block: SharedBuffer) throws(MediaError) {
    let start = end
    end += block.buffer.frameCount.count
    hash?.add(block, at: start)
    if end > soundStart { try sound.append(block, at: start) }
    try startWholeChunks()
    // What is in the file is not lost.
    while jobs.isNextReady { try takeOldest() }
  }

  func finish() throws(MediaError) {
    let hash = hash?.current
    guard end > soundStart || leading == 0, hash?.frames ?? end == end else {
      throw MediaError(shortened: muxer.path)
    }
    try startWholeChunks()
    let chunkCount = nextChunk + 1
    let last = ChunkLabel(last: nextChunk, of: plan, end: end)
    try start(last)
    while jobs.count > 0 { try takeOldest() }
    if plan.isLong {
      spool_libav_give_pages_back()
      for chunk in 0..<chunkCount {
        // What encoders needed, of this file or of others that are done meanwhile, goes back to the
        // system before the muxer's table takes its place.
        malloc_trim(0)
        let label = chunk < last.chunk ? ChunkLabel(chunk, of: plan) : last
        guard let run = store?.load(label) else { throw MediaError(lostChunk: muxer.path) }
        try muxer.append(run, end: end)
      }
    }
    try muxer.finish(end: end, hash: hash)
  }

  func cancel() { stop.raise() }

  private func startWholeChunks() throws(MediaError) {
    // One frame more, so that the last chunk is never empty.
    while end > plan.input(of: nextChunk).upperBound {
      try start(ChunkLabel(nextChunk, of: plan))
    }
  }

  private func start(_ label: ChunkLabel) throws(MediaError) {
    if jobs.isFull { try takeOldest() }
    let job = ChunkJob(
      settings: settings, plan: plan, label: label,
      sound: sound.covering(label.range), store: store, stop: stop,
      path: muxer.path)
    jobs.submit { job.run() }
    nextChunk += 1
    dropSound()
  }

  /// Waits for the oldest chunk.
  private func takeOldest() throws(MediaError) {
    guard let result = jobs.next() else { return }
    let run = try result.get()
    // What a stopped job gives is cut short.
    if stop.isRaised { throw MediaError(stopped: muxer.path) }
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

extension MediaError {
  /// A file that nobody wants any more.
  init(stopped path: String) {
    self.init(.write, "go on writing", path: path, reason: "it was stopped")
  }

  /// A stream that ended before the frame up to which it was encoded by an earlier process.
  init(shortened path: String) {
    self.init(
      .write, "go on writing", path: path,
      reason: "the sound is shorter than it was before the interruption",
      advice: "start anew")
  }

  /// Encoded packets that were there and are not any more.
  init(lostChunk path: String) {
    self.init(
      .write, "write", path: path, reason: "sound that was encoded cannot be read back",
      advice: "check the disk, and try again")
  }
}

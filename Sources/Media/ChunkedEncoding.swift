internal import AudioModel
internal import CLibAV
internal import CPosix
internal import Threading

/// Encodes chunks of a stream side by side in a pool, and writes their packets in order.
final class ChunkedEncoding: SoundFileEncoding {
  private let settings: EncoderSettings
  private let plan: ChunkPlan
  private let output: OutputFile
  private let stream: Int
  private let priming: Int
  private let packet = Packet()
  private var timeBase: AVRational { spool_rational(1, Int32(settings.format.sampleRate.value)) }
  private let jobs: OrderedResults<Result<PacketRun, MediaError>>
  // Where packets wait whose index would take more memory than their encoders; nil where they go
  // straight into the file.
  private let stash: PacketStash?
  private let sound: SoundStash
  // Frames of the stream so far.
  private var end = 0
  private var nextChunk = 0
  private var chunksTaken = 0
  // The packets of the chunk taken last: how many of them count is known with the next one.
  private var pending = PacketRun(first: 0)

  init(
    settings: EncoderSettings, plan: ChunkPlan, path: String, pool: WorkerPool
  ) throws(MediaError) {
    let encoder = try EncoderContext(settings, path: path)
    output = try OutputFile(path: path, muxer: settings.muxer)
    stream = try output.addStream(for: encoder)
    try output.begin(options: settings.muxerOptions)
    priming = unsafe Int(encoder.context.pointee.initial_padding)
    stash = plan.hasManyPackets ? try PacketStash(beside: path) : nil
    sound = try SoundStash(beside: path)
    self.settings = settings
    self.plan = plan
    jobs = OrderedResults(pool: pool, limit: pool.threadCount + 2)
  }

  func write(_ block: SharedBuffer) throws(MediaError) {
    try sound.write(block.buffer, at: end)
    end += block.buffer.frameCount.count
    // One frame more, so that the last chunk is never empty.
    while end > plan.input(of: nextChunk).upperBound {
      try start(plan.input(of: nextChunk), isLast: false)
    }
  }

  func finish() throws(MediaError) {
    try start(plan.input(of: nextChunk).lowerBound..<end, isLast: true)
    while jobs.count > 0 { try takeOldest() }
    try write(pending, to: pending.end)
    if let stash {
      // What the encoders needed goes back to the system before the index takes its place.
      malloc_trim(0)
      var number = 0
      try stash.replay { (bytes) throws(MediaError) in
        try mux(bytes, number: number)
        number += 1
      }
    }
    try output.finish()
  }

  private func start(_ range: Range<Int>, isLast: Bool) throws(MediaError) {
    if jobs.isFull { try takeOldest() }
    let job = ChunkJob(
      settings: settings, plan: plan, chunk: nextChunk, range: range, isLast: isLast,
      sound: sound, path: output.path)
    jobs.submit { job.run() }
    nextChunk += 1
  }

  /// Waits for the oldest chunk, and writes the packets of the one before it up to their seam.
  private func takeOldest() throws(MediaError) {
    guard let result = jobs.next() else { return }
    var run = try result.get()
    if chunksTaken > 0 {
      let seam = Seam.find(
        earlier: pending, later: run, boundary: plan.boundary(of: chunksTaken),
        overlap: plan.overlap)
      try write(pending, to: seam)
      run = PacketRun(first: seam, packets: Array(run.packets[(seam - run.first)...]))
    }
    pending = run
    chunksTaken += 1
    sound.drop(
      before: plan.input(of: chunksTaken).lowerBound, channelCount: settings.format.channelCount)
  }

  /// Passes on the packets of a run before `end`.
  private func write(_ run: PacketRun, to end: Int) throws(MediaError) {
    for number in run.first..<max(run.first, end) {
      if let stash {
        try stash.append(run[number])
      } else {
        try mux(run[number], number: number)
      }
    }
  }

  /// Writes a packet into the file. The stream's last one, which only comes when all the sound is
  /// there, is as long as its sound.
  private func mux(_ bytes: [UInt8], number: Int) throws(MediaError) {
    let start = number * plan.frameSize - priming
    packet.fill(with: bytes)
    unsafe packet.pointer.pointee.pts = Int64(start)
    unsafe packet.pointer.pointee.dts = Int64(start)
    unsafe packet.pointer.pointee.duration = Int64(min(plan.frameSize, end - start))
    unsafe packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY
    try output.write(packet, stream: stream, timeBase: timeBase)
  }
}

internal import AudioModel
internal import CLibAV

/// Writes the packets of chunks, which come in order, into a file, and finds the seams between
/// them. Where chunks do not overlap, their packets are in the file at once, and the next process can
/// go on with it.
final class ChunkMuxer {
  private let plan: ChunkPlan
  private let output: OutputFile
  private let stream: Int
  private let timeBase: AVRational
  private let priming: Int
  private let packet = Packet()
  // Nil for all but FLAC.
  private var streamInfo: FLACStreamInfo?
  private var chunkCount = 0
  // The packets of the chunk that came last, where chunks overlap: how many of them count is known
  // with the next one.
  private var pending = PacketRun(first: 0)

  /// What of the file outlives the process; nil where it is begun anew.
  private(set) var indexed: IndexedPackets?

  /// The file's path.
  var path: String { output.path }

  /// Opens the file, and begins it anew unless `work` is gone on with.
  init(
    settings: EncoderSettings, plan: ChunkPlan, path: String, work: ResumableWork? = nil
  ) throws(MediaError) {
    precondition(
      work == nil || plan.overlap == 0, "chunks that overlap are not in the file at once")
    let encoder = try EncoderContext(settings, path: path)
    output = try OutputFile(path: path, muxer: settings.muxer, keepsContent: work != nil)
    stream = try output.addStream(for: encoder)
    try output.begin(options: settings.muxerOptions)
    timeBase = spool_rational(1, Int32(settings.format.sampleRate.value))
    streamInfo = settings.isFLAC ? FLACStreamInfo(of: encoder) : nil
    priming = unsafe Int(encoder.context.pointee.initial_padding)
    self.plan = plan
    guard let work else { return }
    try output.handOver()
    let indexed = try IndexedPackets(path: path, work, plan: plan, start: output.position)
    // The container learns of the packets by being given them again: the same bytes at the same
    // place, so that it does no harm to be killed meanwhile.
    while let run = indexed.nextLeft() { try add(run, to: indexed, end: .max) }
    self.indexed = indexed
  }

  /// How many chunks, from the first on, are in the file.
  var leadingCount: Int { chunkCount }

  /// Adds a chunk's packets. `end` is how many frames the stream has so far.
  func append(_ run: PacketRun, end: Int) throws(MediaError) {
    if let indexed { return try add(run, to: indexed, end: end) }
    var run = run
    if chunkCount > 0 {
      let seam = Seam.find(
        earlier: pending, later: run, boundary: plan.boundary(of: chunkCount),
        overlap: plan.overlap)
      try write(pending, to: seam, end: end)
      run = PacketRun(first: seam, packets: Array(run.packets[(seam - run.first)...]))
    }
    pending = run
    chunkCount += 1
  }

  /// Completes the file of a stream of `end` frames, whose samples have this `hash`: FLAC files
  /// hold it.
  func finish(end: Int, hash: SampleHash?) throws(MediaError) {
    try write(pending, to: pending.end, end: end)
    if let streamInfo, let hash {
      packet.replaceHeader(with: streamInfo.bytes(frameCount: end, md5: hash.digest))
      unsafe packet.pointer.pointee.pts = Int64(end)
      unsafe packet.pointer.pointee.dts = Int64(end)
      try output.write(packet, stream: stream, timeBase: timeBase)
    }
    try output.finish()
  }

  /// Writes a chunk's packets so that they survive.
  private func add(_ run: PacketRun, to indexed: IndexedPackets, end: Int) throws(MediaError) {
    try write(run, to: run.end, end: end)
    try output.handOver()
    chunkCount += 1
    // The stream's last chunk never counts, since only the end of the sound tells that it is.
    if run.end * plan.frameSize < end { try indexed.add(run, end: output.position) }
  }

  /// Writes the packets of a run before the one with the number `limit`. The stream's last one,
  /// which only comes when all the sound is there, is as long as its sound.
  private func write(_ run: PacketRun, to limit: Int, end: Int) throws(MediaError) {
    for number in run.first..<max(run.first, limit) {
      let start = number * plan.frameSize - priming
      packet.fill(with: run[number])
      streamInfo?.add(frameOf: run[number].count)
      unsafe packet.pointer.pointee.pts = Int64(start)
      unsafe packet.pointer.pointee.dts = Int64(start)
      unsafe packet.pointer.pointee.duration = Int64(min(plan.frameSize, end - start))
      unsafe packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY
      try output.write(packet, stream: stream, timeBase: timeBase)
    }
  }
}

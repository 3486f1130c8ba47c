internal import AudioModel
internal import CLibAV

/// Writes the packets of chunks, which come in order, into a file, and finds the seams between
/// them.
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
  // The packets of the chunk that came last: how many of them count is known with the next one.
  private var pending = PacketRun(first: 0)

  /// The file's path.
  var path: String { output.path }

  /// Creates the file, or empties it.
  init(settings: EncoderSettings, plan: ChunkPlan, path: String) throws(MediaError) {
    let encoder = try EncoderContext(settings, path: path)
    output = try OutputFile(path: path, muxer: settings.muxer)
    stream = try output.addStream(for: encoder)
    try output.begin(options: settings.muxerOptions)
    timeBase = spool_rational(1, Int32(settings.format.sampleRate.value))
    streamInfo = settings.isFLAC ? FLACStreamInfo(of: encoder) : nil
    priming = unsafe Int(encoder.context.pointee.initial_padding)
    self.plan = plan
  }

  /// Adds a chunk's packets. `end` is how many frames the stream has so far.
  func append(_ run: PacketRun, end: Int) throws(MediaError) {
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

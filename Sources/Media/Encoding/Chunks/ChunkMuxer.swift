import Audio
import CLibAV
import Platform

extension ChunkedEncoding {
  /// Writes the packets of chunks in order and finds the seams between them. If chunks do not
  /// overlap, packets are written at once, and a later process can resume.
  final class Muxer {
    private let plan: ChunkPlan
    private let output: OutputFile
    private let stream: Int
    private let timeBase: AVRational
    private let priming: Int
    private let packet = Packet()
    // Nil except for FLAC.
    private var streamInfo: FLACStreamInfo?
    /// The number of leading chunks in the file.
    private(set) var leadingCount = 0
    // The last chunk's packets, if chunks overlap: the next chunk decides how many count.
    private var pending = PacketRun(first: 0)

    /// The resumable part of the file; nil if it always starts over.
    private(set) var indexed: IndexedPackets?

    var path: String { output.path }

    /// Opens the file, and empties it unless `work` is resumed.
    init(
      settings: EncoderSettings, plan: ChunkPlan, path: String, work: ResumableWork? = nil
    ) throws(SpoolError) {
      precondition(
        work == nil || plan.overlap == 0, "chunks that overlap are not in the file at once")
      let encoder = try EncoderContext(settings, path: path)
      output = try OutputFile(path: path, muxer: settings.muxer, keepsContent: work != nil)
      stream = try output.addStream(for: encoder)
      try output.begin(options: settings.muxerOptions, tags: settings.formatTags)
      timeBase = spool_rational(1, Int32(settings.format.sampleRate.value))
      streamInfo = settings.isFLAC ? FLACStreamInfo(of: encoder) : nil
      priming = unsafe Int(encoder.context.pointee.initial_padding)
      self.plan = plan
      guard let work else { return }
      try output.handOver()
      let indexed = try IndexedPackets(path: path, work, plan: plan, start: output.position)
      // The packets are passed again to the muxer, which needs their table: the same bytes at the
      // same place, so that an interruption does no harm.
      while let run = indexed.nextLeft() { try add(run, to: indexed, end: .max) }
      self.indexed = indexed
    }

    /// Adds a chunk's packets. `end` is the number of frames of the stream so far.
    func append(_ run: PacketRun, end: Int) throws(SpoolError) {
      if let indexed { return try add(run, to: indexed, end: end) }
      var run = run
      if leadingCount > 0 {
        let seam = Self.seam(
          earlier: pending, later: run, boundary: plan.boundary(of: leadingCount),
          overlap: plan.overlap)
        try write(pending, to: seam, end: end)
        run = PacketRun(first: seam, packets: Array(run.packets[(seam - run.first)...]))
      }
      pending = run
      leadingCount += 1
    }

    /// Where to switch from one chunk's packets to the next chunk's: the number of the first packet
    /// from `later`; all before it come from `earlier`.
    ///
    /// A decoder overlaps adjacent packets' windows, so these must match. They do if both encoders
    /// chose the same window for the packet before the seam: the seam is the first such place from
    /// `boundary`, within `overlap` packets, or else the last place (no two encoders of the same
    /// sound differ for so long).
    static func seam(
      earlier: PacketRun, later: PacketRun, boundary: Int, overlap: Int
    ) -> Int {
      guard overlap > 0 else { return boundary }
      let last = min(boundary + overlap, earlier.end, later.end)
      return (boundary..<max(boundary + 1, last)).first { number in
        guard number - 1 >= later.first, number - 1 < earlier.end else { return false }
        let window = AACWindow(ofPacket: earlier[number - 1])
        return window != nil && window == AACWindow(ofPacket: later[number - 1])
      } ?? last - 1
    }

    /// Completes the file of a stream of `end` frames; FLAC files store the `hash` of their samples.
    func finish(end: Int, hash: SampleHash?) throws(SpoolError) {
      try write(pending, to: pending.end, end: end)
      if let streamInfo, let hash {
        packet.replaceHeader(with: streamInfo.bytes(frameCount: end, md5: hash.digest))
        unsafe packet.pointer.pointee.pts = Int64(end)
        unsafe packet.pointer.pointee.dts = Int64(end)
        try output.write(packet, stream: stream, timeBase: timeBase)
      }
      try output.finish()
    }

    /// Writes a chunk's packets resumably.
    private func add(_ run: PacketRun, to indexed: IndexedPackets, end: Int) throws(SpoolError) {
      try write(run, to: run.end, end: end)
      try output.handOver()
      leadingCount += 1
      // The stream's last chunk never counts, since only the end of the sound shows that it is the
      // last.
      if run.end * plan.frameSize < end { try indexed.add(run, end: output.position) }
    }

    /// Writes the packets of a run before number `limit`. The stream's last packet, written only when
    /// the sound is complete, has the length of its sound.
    private func write(_ run: PacketRun, to limit: Int, end: Int) throws(SpoolError) {
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
}

/// The window of an AAC packet (ISO/IEC 14496-3, 4.4.2).
struct AACWindow: Hashable, Sendable {
  /// Long, start, short or stop.
  let sequence: UInt8
  /// Sine or Kaiser-Bessel.
  let shape: UInt8

  /// The window of a packet's first element. Nil for a channel pair with separate windows, since
  /// the second one is too deep in the packet, and for other elements.
  init?(ofPacket bytes: [UInt8]) {
    guard bytes.count >= 4 else { return nil }
    let head = UInt32(bigEndianBytes: bytes[0..<4])
    var offset = 0
    func read(_ count: Int) -> UInt8 {
      defer { offset += count }
      return UInt8(truncatingIfNeeded: (head << UInt32(offset)) >> UInt32(32 - count))
    }
    let element = read(3)
    _ = read(4)  // The element's tag.
    switch element {
    case 0: _ = read(8)  // A single channel's global gain.
    case 1: guard read(1) == 1 else { return nil }
    default: return nil
    }
    guard read(1) == 0 else { return nil }  // Reserved.
    sequence = read(2)
    shape = read(1)
  }
}

/// The STREAMINFO of a FLAC file (RFC 9639, section 8.2), collected over all chunks, because each
/// encoder knows only its own.
struct FLACStreamInfo {
  private let initial: [UInt8]
  private var smallestFrame: Int
  private var largestFrame = 0

  static let byteCount = 34

  /// Takes an encoder's initial STREAMINFO; nil if it is not FLAC's.
  init?(of encoder: borrowing EncoderContext) {
    let context = unsafe encoder.context
    guard unsafe context.pointee.extradata_size == Int32(Self.byteCount) else { return nil }
    initial = unsafe Array(
      UnsafeBufferPointer(start: context.pointee.extradata, count: Self.byteCount))
    // The upper bound of all frame sizes.
    smallestFrame = Int(bigEndianBytes: initial[7..<10])
  }

  /// Records a frame's size.
  mutating func add(frameOf byteCount: Int) {
    smallestFrame = min(smallestFrame, byteCount)
    largestFrame = max(largestFrame, byteCount)
  }

  /// The bytes for a stream of `frameCount` frames with this MD5.
  func bytes(frameCount: Int, md5: [UInt8]) -> [UInt8] {
    // 36 bits of frames; the first four share a byte with the sample size.
    let shared = initial[13] & 0xf0 | UInt8(truncatingIfNeeded: frameCount >> 32 & 15)
    return initial[..<4] + smallestFrame.bigEndianBytes(3) + largestFrame.bigEndianBytes(3)
      + initial[10..<13] + [shared] + frameCount.bigEndianBytes(4) + md5
  }
}

/// A packet file that grows by whole chunks, with its index: a later process continues behind the
/// last intact chunk.
final class IndexedPackets: EncodingSurvival {
  private let packets: GrowingFile
  private let index: PacketIndex
  private let plan: ChunkPlan
  // The number of indexed chunks that may still be intact.
  private let leftCount: Int

  /// Examines the file at `path` that `work` left, with packets from `start` on; invalid content is
  /// cut off.
  init(
    path: String, _ work: ResumableWork, plan: ChunkPlan, start: Int
  ) throws(SpoolError) {
    packets = try GrowingFile(path: path)
    index = try PacketIndex(work)
    self.plan = plan
    let noted = work.state.extent
    let framesPerChunk = plan.packetsPerChunk * plan.frameSize
    var leftCount = 0
    var end = start
    if work.isResumed {
      for record in index.recordsAtStart.prefix(noted.frames / framesPerChunk) {
        guard record.lengths.count == plan.packetsPerChunk,
          end + record.byteCount <= min(noted.byteCount, packets.byteCountAtStart)
        else { break }
        leftCount += 1
        end += record.byteCount
      }
    }
    self.leftCount = leftCount
    try packets.file.truncate(to: end)
    packets.reach(EncodingExtent(byteCount: start))
  }

  var extent: EncodingExtent { packets.extent }

  /// The packets of the next chunk of an earlier process, to be added as if new; nil if there is
  /// none or it is damaged.
  func nextLeft() -> PacketRun? {
    let extent = packets.extent
    let chunk = extent.frames / (plan.packetsPerChunk * plan.frameSize)
    guard chunk < leftCount else { return nil }
    let record = index.recordsAtStart[chunk]
    guard let bytes = try? packets.file.read(record.byteCount, at: extent.byteCount) else {
      return nil
    }
    var run = PacketRun(first: plan.boundary(of: chunk))
    var rest = bytes[...]
    for length in record.lengths {
      run.packets.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return PacketIndex.Record(run) == record ? run : nil
  }

  /// Records the packets of a whole chunk, which end at `end` and have reached the system.
  func add(_ run: PacketRun, end: Int) throws(SpoolError) {
    try index.append(PacketIndex.Record(run))
    packets.reach(
      EncodingExtent(
        frames: packets.extent.frames + plan.packetsPerChunk * plan.frameSize, byteCount: end))
  }

  func flush() throws(SpoolError) {
    try packets.flush()
    try index.flush()
  }
}

/// A file of packets that grows by whole chunks, and the index of them: the next process finds them
/// where they are, and goes on behind the last chunk that is still what it was.
final class IndexedPackets: EncodingSurvival {
  private let packets: GrowingFile
  private let index: PacketIndex
  private let plan: ChunkPlan
  // Where the first packet lies.
  private let start: Int
  private let records: [PacketIndex.Record]

  /// Looks at what `work` left in the file at `path`, whose packets begin at `start`; whatever does
  /// not count is cut off.
  init(
    path: String, _ work: ResumableWork, plan: ChunkPlan, start: Int
  ) throws(MediaError) {
    packets = try GrowingFile(path: path)
    index = try PacketIndex(work)
    self.plan = plan
    self.start = start
    let noted = work.state.extent
    let framesPerChunk = plan.packetsPerChunk * plan.frameSize
    var records: [PacketIndex.Record] = []
    var end = start
    if work.isResumed {
      for record in index.recordsAtStart.prefix(noted.frames / framesPerChunk) {
        guard record.lengths.count == plan.packetsPerChunk,
          end + record.byteCount <= min(noted.byteCount, packets.byteCountAtStart)
        else { break }
        records.append(record)
        end += record.byteCount
      }
    }
    self.records = records
    try packets.truncate(to: end)
    packets.reach(EncodingExtent(byteCount: start))
  }

  var extent: EncodingExtent { packets.extent }

  /// The packets of the next chunk of those that an earlier process left; nil where there is none,
  /// or where they are not what it wrote. To be added as if they were new.
  func nextLeft() -> PacketRun? {
    let extent = packets.extent
    let chunk = extent.frames / (plan.packetsPerChunk * plan.frameSize)
    guard records.indices.contains(chunk),
      let bytes = try? packets.read(records[chunk].byteCount, at: extent.byteCount)
    else { return nil }
    var run = PacketRun(first: plan.boundary(of: chunk))
    var rest = bytes[...]
    for length in records[chunk].lengths {
      run.packets.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return PacketIndex.Record(run) == records[chunk] ? run : nil
  }

  /// The system has taken over the packets of a whole chunk, which end at `end` in the file.
  func add(_ run: PacketRun, end: Int) throws(MediaError) {
    try index.append(PacketIndex.Record(run))
    packets.reach(
      EncodingExtent(
        frames: packets.extent.frames + plan.packetsPerChunk * plan.frameSize, byteCount: end))
  }

  func flush() throws(MediaError) {
    try packets.flush()
    try index.flush()
  }

  func discard() { index.remove() }
}

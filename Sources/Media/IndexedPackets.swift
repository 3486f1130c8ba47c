/// A file of packets that grows by whole chunks, and the index of them: the next process finds them
/// where they are, and goes on behind the last chunk that is still what it was.
final class IndexedPackets: EncodingSurvival {
  private let packets: GrowingFile
  private let index: PacketIndex
  private let plan: ChunkPlan
  // How many chunks of those in the index may still be what they were.
  private let leftCount: Int

  /// Looks at what `work` left in the file at `path`, whose packets begin at `start`; whatever does
  /// not count is cut off.
  init(
    path: String, _ work: ResumableWork, plan: ChunkPlan, start: Int
  ) throws(MediaError) {
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
    try packets.truncate(to: end)
    packets.reach(EncodingExtent(byteCount: start))
  }

  var extent: EncodingExtent { packets.extent }

  /// The packets of the next chunk of those that an earlier process left; nil where there is none,
  /// or where they are not what it wrote. To be added as if they were new.
  func nextLeft() -> PacketRun? {
    let extent = packets.extent
    let chunk = extent.frames / (plan.packetsPerChunk * plan.frameSize)
    guard chunk < leftCount else { return nil }
    let record = index.recordsAtStart[chunk]
    guard let bytes = try? packets.read(record.byteCount, at: extent.byteCount) else { return nil }
    var run = PacketRun(first: plan.boundary(of: chunk))
    var rest = bytes[...]
    for length in record.lengths {
      run.packets.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return PacketIndex.Record(run) == record ? run : nil
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

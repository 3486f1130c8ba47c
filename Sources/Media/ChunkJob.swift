internal import AudioModel

/// The encoding of one chunk by an encoder of its own: a value that any thread can run.
struct ChunkJob: Sendable {
  let settings: EncoderSettings
  let plan: ChunkPlan
  /// Which chunk, and which frames to encode for it.
  let label: ChunkLabel
  /// The sound, which covers the label's range; nil where the store has the chunk.
  let sound: (any ChunkSound)?
  /// Where the packets are looked for, and kept; nil where they are only handed on.
  let store: (any ChunkStore)?
  /// Raised when nobody wants the packets any more.
  let stop: StopSign
  /// The file, for errors.
  let path: String

  /// Gives the chunk's packets, from the one before its boundary on; too few when it was stopped.
  func run() -> Result<PacketRun, MediaError> {
    do throws(MediaError) { return .success(try loadOrEncode()) } catch { return .failure(error) }
  }

  private func loadOrEncode() throws(MediaError) -> PacketRun {
    if let run = store?.load(label) { return run }
    guard let sound else { throw MediaError(lostChunk: path) }
    let run = try encode(sound)
    if !stop.isRaised { try store?.save(run, as: label) }
    return run
  }

  private func encode(_ sound: any ChunkSound) throws(MediaError) -> PacketRun {
    if settings.hasOwnEncoder, let bits = settings.bits {
      return try encode(sound, ALACFrame(channelCount: settings.format.channelCount, bits: bits))
    }
    var encoder = try EncoderContext(settings, path: path)
    var number = plan.firstPacket(of: label.chunk)
    let wanted = max(number, plan.boundary(of: label.chunk) - 1)
    var run = PacketRun(first: wanted)
    func take(_ packet: borrowing Packet) {
      let bytes = packet.bytes
      // FLAC's encoder ends with a packet of no sound.
      if bytes.isEmpty { return }
      if number >= wanted { run.packets.append(bytes) }
      number += 1
    }
    let range = label.range
    let numbering = settings.isFLAC ? settings.bits.map(FLACNumbering.init) : nil
    var block = AudioBuffer(
      channelCount: settings.format.channelCount, capacity: Frames(plan.frameSize))
    let boostEnd = range.lowerBound + plan.boostedPackets(of: label.chunk) * plan.frameSize
    for start in stride(from: range.lowerBound, to: range.upperBound, by: plan.frameSize) {
      if stop.isRaised { return run }
      encoder.boostsRate = start < boostEnd
      try sound.read(start..<min(start + plan.frameSize, range.upperBound), into: &block)
      try encoder.encode(block, take)
      if let numbering { try numbering.number(block, in: &run, path: path) }
    }
    if label.isLast {
      try encoder.finish(take)
    } else if run.end < plan.boundary(of: label.chunk + 1) + plan.overlap {
      throw MediaError(
        .unsupported, "encode", path: path,
        reason: "this libavcodec's \(settings.codec) encoder holds back more than expected")
    }
    return run
  }

  /// Packets that do not depend on each other, by an encoder of our own.
  private func encode(
    _ sound: any ChunkSound, _ frame: consuming ALACFrame
  ) throws(MediaError) -> PacketRun {
    var run = PacketRun(first: plan.boundary(of: label.chunk))
    let range = label.range
    var block = AudioBuffer(
      channelCount: settings.format.channelCount, capacity: Frames(plan.frameSize))
    for start in stride(from: range.lowerBound, to: range.upperBound, by: plan.frameSize) {
      if stop.isRaised { return run }
      try sound.read(start..<min(start + plan.frameSize, range.upperBound), into: &block)
      run.packets.append(frame.packet(of: block))
    }
    return run
  }
}

internal import AudioModel

/// The encoding of one chunk by an encoder of its own: a value that any thread can run.
struct ChunkJob: Sendable {
  let settings: EncoderSettings
  let plan: ChunkPlan
  /// Which chunk, and which frames to encode for it.
  let label: ChunkLabel
  /// The sound, which covers the label's range.
  let sound: any ChunkSound
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
    let run = try encode()
    if !stop.isRaised { try store?.save(run, as: label) }
    return run
  }

  private func encode() throws(MediaError) -> PacketRun {
    if settings.hasOwnEncoder, let bits = settings.bits {
      return try encode(ALACFrame(channelCount: settings.format.channelCount, bits: bits))
    }
    var encoder = try EncoderContext(settings, path: path)
    let mirrored = plan.mirroredPackets(of: label.chunk, frames: label.range.count)
    let wanted = max(plan.firstPacket(of: label.chunk), plan.boundary(of: label.chunk) - 1)
    // A packet of silence parts the mirror from the sound.
    var number = plan.firstPacket(of: label.chunk) - (mirrored > 0 ? mirrored + 1 : 0)
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
    if mirrored > 0 { try encodeMirrored(mirrored, &block, &encoder, take) }
    let boostEnd = range.lowerBound + plan.boostedPackets(of: label.chunk) * plan.frameSize
    for start in stride(from: range.lowerBound, to: range.upperBound, by: plan.frameSize) {
      if stop.isRaised { return run }
      encoder.boostsRate = start < boostEnd
      try sound.read(start..<min(start + plan.frameSize, range.upperBound), into: &block)
      if let bits = settings.bits, ALACLoneFrame.makes(block.frameCount.count, of: settings) {
        run.packets.append(ALACLoneFrame.packet(of: block, bits: bits))
        continue
      }
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

  /// Encodes the first packets' sound backwards, and one packet of silence, so that the encoder has
  /// settled where the stream begins, and yet knows nothing that lies before it.
  private func encodeMirrored(
    _ count: Int, _ block: inout AudioBuffer, _ encoder: inout EncoderContext,
    _ take: (borrowing Packet) -> Void
  ) throws(MediaError) {
    for packet in (0..<count).reversed() {
      encoder.boostsRate = count - 1 - packet < plan.boosted
      try sound.read(packet * plan.frameSize..<(packet + 1) * plan.frameSize, into: &block)
      for channel in 0..<block.channelCount {
        var samples = unsafe UnsafeMutableBufferPointer(
          start: block.baseAddress(ofChannel: channel), count: plan.frameSize)
        unsafe samples.reverse()
      }
      try encoder.encode(block, take)
    }
    encoder.boostsRate = false
    block.silence()
    try encoder.encode(block, take)
  }

  /// Packets that do not depend on each other, by an encoder of our own.
  private func encode(_ frame: consuming ALACFrame) throws(MediaError) -> PacketRun {
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

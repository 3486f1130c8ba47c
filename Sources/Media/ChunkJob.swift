internal import AudioModel

/// The encoding of one chunk by an encoder of its own: a value that any thread can run.
struct ChunkJob: Sendable {
  let settings: EncoderSettings
  let plan: ChunkPlan
  let chunk: Int
  /// The frames to encode.
  let range: Range<Int>
  /// Whether the stream ends with this chunk.
  let isLast: Bool
  /// The sound, which covers `range`.
  let sound: SoundStash
  /// The file, for errors.
  let path: String

  /// Gives the chunk's packets, from the one before its boundary on.
  func run() -> Result<PacketRun, MediaError> {
    do throws(MediaError) { return .success(try encode()) } catch { return .failure(error) }
  }

  private func encode() throws(MediaError) -> PacketRun {
    var encoder = try EncoderContext(settings, path: path)
    var number = plan.firstPacket(of: chunk)
    let wanted = max(number, plan.boundary(of: chunk) - 1)
    var run = PacketRun(first: wanted)
    func take(_ packet: borrowing Packet) {
      if number >= wanted { run.packets.append(packet.bytes) }
      number += 1
    }
    var block = AudioBuffer(
      channelCount: settings.format.channelCount, capacity: Frames(plan.frameSize))
    for start in stride(from: range.lowerBound, to: range.upperBound, by: plan.frameSize) {
      try sound.read(start..<min(start + plan.frameSize, range.upperBound), into: &block)
      try encoder.encode(block, take)
    }
    if isLast {
      try encoder.finish(take)
    } else if run.end < plan.boundary(of: chunk + 1) + plan.overlap {
      throw MediaError(
        .unsupported, "encode", path: path,
        reason: "this libavcodec's \(settings.codec) encoder holds back more than expected")
    }
    return run
  }
}

import Audio
import CLibAV
import CLibAVLoader
import Platform
internal import Synchronization

extension ChunkedEncoding {
  /// A job that encodes one chunk with its own encoder, on any thread.
  struct Job: Sendable {
    let settings: EncoderSettings
    let plan: ChunkPlan
    /// The chunk and its frame range.
    let label: ChunkLabel
    /// The sound, which covers the label's range.
    let sound: ChunkedEncoding.HeldSound
    /// The packet cache; nil if packets are only returned.
    let store: (any ChunkStore)?
    /// Raised to abandon the job.
    let stop: StopSign
    /// The file, for errors.
    let path: String

    /// The chunk's packets, from the one before its boundary on; incomplete if stopped.
    func run() -> Result<PacketRun, SpoolError> {
      do throws(SpoolError) { return .success(try loadOrEncode()) } catch { return .failure(error) }
    }

    private func loadOrEncode() throws(SpoolError) -> PacketRun {
      if let run = store?.load(label) { return run }
      let run = try encode()
      if !stop.isRaised { try store?.save(run, as: label) }
      return run
    }

    private func encode() throws(SpoolError) -> PacketRun {
      if settings.hasOwnEncoder, let bits = settings.bits {
        return try encode(ALACFrame(channelCount: settings.format.channelCount, bits: bits))
      }
      var encoder = try EncoderContext(settings, path: path)
      let mirrored = plan.mirroredPackets(of: label.chunk, frames: label.range.count)
      let wanted = max(plan.firstPacket(of: label.chunk), plan.boundary(of: label.chunk) - 1)
      // A packet of silence separates the mirrored sound from the sound.
      var number = plan.firstPacket(of: label.chunk) - (mirrored > 0 ? mirrored + 1 : 0)
      var run = PacketRun(first: wanted)
      func take(_ packet: borrowing Packet) {
        let bytes = packet.bytes
        // FLAC's encoder ends with an empty packet.
        if bytes.isEmpty { return }
        if number >= wanted { run.packets.append(bytes) }
        number += 1
      }
      let range = label.range
      var block = AudioBuffer(
        channelCount: settings.format.channelCount, capacity: Frames(plan.frameSize))
      if mirrored > 0 { try encodeMirrored(mirrored, &block, &encoder, take) }
      let boostEnd = range.lowerBound + plan.boostedPackets(of: label.chunk) * plan.frameSize
      for start in stride(from: range.lowerBound, to: range.upperBound, by: plan.frameSize) {
        if stop.isRaised { return run }
        encoder.boostsRate = start < boostEnd
        try sound.read(start..<min(start + plan.frameSize, range.upperBound), into: &block)
        if let bits = settings.bits, ALACFrame.isLone(block.frameCount.count, of: settings) {
          run.packets.append(ALACFrame.lonePacket(of: block, bits: bits))
          continue
        }
        try encoder.encode(block, take)
        if settings.isFLAC { try renumberLast(of: &run, holding: block) }
      }
      if label.isLast {
        try encoder.finish(take)
      } else if run.end < plan.boundary(of: label.chunk + 1) + plan.overlap {
        throw SpoolError(
          "encode", path,
          reason: "this libavcodec's \(settings.codec) encoder holds back more than expected",
          cause: .input)
      }
      return run
    }

    /// Replaces the number of the last FLAC frame of `run`, which holds `block`, with its number in the
    /// stream: a chunk's encoder counts from 0.
    private func renumberLast(
      of run: inout PacketRun, holding block: borrowing AudioBuffer
    ) throws(SpoolError) {
      guard let bits = settings.bits, let frame = run.packets.popLast().flatMap(FLACFrame.init)
      else {
        throw SpoolError(
          "encode", path,
          reason: "this libavcodec's FLAC encoder gives frames of another kind than expected",
          cause: .input)
      }
      let number = run.end
      var bytes = frame.numbered(number)
      // The size beyond which libavcodec stores plain samples: those of the block, all headers at
      // their longest, and the CRC; for two channels one more bit a frame for the difference. The
      // encoder would have compared with the longer number's size.
      let channels = block.channelCount
      let frameBits = channels * bits + (channels == 2 ? 1 : 0)
      let limit =
        16 + channels * ((bits + 14) / 8) + (frameBits * block.frameCount.count + 7) / 8 + 2
      if bytes.count > limit {
        bytes = frame.numbered(number, body: frame.plainBody(of: block, bits: bits))
      }
      run.packets.append(bytes)
    }

    /// Encodes the first packets' sound backwards and a packet of silence, so that the encoder has
    /// settled at the start of the stream without carrying earlier sound.
    private func encodeMirrored(
      _ count: Int, _ block: inout AudioBuffer, _ encoder: inout EncoderContext,
      _ take: (borrowing Packet) -> Void
    ) throws(SpoolError) {
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

    /// Encodes independent packets with our own encoder.
    private func encode(_ frame: consuming ALACFrame) throws(SpoolError) -> PacketRun {
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
}

/// A flag that asks jobs on other threads to stop.
final class StopSign: Sendable {
  private let flag = Atomic(false)

  var isRaised: Bool { flag.load(ordering: .relaxed) }

  /// Asks jobs to stop at their next check.
  func raise() { flag.store(true, ordering: .relaxed) }
}

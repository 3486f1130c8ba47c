internal import AudioModel
internal import Synchronization

/// The encoding of one chunk by an encoder of its own, which any thread can run, once.
final class ChunkJob: Sendable {
  private let settings: EncoderSettings
  private let plan: ChunkPlan
  private let chunk: Int
  private let range: Range<Int>
  private let isLast: Bool
  private let path: String
  // Taken when the work starts, so that each block of sound is freed as soon as it is encoded.
  private let window: Mutex<SoundWindow>

  /// Plans the encoding of the frames of `range`, which `window` covers. `isLast`: whether the
  /// stream ends with this chunk. `path` is for errors.
  init(
    settings: EncoderSettings, plan: ChunkPlan, chunk: Int, range: Range<Int>, isLast: Bool,
    window: SoundWindow, path: String
  ) {
    self.settings = settings
    self.plan = plan
    self.chunk = chunk
    self.range = range
    self.isLast = isLast
    self.path = path
    self.window = Mutex(window)
  }

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
    var window = window.withLock { window in
      defer { window = SoundWindow() }
      return window
    }
    var block = AudioBuffer(
      channelCount: settings.format.channelCount, capacity: Frames(plan.frameSize))
    for start in stride(from: range.lowerBound, to: range.upperBound, by: plan.frameSize) {
      window.read(start..<min(start + plan.frameSize, range.upperBound), into: &block)
      window.drop(before: start + block.frameCount.count)
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

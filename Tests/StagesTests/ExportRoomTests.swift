import Audio
import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import Store
import TestSupport
import Testing

/// What is reckoned beforehand of the room that exports take.
@Suite struct ExportRoomTests {
  private static let format = AudioFormat(sampleRate: Hertz(48000), channelCount: 2)

  /// Noise of full scale, which no encoder makes shorter.
  private static func noise(_ frames: Int, _ state: inout UInt64) -> SharedBuffer {
    var buffer = AudioBuffer(channelCount: 2, capacity: Frames(frames))
    buffer.frameCount = Frames(frames)
    for channel in 0..<2 {
      let samples = unsafe buffer.baseAddress(ofChannel: channel)
      for index in 0..<frames {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        unsafe samples[index] = Float(Int32(truncatingIfNeeded: state >> 32)) / 2_147_483_648
      }
    }
    return SharedBuffer(buffer)
  }

  @Test("white noise is no longer than what was reckoned", arguments: ExportSinkTests.targets)
  func noise(target: ExportTarget) throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    let outline = SoundOutline(format: Self.format, frames: Frames(8 * 48000))
    guard
      case .granted(let claim) = try store.claim(SHA256.digest(of: "noise"), summary: "noise")
    else {
      Issue.record("somebody else has the work")
      return
    }
    defer { claim.end() }
    let sink = try ExportSink(
      [target], outline,
      SinkContext(
        store: store, work: ListenerWork(claim: claim, name: "export", resuming: nil),
        pool: WorkerPool(threadCount: 2), buffers: BufferPool()
      ) { _, _ in })
    var state: UInt64 = 1
    for _ in 0..<24 { try sink.take(Self.noise(16000, &state)) }
    let artifact = try #require(try sink.finish().artifacts[target.format.port])
    let reckoned = target.byteCount(of: outline)
    #expect(artifact.byteCount <= reckoned)
    // Opus gives noise less than its mean bit rate, and other sound more.
    let excess = target.format == .opus ? 1.5 : 1.15
    #expect(Double(reckoned) < Double(artifact.byteCount) * excess, "it is far too much")
  }

  @Test("what AAC lays aside is bounded, however long the sound is, and counts once")
  func scratch() throws {
    let hour = SoundOutline(format: Self.format, frames: Frames(3600 * 48000))
    let minute = SoundOutline(format: Self.format, frames: Frames(60 * 48000))
    let aac = try #require(ExportSinkTests.targets.first { $0.format == .m4a })
    #expect(aac.scratchByteCount(of: hour) < hour.frames?.count ?? 0)
    #expect(aac.scratchByteCount(of: minute) == 60 * 48000 * 8)
    // Other files come into the user's folder when the last stretch has come in.
    let all = ExportSinkTests.targets.cost(of: hour)
    #expect(all.scratchByteCount == aac.scratchByteCount(of: hour, untilEnd: false))
    #expect([aac].cost(of: hour).scratchByteCount == aac.scratchByteCount(of: hour))
    let surround = SoundOutline(
      format: AudioFormat(sampleRate: Hertz(48000), channelCount: 6), frames: Frames(48000))
    #expect(aac.scratchByteCount(of: surround) == 0)
  }
}

import Audio
import Media
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import Store
import Synchronization
import TestSupport
import Testing

@Suite struct ExportSinkTests {
  private let scratch: ScratchFolder
  private let store: DiskStore
  private let format = AudioFormat(sampleRate: Hertz(22050), channelCount: 1)

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
  }

  private struct Failure: Error {}

  static let targets = [
    ExportTarget(format: .wav, spec: .wav(.integer(.bits24)), isDithered: true),
    ExportTarget(format: .m4a, spec: .aac(bitRate: 128_000), isDithered: false),
    ExportTarget(format: .alac, spec: .alac(.bits24), isDithered: true),
    ExportTarget(format: .flac, spec: .flac(.bits24, level: 5), isDithered: true),
    ExportTarget(format: .mp3, spec: .mp3(bitRate: 128_000, quality: nil), isDithered: false),
    ExportTarget(format: .opus, spec: .opus(bitRate: 96_000), isDithered: false),
    ExportTarget(format: .ogg, spec: .vorbis(quality: 5), isDithered: false),
  ]

  /// Sends a second of sound to a sink, and lets go of it. - Returns: the ports that were sealed.
  private func export(_ target: ExportTarget, isFinished: Bool) throws -> [PortName] {
    let sealed = Sealed()
    guard case .granted(let claim) = try store.claim(SHA256.digest(of: "test"), summary: "test")
    else { throw Failure() }
    defer { claim.end() }
    var sink: ExportSink? = try ExportSink(
      [target], SoundOutline(format: format, frames: Frames(22050)),
      SinkContext(
        store: store, work: ListenerWork(claim: claim, name: "export", resuming: nil),
        pool: WorkerPool(threadCount: 2), buffers: BufferPool()
      ) { (port, _) in sealed.add(port) })
    for _ in 0..<2 {
      var buffer = AudioBuffer(channelCount: 1, capacity: Frames(11025))
      buffer.frameCount = Frames(11025)
      try sink?.take(SharedBuffer(buffer))
    }
    if isFinished { _ = try sink?.finish() }
    // Whatever its threads do is done when it is gone.
    sink = nil
    return sealed.ports
  }

  @Test("a stream that was finished is sealed", arguments: targets)
  func finished(target: ExportTarget) throws {
    #expect(try export(target, isFinished: true) == [target.format.port])
    // With what was found in it, and the hashes of its samples where they do not depend on the decoder.
    #expect(
      Workspace.names(in: scratch.file("store/artifacts")).count == (target.samples == nil ? 2 : 3))
  }

  // A pass whose other formats fail, or whose recording ends in errors, lets go of its sinks: what
  // they had then was once sealed, and published as if it were all.
  @Test("a stream that was cut off leaves nothing", arguments: targets)
  func cutOff(target: ExportTarget) throws {
    #expect(try export(target, isFinished: false) == [])
    #expect(Workspace.names(in: scratch.file("store/artifacts")) == [])
    #expect(Workspace.names(in: scratch.file("store/drafts")) == [])
  }

  /// Called from the threads of a sink.
  private final class Sealed: Sendable {
    private let list = Mutex<[PortName]>([])
    var ports: [PortName] { list.withLock { $0 } }
    func add(_ port: PortName) { list.withLock { $0.append(port) } }
  }
}

import Audio
import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import Store
import TestSupport
import Testing

@Suite struct KeptSoundTests {
  private let scratch: ScratchFolder
  private let store: DiskStore

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
  }

  private struct Failure: Error {}

  /// A block whose sample at frame f of channel c is f + c / 10.
  private func block(_ frames: Range<Int>, channels: Int) -> SharedBuffer {
    var buffer = AudioBuffer(channelCount: channels, capacity: Frames(frames.count))
    buffer.frameCount = Frames(frames.count)
    for channel in 0..<channels {
      var samples = buffer.mutableChannel(channel)
      for (index, frame) in frames.enumerated() {
        samples[index] = Float(frame) + Float(channel) / 10
      }
    }
    return SharedBuffer(buffer)
  }

  private func keep(_ cuts: [Range<Int>], channels: Int) throws -> Artifact {
    let format = AudioFormat(sampleRate: Hertz(48000), channelCount: channels)
    guard case .granted(let claim) = try store.claim(SHA256.digest(of: "test"), summary: "test")
    else { throw Failure() }
    defer { claim.end() }
    let work = ListenerWork(claim: claim, name: "kept", resuming: nil)
    let writer = try PCMArtifact.Writer(format, port: .sound, work: work)
    for cut in cuts { try writer.take(block(cut, channels: channels)) }
    let result = try writer.finish()
    return try #require(result.artifacts[.sound])
  }

  @Test func `what is kept has the positions of its channels`() throws {
    func header(_ mask: UInt64, of count: Int, isOld: Bool = false) throws -> ChannelPositions {
      let format = AudioFormat(
        sampleRate: Hertz(44100), channelCount: count, positions: ChannelPositions(rawValue: mask))
      let bytes = PCMArtifact.header(format)
      #expect(bytes.count == PCMArtifact.headerByteCount)
      #expect((bytes[8...11] == [1, 0, 0, 0]) == isOld)
      let sound = try PCMArtifact(try store.keep(bytes, as: .sound), in: store)
      #expect(sound.outline.format == format)
      return sound.outline.format.positions
    }
    #expect(try header(0x33, of: 4) == .quad)
    #expect(try header(0x3F, of: 6) == .surround51)
    #expect(try header(1 << 40 | 3, of: 3) == ChannelPositions(rawValue: 1 << 40 | 3))
    #expect(try header(2, of: 1) == .frontRight)
    // As earlier versions kept all sound.
    #expect(try header(0, of: 6, isOld: true) == .unknown)
    #expect(try header(0, of: 2, isOld: true) == .stereo)
    #expect(try header(0x3F, of: 4, isOld: true) == .unknown)
  }

  @Test func `once it is sealed there is nothing left to flush, and the pass's notes go on`() throws
  {
    let format = AudioFormat(sampleRate: Hertz(48000), channelCount: 1)
    guard case .granted(let claim) = try store.claim(SHA256.digest(of: "flush"), summary: "test")
    else { throw Failure() }
    defer { claim.end() }
    let writer = try PCMArtifact.Writer(
      format, port: .sound, work: ListenerWork(claim: claim, name: "kept", resuming: nil))
    try writer.take(block(0..<1000, channels: 1))
    try writer.flush()
    let result = try writer.finish()
    #expect(result.artifacts[.sound] != nil)
    try writer.flush()
  }

  @Test(arguments: [1, 2, 3, 8])
  func `what is kept reads back bit for bit`(channels: Int) throws {
    let artifact = try keep([0..<5, 5..<1000], channels: channels)
    let sound = try PCMArtifact(artifact, in: store)
    #expect(sound.outline.frames == Frames(1000))
    #expect(sound.outline.format.channelCount == channels)
    let source = try sound.open()
    var buffer = AudioBuffer(channelCount: channels, capacity: Frames(300))
    var frame = 0
    while try source.read(into: &buffer) {
      for channel in 0..<channels {
        let samples = buffer.channel(channel)
        for index in samples.indices {
          #expect(samples[index] == Float(frame + index) + Float(channel) / 10)
        }
      }
      frame += buffer.frameCount.count
    }
    #expect(frame == 1000)
  }

  @Test(arguments: [0, 1, 999, 1000, 2000])
  func `reading can begin at any frame`(start: Int) throws {
    let sound = try PCMArtifact(try keep([0..<1000], channels: 3), in: store)
    let source = try sound.open(at: Frames(start))
    var buffer = AudioBuffer(channelCount: 3, capacity: Frames(2000))
    #expect(try source.read(into: &buffer) == (start < 1000))
    if start < 1000 {
      #expect(buffer.frameCount == Frames(1000 - start))
      #expect(buffer.channel(2)[0] == Float(start) + 0.2)
    }
    #expect(try !source.read(into: &buffer))
  }

  @Test func `how the stream was cut makes no difference`() throws {
    let whole = try keep([0..<1000], channels: 2)
    let pieces = try keep([0..<1, 1..<1, 1..<512, 512..<1000], channels: 2)
    #expect(whole == pieces)
  }

  @Test func `the identity of sound is the digest of its kept form`() throws {
    let format = AudioFormat(sampleRate: Hertz(48000), channelCount: 2)
    let identity = PCMArtifact.Identity(format)
    identity.take(block(0..<700, channels: 2))
    identity.take(block(700..<1000, channels: 2))
    let result = identity.finish()
    let kept = try keep([0..<1000], channels: 2)
    #expect(result.identity == kept.digest)
  }

  @Test func `sound that only its rate or channels tell apart has another identity`() throws {
    let mono = PCMArtifact.Identity(AudioFormat(sampleRate: Hertz(48000), channelCount: 1))
    let slow = PCMArtifact.Identity(AudioFormat(sampleRate: Hertz(44100), channelCount: 1))
    mono.take(block(0..<10, channels: 1))
    slow.take(block(0..<10, channels: 1))
    let (first, second) = (mono.finish(), slow.finish())
    #expect(first.identity != nil && first.identity != second.identity)
  }

  @Test func `a file that is not kept sound is refused`() throws {
    let artifact = try store.keep("this is no sound at all, however long", as: .sound)
    #expect(throws: SpoolError.self) { try PCMArtifact(artifact, in: store) }
  }
}

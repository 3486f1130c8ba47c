import Audio
@testable import Media
import Platform
import Testing

@Suite("An answer of a process that is not trusted")
struct TransferableTests {
  private static func bytes(_ value: some Transferable) -> [UInt8] {
    var bytes: [UInt8] = []
    value.append(to: &bytes)
    return bytes
  }

  private static func read<Value: Transferable>(
    _ bytes: [UInt8], as type: Value.Type = Value.self
  ) -> Value? {
    var reader = ByteReader(bytes[...])
    return Value(from: &reader)
  }

  private static let damage = SoundDecoder.Damage(
    kind: .gap, position: Seconds(1.5), byteOffset: 4096, lost: Seconds(0.25),
    reason: "packets are missing")

  private static let description = MediaDescription(
    container: "mp3", duration: Seconds(3), stream: 1, soundStreams: [1, 3], codec: "mp3",
    format: AudioFormat(sampleRate: Hertz(44_100), channelCount: 2), bitDepth: nil,
    bitRate: 128_000, expectedFrames: Frames(132_300), tags: ["title": "Ä", "artist": "one;two"],
    severalValues: ["artist": ["one", "two"], "isrc": []],
    pictureCount: 2,
    markers: [MediaProbe.Marker(time: Seconds(0)), .init(time: Seconds(2), title: "Two")],
    isAmbisonic: true)

  private static let block = SoundBlock(
    frameCount: 16_384, damages: [damage, damage],
    ending: .failure(SpoolError("decode", "a.wav", reason: "why", advice: "what", cause: .input)))

  @Test("comes back as it was sent")
  func roundTrip() {
    #expect(Self.read(Self.bytes(Self.description)) == Self.description)
    #expect(Self.read(Self.bytes(Self.block)) == Self.block)
    let end = SoundBlock(
      frameCount: 0, damages: [], ending: .doubt("why", declaredLength: Seconds(9)))
    #expect(Self.read(Self.bytes(end)) == end)
    let request = ReaderRequest(
      .decode(
        DecoderOptions(sampleRate: Hertz(48_000), channelCount: 1, stream: 2, keepsDamaged: true)),
      name: "a b.wav", byteCount: 7, patience: 30)
    #expect(Self.read(Self.bytes(request)) == request)
    #expect(Self.read(Self.bytes(nil as String?), as: String?.self) == .some(.none))
  }

  @Test("that ends anywhere is none")
  func cut() {
    let (description, block) = (Self.bytes(Self.description), Self.bytes(Self.block))
    for end in description.indices {
      #expect(Self.read(Array(description[..<end]), as: MediaDescription.self) == nil)
    }
    for end in block.indices {
      #expect(Self.read(Array(block[..<end]), as: SoundBlock.self) == nil)
    }
  }

  @Test("with any byte exchanged is none, or holds plausible values")
  func exchanged() throws {
    let whole = Self.bytes(Self.description)
    for place in whole.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var bytes = whole
        bytes[place] = value
        guard let read = Self.read(bytes, as: MediaDescription.self) else { continue }
        #expect((1...512).contains(read.format.channelCount))
        #expect(read.format.sampleRate.value >= 1 && read.format.sampleRate.value <= 1e8)
        #expect(read.expectedFrames.map { $0.count >= 0 } ?? true)
        // Frames of it are counted.
        _ = read.duration?.frames(at: read.format.sampleRate)
      }
    }
  }

  @Test(
    "with a length beyond its end is none",
    arguments: [1, 1 << 20, Int(UInt32.max)])
  func longText(length: Int) {
    var bytes: [UInt8] = []
    bytes.append(length, byteCount: 4)
    #expect(Self.read(bytes, as: String.self) == nil)
  }

  @Test(
    "with a count that is negative, or greater than all bytes, is none",
    arguments: [UInt64.max, 1 << 63, 1 << 56, 1 << 55, 2])
  func longList(count: UInt64) {
    var bytes: [UInt8] = []
    bytes.append(count)
    #expect(Self.read(bytes, as: [Int].self) == nil)
    #expect(Self.read(bytes, as: [String].self) == nil)
    #expect(Self.read(bytes, as: CoverArt.self) == nil)
  }

  @Test(
    "with a time or a rate that is no number, or too great, is none",
    arguments: [Double.nan, .infinity, -.infinity, 0x1p60, -0x1p60])
  func strangeNumber(number: Double) {
    var bytes: [UInt8] = []
    bytes.append(number)
    #expect(Self.read(bytes, as: Seconds.self) == nil)
    2.append(to: &bytes)
    #expect(Self.read(bytes, as: AudioFormat.self) == nil)
  }

  @Test("with a number of channels that no recording has is none", arguments: [0, 513, 1 << 40])
  func strangeChannels(count: Int) {
    var bytes: [UInt8] = []
    bytes.append(48_000.0)
    count.append(to: &bytes)
    #expect(Self.read(bytes, as: AudioFormat.self) == nil)
  }

  @Test("cannot pause a batch, nor fill the screen")
  func hostileError() throws {
    let error = SpoolError(
      String(repeating: "a", count: 1 << 16), reason: String(repeating: "b", count: 1 << 16),
      cause: .fullDisk)
    let read = try #require(Self.read(Self.bytes(error), as: SpoolError.self))
    #expect(read.cause == .environment)
    #expect(read.message.count == 2000 && read.reason?.count == 2000)
  }

  @Test("finds a slot for each number of channels", arguments: [1, 2, 3, 7, 64, 511, 512])
  func slots(channelCount: Int) {
    let slots = SoundSlots(channelCount: channelCount)
    #expect(slots.capacity.count > 0)
    #expect(
      AudioBuffer.byteCount(channelCount: channelCount, capacity: slots.capacity)
        * SoundSlots.count <= SoundSlots.byteCount)
  }
}

import Audio
@testable import Media
import Platform
import Testing

@Suite("A process that decodes and is not trusted")
struct ConfinedDecoderTests {
  /// Bytes that pass for any value.
  private struct Bytes: Transferable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
    init?(from reader: inout ByteReader) { return nil }
    func append(to bytes: inout [UInt8]) { bytes += self.bytes }
  }

  /// What a decoder makes of the messages of such a process.
  /// - Parameter blocks: the numbers of frames that it says to have put into the memory.
  private func frames(
    _ blocks: [Int], channelCount: Int = 2, byteCount: Int = 1000
  ) throws -> Int {
    let pair = try MessageSocket.pair()
    var opening: [UInt8] = [1]
    AudioFormat(sampleRate: Hertz(48_000), channelCount: channelCount).append(to: &opening)
    (nil as Int?).append(to: &opening)
    opening.append(false)
    ([] as [SoundDecoder.Damage]).append(to: &opening)
    try SplitMessage.send(Bytes(opening), to: pair.there)
    for count in blocks {
      try SplitMessage.send(SoundBlock(frameCount: count, damages: [], ending: nil), to: pair.there)
    }
    let ending = SoundBlock(frameCount: 0, damages: [], ending: .doubt(nil, declaredLength: nil))
    try SplitMessage.send(ending, to: pair.there)
    let reader = ConfinedReader(pair.keep(), path: "a.wav", byteCount: byteCount)
    let memory = try SharedMemory(byteCount: SoundSlots.byteCount)
    let decoder = ConfinedDecoder(
      ConfinedDecoder.Recording(
        file: SourceFile("a.wav"), options: DecoderOptions(), sandbox: MediaSandbox()),
      try reader.result(), ConfinedSound(reader: reader, memory: memory))
    var buffer = AudioBuffer(channelCount: channelCount, capacity: Frames(5000))
    while try decoder.read(into: &buffer) {}
    return decoder.position.count
  }

  @Test("gives as many frames as it says, as far as they fit into a slot")
  func plausible() throws {
    #expect(try frames([1, 16_384, 0, 7]) == 16_392)
  }

  @Test(
    "cannot have more read than a slot holds, nor than a file of its size can have",
    arguments: [(2, [16_385]), (2, [1 << 40]), (512, [512]), (2, [5, 5, 16_400])])
  func tooMuch(channelCount: Int, blocks: [Int]) {
    let failure = #expect(throws: SpoolError.self) {
      _ = try frames(blocks, channelCount: channelCount)
    }
    #expect(failure?.reason == "the decoder gave an answer that cannot be")
    #expect(failure?.cause == .input && failure?.subject == "a.wav")
  }
}

import Audio
@testable import Media
import Testing

@Suite("A seam between chunks")
struct SeamTests {
  /// A packet of one channel with a window: element 0, tag 0, gain 0, reserved 0, then the window.
  static func packet(sequence: UInt8, shape: UInt8 = 0) -> [UInt8] {
    // 3 + 4 + 8 + 1 bits come before the window's three.
    [0, 0, sequence << 6 | shape << 5, 0]
  }

  static func run(from first: Int, _ sequences: [UInt8]) -> PacketRun {
    PacketRun(first: first, packets: sequences.map { packet(sequence: $0) })
  }

  @Test("lies at the boundary where the windows before it agree")
  func agreement() {
    let earlier = Self.run(from: 0, [0, 0, 0, 0, 1, 2])
    let later = Self.run(from: 3, [0, 0, 0])
    #expect(
      ChunkedEncoding.Muxer.seam(earlier: earlier, later: later, boundary: 4, overlap: 2) == 4)
  }

  @Test("moves to the first place where they do")
  func moving() {
    let earlier = Self.run(from: 0, [0, 0, 0, 1, 2, 3, 0, 0])
    let later = Self.run(from: 3, [0, 1, 3, 0, 0])
    #expect(
      ChunkedEncoding.Muxer.seam(earlier: earlier, later: later, boundary: 4, overlap: 4) == 6)
  }

  @Test("lies at the last place where they never do")
  func disagreement() {
    let earlier = Self.run(from: 0, [0, 0, 0, 0, 0, 0, 0, 0])
    let later = Self.run(from: 3, [2, 2, 2, 2, 2, 2])
    #expect(
      ChunkedEncoding.Muxer.seam(earlier: earlier, later: later, boundary: 4, overlap: 4) == 7)
  }

  @Test("needs no windows where packets do not overlap")
  func independent() {
    let earlier = PacketRun(first: 0, packets: [[1], [2]])
    let later = PacketRun(first: 2, packets: [[3]])
    #expect(
      ChunkedEncoding.Muxer.seam(earlier: earlier, later: later, boundary: 2, overlap: 0) == 2)
  }
}

@Suite("The window of an AAC packet")
struct AACWindowTests {
  @Test("is read from a single channel")
  func single() {
    let window = AACWindow(ofPacket: SeamTests.packet(sequence: 2, shape: 1))
    #expect(window?.sequence == 2)
    #expect(window?.shape == 1)
  }

  @Test("is read from a pair with a common window")
  func pair() {
    // 001 0000 1 | 0 11 1 ….
    let window = AACWindow(ofPacket: [0b0010_0001, 0b0111_0000, 0, 0])
    #expect(window?.sequence == 3)
    #expect(window?.shape == 1)
  }

  @Test("is unknown for a pair with two windows, other elements and stumps")
  func unknown() {
    #expect(AACWindow(ofPacket: [0b0010_0000, 0, 0, 0]) == nil)
    #expect(AACWindow(ofPacket: [0b1100_0000, 0, 0, 0]) == nil)
    #expect(AACWindow(ofPacket: [0, 0]) == nil)
  }
}

@Suite("A chunk plan")
struct ChunkPlanTests {
  @Test("covers a stream without a hole, with pre-roll before and overlap behind each chunk")
  func coverage() {
    let plan = ChunkPlan(
      frameSize: 10, packetsPerChunk: 100, preRoll: 5, overlap: 3, delay: 1)
    #expect(plan.input(of: 0) == 0..<1040)
    #expect(plan.input(of: 1) == 950..<2040)
    #expect(plan.firstPacket(of: 2) == 195)
  }
}

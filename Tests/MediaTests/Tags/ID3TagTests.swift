import Testing

@testable import Media

@Suite("The tag of an MP3 file that is put right")
struct ID3TagTests {
  private func tag(_ frames: [(name: [UInt8], content: [UInt8])], padding: Int = 0) -> [UInt8] {
    func length(_ count: Int) -> [UInt8] { [21, 14, 7, 0].map { UInt8(count >> $0 & 0x7F) } }
    let body =
      frames.flatMap { $0.name + length($0.content.count) + [0, 0] + $0.content }
      + [UInt8](repeating: 0, count: padding)
    return Array("ID3".utf8) + [4, 0, 0] + length(body.count) + body + [0xFF, 0xFB]
  }

  @Test("has its comment where players look for one, and its time as the recorder wrote it")
  func corrected() {
    let before = tag(
      [
        (Array("TXXX".utf8), [3] + Array("comment".utf8) + [0] + Array("a walk".utf8) + [0]),
        (Array("TDEN".utf8), [3] + Array("2025-03-01T10:00:00.000000Z".utf8) + [0]),
      ], padding: 20)
    let after = tag(
      [
        (Array("COMM".utf8), [3] + Array("XXX".utf8) + [0] + Array("a walk".utf8)),
        (Array("TDEN".utf8), [3] + Array("2025-03-01T10:00:00".utf8) + [0]),
      ], padding: 20)
    #expect(ID3Tag.corrected(before, isTimeWithoutZone: true) == after)
    #expect(ID3Tag.corrected(after, isTimeWithoutZone: true) == after)
  }

  @Test(
    "keeps a time that is none",
    arguments: [[], Array("ZZZ".utf8), [0xFF, 0x5A], Array("2025-03-01 10:00Z".utf8)] as [[UInt8]])
  func strangeTime(time: [UInt8]) {
    let strange = tag([(Array("TDEN".utf8), [3] + time + [0])])
    #expect(ID3Tag.corrected(strange, isTimeWithoutZone: true) == strange)
  }

  @Test(
    "stays as it is where a name is none",
    arguments: [[0xBF, 0x72, 0, 0], Array("tit2".utf8), [0x54, 0x49, 0x54, 0x80]] as [[UInt8]])
  func unreadable(name: [UInt8]) {
    let comment = [3] + Array("comment".utf8) + [0, 0x61, 0, 0, 0]
    let strange = tag([(name, [1, 2]), (Array("TXXX".utf8), comment)])
    #expect(ID3Tag.corrected(strange, isTimeWithoutZone: true) == strange)
  }
}

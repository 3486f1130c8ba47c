@testable import Media
import Testing

@Suite("A bext chunk")
struct BroadcastExtensionTests {
  private static let full: BroadcastExtension = {
    var bext = BroadcastExtension()
    bext.description = "An evening by the sea"
    bext.originator = "Spool 0.1.0"
    bext.originatorReference = "0123456789abcdef0123456789abcdef"
    bext.originationDate = "2026-03-14"
    bext.originationTime = "15:09:26"
    bext.timeReference = 0x1_2345_6789
    bext.loudness.integrated = -23.004
    bext.loudness.range = 7.1
    bext.loudness.truePeak = -0.996
    bext.loudness.momentary = -18.25
    bext.codingHistory = "A=PCM,F=48000,W=24,M=stereo,T=one\r\n"
    return bext
  }()

  @Test("has every field where EBU Tech 3285 puts it")
  func layout() {
    let bytes = Self.full.bytes
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    func word(_ offset: Int) -> UInt16 { UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8 }
    #expect(text(0..<21) == "An evening by the sea")
    #expect(bytes[21..<256].allSatisfy { $0 == 0 })
    #expect(text(256..<267) == "Spool 0.1.0")
    #expect(text(288..<320) == "0123456789abcdef0123456789abcdef")
    #expect(text(320..<330) == "2026-03-14")
    #expect(text(330..<338) == "15:09:26")
    #expect(bytes[338..<346] == [0x89, 0x67, 0x45, 0x23, 1, 0, 0, 0])
    #expect(word(346) == 2)
    #expect(bytes[348..<412].allSatisfy { $0 == 0 })
    #expect(word(412) == UInt16(bitPattern: -2300))
    #expect(word(414) == 710)
    #expect(word(416) == UInt16(bitPattern: -100))
    #expect(word(418) == UInt16(bitPattern: -1825))
    #expect(word(420) == 0x7FFF)
    #expect(bytes[422..<602].allSatisfy { $0 == 0 })
    #expect(text(602..<bytes.count) == "A=PCM,F=48000,W=24,M=stereo,T=one\r\n")
  }

  @Test("reads back as it was, but for what hundredths cannot hold")
  func readBack() throws {
    var expected = Self.full
    expected.loudness.integrated = -23
    expected.loudness.truePeak = -1
    #expect(BroadcastExtension(Self.full.bytes) == expected)
  }

  @Test("leaves out figures that it has no room for", arguments: [100, -100, .infinity, .nan])
  func beyond(figure: Double) {
    var loudness = BroadcastExtension.Loudness()
    loudness.integrated = figure
    #expect(
      loudness.bytes
        == [UInt8](repeating: 0xFF, count: 10).enumerated().map {
          $0.offset % 2 == 0 ? 0xFF : 0x7F
        })
  }

  @Test("cuts texts off between two characters")
  func longTexts() throws {
    var bext = BroadcastExtension()
    bext.description = "a" + String(repeating: "ü", count: 200)
    bext.originator = String(repeating: "x", count: 40)
    let read = try #require(BroadcastExtension(bext.bytes))
    #expect(read.description == "a" + String(repeating: "ü", count: 127))
    #expect(read.originator == String(repeating: "x", count: 32))
    #expect(read.originatorReference == "")
    #expect(bext.bytes[255] == 0)
  }

  @Test("of an older version has no loudness, and texts may be Latin-1")
  func olderVersion() throws {
    var bytes = WaveBytes.bext("Take", time: 99, history: "A=ANALOGUE\r\n")
    bytes[1] = 0xE9
    bytes[412] = 1
    let read = try #require(BroadcastExtension(bytes))
    #expect(read.description == "Téke")
    #expect(read.originator == "Recorder 7")
    #expect(read.timeReference == 99)
    #expect(read.loudness == BroadcastExtension.Loudness())
    #expect(read.codingHistory == "A=ANALOGUE\r\n")
  }

  @Test("that is cut off has the fields that are there, and no others")
  func cutOff() {
    #expect(BroadcastExtension(Array(Self.full.bytes.prefix(347))) == nil)
    let short = BroadcastExtension(Array(Self.full.bytes.prefix(400)))
    #expect(short?.originationDate == "2026-03-14")
    #expect(short?.loudness == BroadcastExtension.Loudness())
    #expect(short?.codingHistory == "")
  }
}

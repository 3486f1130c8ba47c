import Audio
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("A FLAC frame")
struct FLACFrameTests {
  @Test(
    "has its number coded as UTF-8 has a character's",
    arguments: [0, 1, 127, 128, 2047, 2048, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff])
  func characters(_ number: Int) throws {
    let character = try #require(Unicode.Scalar(UInt32(number)))
    #expect(FLACFrame.code(number) == Array(String(character).utf8))
  }

  @Test("has numbers beyond those of characters coded alike, in up to six bytes")
  func beyond() {
    #expect(FLACFrame.code(0x1f_ffff) == [0xf7, 0xbf, 0xbf, 0xbf])
    #expect(FLACFrame.code(0x20_0000) == [0xf8, 0x88, 0x80, 0x80, 0x80])
    #expect(FLACFrame.code(0x3ff_ffff) == [0xfb, 0xbf, 0xbf, 0xbf, 0xbf])
    #expect(FLACFrame.code(0x400_0000) == [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80])
    #expect(FLACFrame.code(0x7fff_ffff) == [0xfd, 0xbf, 0xbf, 0xbf, 0xbf, 0xbf])
  }

  @Test("is itself again with its own number, whatever it had meanwhile")
  func back() throws {
    let frame = try Self.frame()
    let original = try #require(FLACFrame(frame)).numbered(0)
    #expect(original == frame)
    for number in [1, 127, 128, 2048, 70_000, 0x20_0000, 0x7fff_ffff] {
      let other = try #require(FLACFrame(frame)).numbered(number)
      #expect(other.count == frame.count + FLACFrame.code(number).count - 1)
      #expect(FLACFrame(other)?.numbered(0) == frame)
    }
  }

  @Test("is none without its mark, of a stream with blocks of several sizes, or cut off")
  func others() throws {
    let frame = try Self.frame()
    #expect(FLACFrame([]) == nil)
    #expect(FLACFrame([0xff, 0xf8, 0xc9, 0x18]) == nil)
    #expect(FLACFrame(Array(frame.prefix(6))) == nil)
    #expect(FLACFrame([0xfe] + frame.dropFirst()) == nil)
    #expect(FLACFrame([0xff, 0xf9] + frame.dropFirst(2)) == nil)
    for mark: UInt8 in [0x80, 0xbf, 0xfe, 0xff] {
      #expect(FLACFrame(frame.prefix(4) + [mark] + frame.dropFirst(5)) == nil)
    }
  }

  /// The first frame that an encoder gives.
  private static func frame() throws -> [UInt8] {
    let sound = Sound(frames: 4608)
    var encoder = try EncoderContext(
      EncoderSettings(.flac(.bits16, level: 5), for: sound.format), path: "test")
    var frames: [[UInt8]] = []
    try encoder.encode(sound.blocks(of: 4608)[0].buffer) { frames.append($0.bytes) }
    return try #require(frames.first)
  }
}

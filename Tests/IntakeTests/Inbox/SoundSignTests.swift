@testable import Intake
import Testing

@Suite("What wants to be a recording")
struct SoundSignTests {
  @Test(
    "names of recordings are known in any spelling",
    arguments: [
      ("note.m4a", true), ("NOTE.WAV", true), ("a.b.Opus", true), ("note.txt", false),
      ("note", false), (".m4a", false), ("m4a", false), ("note.m4a.md5", false),
    ])
  func names(name: String, isSound: Bool) throws {
    #expect(SoundSign.isCarried(by: try #require(FileName(name))) == isSound)
  }

  @Test(
    "a batch takes the name endings that an inbox takes",
    arguments: [
      "a.qta", "a.3gp", "a.RF64", "a.bw64", "a.bwf", "a.mpg", "a.avi", "a.m2ts", "a.wav",
      "a.txt", "a",
    ])
  func batch(name: String) throws {
    #expect(
      FileSelection().takes("folder/" + name)
        == SoundSign.isCarried(by: try #require(FileName(name))))
  }

  @Test("first bytes of recordings are known, and no more than those")
  func heads() {
    let sound = [
      "RIFF....WAVEfmt ", "RF64....WAVEds64", "FORM....AIFFCOMM", "fLaC............",
      "OggS............", "ID3.............", "....ftypM4A ....", "caff............",
    ]
    for head in sound { #expect(SoundSign.isCarried(by: Array(head.utf8)), "\(head)") }
    let other = ["RIFF....AVI LIST", "RIFF", "FORM....ILBM....", "%PDF-1.7", "Hello", ""]
    for head in other { #expect(!SoundSign.isCarried(by: Array(head.utf8)), "\(head)") }
  }
}

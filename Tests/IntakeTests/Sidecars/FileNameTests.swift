@testable import Intake
import Testing

@Suite("Names and paths are bytes")
struct FileNameTests {
  @Test(
    "what no file can be called is no name",
    arguments: ["", ".", "..", "a/b", "/", "a\0b", String(repeating: "n", count: 256)])
  func impossible(text: String) {
    #expect(FileName(text) == nil)
  }

  @Test("a name keeps its bytes, and shows them on one line, no two names alike")
  func printable() throws {
    let cases: [([UInt8], String)] = [
      (Array("Grüße 👩‍👧.m4a".utf8), "Grüße 👩\\u{200D}👧.m4a"),
      (Array("a\nb\t\r\\n".utf8), "a\\nb\\t\\r\\\\n"),
      ([0x61, 0xe4, 0x62], "a\\xE4b"), ([0xc3], "\\xC3"), ([0xed, 0xa0, 0x80], "\\xED\\xA0\\x80"),
      (Array("\u{1b}[2J".utf8), "\\u{1B}[2J"), (Array("a\u{202e}b".utf8), "a\\u{202E}b"),
    ]
    for (bytes, shown) in cases {
      let name = try #require(FileName(bytes: bytes))
      #expect(name.bytes == bytes && name.description == shown)
      #expect(PrintableText.bytes(of: shown) == bytes)
    }
    for text in ["a\\", "\\q", "\\xZZ", "\\x1", "\\u{}", "\\u{110000}", "\\u{41"] {
      #expect(PrintableText.bytes(of: text) == nil, "\(text)")
    }
    #expect(FileName(bytes: [0xe4])?.text == nil && FileName("ä")?.text == "ä")
  }

  @Test(
    "a stem ends at the last dot, but not at a leading one",
    arguments: [("a.b.wav", "a.b"), ("note", "note"), (".hidden", ".hidden"), ("a.", "a")])
  func stem(name: String, stem: String) {
    #expect(FileName(name)?.stem == Array(stem.utf8))
  }

  @Test("a suffix may be in capitals, and too long a name cannot be made")
  func suffixes() throws {
    let name = try #require(FileName("A.WAV"))
    #expect(name.hasSuffix(".wav") && !name.hasSuffix("aa.wav"))
    #expect(name.appending(".done")?.description == "A.WAV.done")
    #expect(FileName(String(repeating: "n", count: 255))?.appending(".") == nil)
  }
}

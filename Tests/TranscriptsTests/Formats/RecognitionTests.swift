import Platform
import Testing
import Transcripts

@Suite("A file's format is known by what it says and by its name")
struct RecognitionTests {
  @Test("what is written is recognised with its name", arguments: TranscriptFormat.all)
  func written(format: TranscriptFormat) throws {
    let bytes = Array(try format.write(Sample.talk).utf8)
    for ending in format.nameEndings {
      let found = try TranscriptFormat.recognised(
        in: bytes, fileName: "/a/TALK" + ending.uppercased())
      #expect(found == format)
    }
  }

  @Test("what leaves no doubt is recognised without a name, and under a wrong one")
  func content() throws {
    for format in TranscriptFormat.all where !["text", "markdown"].contains(format.name) {
      let bytes = Array(try format.write(Sample.talk).utf8)
      #expect(try TranscriptFormat.recognised(in: bytes) == format)
      #expect(try TranscriptFormat.recognised(in: bytes, fileName: "talk.txt") == format)
      #expect(try TranscriptFormat.recognised(in: bytes, fileName: "talk.md") == format)
    }
  }

  @Test("an empty file has the format of its name", arguments: TranscriptFormat.all)
  func empty(format: TranscriptFormat) throws {
    let name = "a" + (format.nameEndings.first ?? "")
    // Of formats that share an ending, the plainest is meant.
    let plainest = ["whisper": "json", "whisperx": "json", "audacity": "text"]
    let expected = plainest[format.name] ?? format.name
    #expect(try TranscriptFormat.recognised(in: [], fileName: name).name == expected)
  }

  @Test("anything is plain text, unless it is none")
  func fallback() throws {
    #expect(try TranscriptFormat.recognised(in: Array("Just words.".utf8)).name == "text")
    let binary: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0]
    #expect(throws: SpoolError.self) { try TranscriptFormat.recognised(in: binary) }
  }

  @Test("names and endings are each format's own, in lower case")
  func names() {
    #expect(Set(TranscriptFormat.all.map(\.name)).count == TranscriptFormat.all.count)
    for format in TranscriptFormat.all {
      #expect(TranscriptFormat(named: format.name) == format)
      #expect(!format.summary.isEmpty && !format.nameEndings.isEmpty)
      #expect(format.nameEndings.allSatisfy { $0.hasPrefix(".") && $0 == $0.lowercased() })
    }
    #expect(TranscriptFormat(named: "doc") == nil)
  }
}

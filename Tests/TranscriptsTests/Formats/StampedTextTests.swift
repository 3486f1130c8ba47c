import Testing
import Transcripts

@Suite("Times before the lines of a plain text are not spoken, and say when")
struct StampedTextTests {
  private func read(_ text: String, as name: String = "talk.txt") throws -> Transcript {
    let bytes = Array(text.utf8)
    let format = try TranscriptFormat.recognised(in: bytes, fileName: name)
    #expect(format.name == "text")
    return try format.read(bytes)
  }

  @Test(
    "speakers and text stay, times begin paragraphs",
    arguments: [
      "[00:00:00] JACK: Hello there.\n[00:00:05] JILL: Hi, Jack.\nHow are you?",
      "[00:00:00.000 --> 00:00:05.000]  JACK: Hello there.\n[00:00:05.000 --> 00:00:09.000] JILL: "
        + "Hi, Jack. How are you?",
      "(0:00) Jack: Hello there.\n\n(0:05) Jill: Hi, Jack. How are you?",
      "JACK [00:00]: Hello there.\nJILL [00:05]: Hi, Jack. How are you?",
      "Jack: [00:00:00] Hello there.\n\nJill: [00:00:05] Hi, Jack. How are you?",
      "JACK (0:00)\nHello there.\n\nJILL (0:05)\nHi, Jack. How are you?",
      "[0:00]\n\nJACK: Hello there.\n\n[0:05]\nJILL: Hi, Jack. How are you?",
    ])
  func stamps(text: String) throws {
    let transcript = try read(text)
    #expect(transcript.segments.map { $0.speaker?.uppercased() } == ["JACK", "JILL"])
    #expect(
      transcript.words.map(\.text) == [
        "Hello", "there.", "Hi,", "Jack.", "How", "are", "you?",
      ])
    #expect(transcript.segments.map(\.start) == [0, 5])
    #expect(transcript.segments.first?.end == 5)
  }

  @Test("hours are no lyrics without a name either, and lyrics are still lyrics")
  func lyrics() throws {
    _ = try read("[00:00:10] So it begins.", as: "talk")
    let song = Array("[00:12.00]Line one\n[00:15.30]Line two".utf8)
    #expect(try TranscriptFormat.recognised(in: song, fileName: "a.txt").name == "lrc")
    let hours = Array("[00:00:12.00]Line one".utf8)
    #expect(try TranscriptFormat.recognised(in: hours, fileName: "a.lrc").name == "lrc")
  }

  @Test("times out of order are left out, and what is no time is text")
  func disorder() throws {
    let transcript = try read("[00:00:10] one\n[00:00:05] two\n10:30 we met [laughs] (3 of us)")
    #expect(transcript.segments.allSatisfy { $0.start == nil && $0.end == nil })
    #expect(transcript.words.count == 9)
  }

  @Test("an excerpt in an error ends between characters")
  func excerpt() throws {
    let family = "👩‍👩‍👧"
    let text =
      "1\n" + String(repeating: "e\u{301}", count: 39) + String(repeating: family, count: 3)
    let format = try #require(TranscriptFormat(named: "srt"))
    #expect {
      try format.read(Array(text.utf8))
    } throws: { error in
      "\(error)".contains(String(repeating: "e\u{301}", count: 39) + family + "…")
    }
  }
}

import Audio
@testable import SoundEngine
@testable import Stages
import Testing

@Suite("A coding history")
struct CodingHistoryTests {
  private static let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  @Test("has a line of EBU R 98 for each process")
  func lines() {
    let mono = AudioFormat(sampleRate: Hertz(44_100), channelCount: 1)
    let surround = AudioFormat(sampleRate: Hertz(96_000), channelCount: 6)
    let lines = [
      CodingHistory.Line(format: Self.stereo, wordLength: 24, words: "one"),
      CodingHistory.Line(algorithm: "MPEG1L3", format: mono, bitRate: 128, words: "two"),
      CodingHistory.Line(format: surround, words: "three"),
      CodingHistory.Line(words: "four"),
    ]
    #expect(
      CodingHistory.text(lines, after: "") == """
        A=PCM,F=48000,W=24,M=stereo,T=one\r
        A=MPEG1L3,F=44100,B=128,M=mono,T=two\r
        A=PCM,F=96000,T=three\r
        A=PCM,T=four\r

        """)
  }

  @Test("begins with what the recording came with, whose last line is ended")
  func earlier() {
    let line = CodingHistory.Line(words: "x")
    for earlier in ["A=ANALOGUE", "A=ANALOGUE\r\n"] {
      #expect(CodingHistory.text([line], after: earlier) == "A=ANALOGUE\r\nA=PCM,T=x\r\n")
    }
  }

  @Test("has no words that would end a field or a line, and none without end")
  func plainWords() {
    #expect(
      CodingHistory.Line(words: "a, b\r\nc\u{7}").text == "A=PCM,T=a; b  c \r\n")
    let long = CodingHistory.Line(words: String(repeating: "é", count: 1000)).text
    #expect(long == "A=PCM,T=" + String(repeating: "é", count: 250) + "\r\n")
  }

  @Test("tells days and times only where there are some")
  func calendar() {
    #expect(CalendarText.date("2026-03-14T15:09:26.000000Z") == "2026-03-14")
    #expect(CalendarText.date("2026:03:14") == "2026-03-14")
    #expect(CalendarText.time("15:09:26.000000Z") == "15:09:26")
    #expect(CalendarText.time("15-09-26") == "15:09:26")
    for text in ["", "2026", "2026-13-01", "2026-00-01", "20260314", "٢٠٢٦-03-14", "+026-03-14"] {
      #expect(CalendarText.date(text) == nil, "\(text)")
    }
    for text in ["", "15:09", "24:00:00", "15:60:00"] {
      #expect(CalendarText.time(text) == nil, "\(text)")
    }
  }
}

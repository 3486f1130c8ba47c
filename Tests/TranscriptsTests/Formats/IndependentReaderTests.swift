import TestSupport
import Testing
import Transcripts

/// Other people's readers take from the files what was put into them.
@Suite("Readers of other projects understand what is written")
struct IndependentReaderTests {
  private static let webVTT = PythonReader(package: "webvtt")
  private static let pysrt = PythonReader(package: "pysrt")
  private static let praatio = PythonReader(package: "praatio")

  private struct Cue: Decodable, Equatable {
    let start: Double
    let end: Double
    let text: String
    var voice: String?
  }

  private func transcripts(_ change: (inout RandomTranscript) -> Void) -> [Transcript] {
    var shape = RandomTranscript()
    change(&shape)
    return (1...5 as ClosedRange<UInt64>).map { seed in
      var random = SeededRandom(seed: seed)
      return shape.transcript(&random)
    }
  }

  @Test("webvtt-py", .enabled(if: webVTT != nil, "python3 with webvtt-py is absent"))
  func vtt() throws {
    let reader = try #require(Self.webVTT)
    let format = try TranscriptFormat.known("vtt")
    for transcript in transcripts({ $0.speakers = .segments }) + [Sample.talk] {
      let cues: [Cue] = try reader.answer(
        """
        import json, re, sys, webvtt
        def seconds(time):
            hours, minutes, rest = time.split(':')
            return int(hours) * 3600 + int(minutes) * 60 + float(rest)
        def voice(cue):
            found = re.match('<v ([^>]+)>', cue.raw_text)
            return found and found[1]
        print(json.dumps([dict(start=seconds(c.start), end=seconds(c.end), text=c.text, voice=voice(c))
            for c in webvtt.read(sys.argv[1])]))
        """, about: format.write(transcript), name: "a.vtt")
      let expected = transcript.segments.map {
        Cue(start: $0.start ?? -1, end: $0.end ?? -1, text: $0.text, voice: $0.speaker)
      }
      #expect(cues.map(\.text).map(Self.unescaped) == expected.map(\.text))
      #expect(cues.map(\.voice) == expected.map(\.voice))
      for (cue, wanted) in zip(cues, expected) {
        #expect(abs(cue.start - wanted.start) < 1e-6 && abs(cue.end - wanted.end) < 1e-6)
      }
    }
  }

  /// The package leaves character references as they are.
  private static func unescaped(_ text: String) -> String {
    text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
  }

  @Test("pysrt", .enabled(if: pysrt != nil, "python3 with pysrt is absent"))
  func srt() throws {
    let reader = try #require(Self.pysrt)
    let format = try TranscriptFormat.known("srt")
    for transcript in transcripts({ $0.times = .none }) + [
      SubtitleLayout().subtitles(of: Sample.talk)
    ] {
      let cues: [Cue] = try reader.answer(
        """
        import json, sys, pysrt
        print(json.dumps([dict(start=c.start.ordinal / 1000, end=c.end.ordinal / 1000, text=c.text)
            for c in pysrt.open(sys.argv[1], encoding='utf-8', error_handling=2)]))
        """, about: format.write(transcript), name: "a.srt")
      let expected = transcript.segments.map { segment in
        Cue(
          start: segment.start.map(Self.milliseconds) ?? -1,
          end: segment.end.map(Self.milliseconds) ?? -1,
          text: (segment.speaker.map { "[\($0)]: " } ?? "") + segment.text)
      }
      #expect(cues == expected)
    }
  }

  private static func milliseconds(_ time: Double) -> Double { (time * 1000).rounded() / 1000 }

  private struct Tier: Decodable {
    let name: String
    let intervals: [Cue]
  }

  @Test("praatio", .enabled(if: praatio != nil, "python3 with praatio is absent"))
  func textGrid() throws {
    let reader = try #require(Self.praatio)
    let format = try TranscriptFormat.known("textgrid")
    let random = transcripts {
      ($0.speakers, $0.words) = (.segments, RandomTranscript.plainWords + ["\"quoted\""])
    }
    for transcript in random.filter({ !$0.segments.isEmpty }) + [Sample.talk] {
      let tiers: [Tier] = try reader.answer(
        """
        import json, sys
        from praatio import textgrid
        grid = textgrid.openTextgrid(sys.argv[1], includeEmptyIntervals=False)
        print(json.dumps([dict(name=t.name, intervals=[dict(start=e.start, end=e.end, text=e.label)
            for e in t.entries]) for t in grid.tiers]))
        """, about: format.write(transcript), name: "a.TextGrid")
      let segments = tiers.filter { $0.name.hasSuffix("segments") }.flatMap(\.intervals)
      #expect(
        segments.map(\.text).sorted()
          == transcript.segments.map(\.text).sorted())
      let words = tiers.filter { $0.name.hasSuffix("words") }.flatMap(\.intervals)
      let timed = transcript.words.filter { $0.start != nil }
      #expect(words.count == timed.count)
      #expect(Set(words.map(\.text)) == Set(timed.map(\.text)))
      let starts = words.map(\.start).sorted()
      for (start, wanted) in zip(starts, timed.compactMap(\.start).sorted()) {
        #expect(abs(start - wanted) < 1e-6)
      }
    }
  }
}

import TestSupport
import Testing
import Transcripts

@Suite("Subtitles keep to their limits, and to the times of their words")
struct SubtitleLayoutTests {
  /// Words that follow each other evenly.
  private func spoken(_ text: String, from start: Double = 0, each: Double = 0.3) -> Segment {
    var segment = Segment(text: text)
    for index in segment.words.indices {
      segment.words[index].start = start + Double(index) * each
      segment.words[index].end = start + Double(index) * each + each * 0.9
    }
    return segment
  }

  private func texts(_ segments: Segment..., layout: SubtitleLayout = SubtitleLayout()) -> [String]
  {
    layout.subtitles(of: Transcript(segments: segments)).segments.map(\.text)
  }

  private func width(_ text: some StringProtocol) -> Int {
    text.reduce(0) {
      $0 + ($1.unicodeScalars.contains { $0.value >= 0x2e80 && $0.value < 0x1f000 } ? 2 : 1)
    }
  }

  @Test("sentences stay together, and lines break where clauses end")
  func sentences() {
    #expect(texts(spoken("It works. So it does.")) == ["It works. So it does."])
    #expect(
      texts(spoken("When the rain had stopped at last, we went out into the garden again."))
        == ["When the rain had stopped at last,\nwe went out into the garden again."])
    let two = texts(
      spoken(
        "This is the first sentence, and it is rather a long one to read. And this is the second one, "
          + "which is not much shorter than the first."))
    #expect(two.count == 2)
    #expect(two[0].hasSuffix("to read."))
    #expect(two[1].hasPrefix("And this"))
  }

  @Test("an abbreviation ends no sentence")
  func abbreviations() {
    let text = texts(
      spoken(
        "Yesterday in the late afternoon they all went together to see old Dr. Smith in his house near "
          + "the river and talked."))
    #expect(text.allSatisfy { !$0.hasSuffix("Dr.") })
  }

  @Test("a pause, a speaker and a segment begin a subtitle")
  func boundaries() {
    var segment = spoken("One two three four")
    for index in 2...3 {
      segment.words[index].start = 10 + Double(index)
      segment.words[index].end = 10.5 + Double(index)
    }
    #expect(texts(segment) == ["One two", "three four"])
    var talk = spoken("Yes! No! Yes!")
    talk.words[1].speaker = "Bob"
    talk.speaker = "Amy"
    let result = SubtitleLayout().subtitles(of: Transcript(segments: [talk]))
    #expect(result.segments.map(\.text) == ["Yes!", "No!", "Yes!"])
    #expect(result.segments.map(\.speaker) == ["Amy", "Bob", "Amy"])
    #expect(texts(talk, layout: SubtitleLayout(separatesSpeakers: false)) == ["Yes! No! Yes!"])
    #expect(texts(spoken("One"), spoken("two", from: 0.3)) == ["One", "two"])
  }

  @Test(
    "the label of a speaker takes part of the first line",
    arguments: ["Anna", "Professor Annabelle"])
  func labels(name: String) throws {
    var layout = SubtitleLayout(lineLength: 32)
    layout.labelsSpeakers = true
    var said = spoken(
      "And Mister John Dashwood had then leisure to consider how much there might be in his power.")
    said.speaker = name
    let text = try TranscriptFormat.subRip.write(
      layout.subtitles(of: Transcript(segments: [said])))
    let lines = text.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("[\(name)]: And") }, "\(text)")
    #expect(lines.allSatisfy { $0.count <= 32 }, "\(text)")
    #expect(text.contains("power."), "\(text)")
  }

  @Test("a subtitle stays until it was read, as far as the next one lets it")
  func durations() {
    let layout = SubtitleLayout(charactersPerSecond: 10, minimalDuration: 1, minimalGap: 0.1)
    func times(_ segments: [Segment]) -> [Double?] {
      layout.subtitles(of: Transcript(segments: segments)).segments.flatMap { [$0.start, $0.end] }
    }
    #expect(times([spoken("Twenty letters here.", each: 0.1)]) == [0, 2])
    #expect(times([spoken("No", each: 0.1)]) == [0, 1])
    #expect(
      times([spoken("No", each: 0.1), spoken("yes", from: 0.75, each: 2.5)]) == [0, 0.65, 0.75, 3])
    let long = Segment(words: [TimedWord("Ah", start: 1, end: 299)])
    #expect(times([long]) == [1, 8])
  }

  @Test("voices at the same time are shown as long as they speak, in the order of their starts")
  func overlapping() throws {
    var anna = spoken(
      "I said that it should be done before the evening. And they did it, prudently and well, all day.",
      each: 0.5)
    anna.speaker = "Anna"
    var ben = spoken("And I did not hear it.", from: 3, each: 0.5)
    ben.speaker = "Ben"
    let text = Transcript(segments: [anna, ben])
    let result = SubtitleLayout().subtitles(of: text).segments
    #expect(result.map(\.speaker) == ["Anna", "Ben", "Anna"])
    #expect(zip(result, result.dropFirst()).allSatisfy { $0.start! <= $1.start! })
    for caption in result {
      let spoken = try #require(caption.words.last?.end)
      #expect(try #require(caption.end) >= spoken - 0.25, "\(caption.text)")
    }
    let back = Transcript(segments: result).inOrder(of: text)
    #expect(back.words.map(\.text) == text.words.map(\.text))
    // Voices that hardly overlap are shown one after the other.
    ben = spoken("And so.", from: anna.words.last!.end! - 0.1)
    ben.speaker = "Ben"
    let apart = SubtitleLayout().subtitles(of: Transcript(segments: [anna, ben])).segments
    #expect(zip(apart, apart.dropFirst()).allSatisfy { $0.end! < $1.start! })
  }

  @Test("words without times get them from their neighbours; without any, subtitles have none")
  func untimed() {
    var segment = spoken("a b c d", each: 1)
    for index in 1...2 { (segment.words[index].start, segment.words[index].end) = (nil, nil) }
    let subtitle = SubtitleLayout().subtitles(of: Transcript(segments: [segment])).segments[0]
    #expect(subtitle.words.map(\.flags) == [[], .interpolated, .interpolated, []])
    #expect(subtitle.words.allSatisfy { $0.start != nil })
    let plain = SubtitleLayout().subtitles(of: Transcript(segments: [Segment(text: "a b")]))
    #expect(plain.segments.map(\.start) == [nil])
    #expect(plain.segments.map(\.text) == ["a b"])
  }

  @Test("Chinese breaks between characters, and never before a full stop")
  func chinese() {
    let sentence = String(repeating: "我们今天去公园散步，然后回家吃饭。", count: 6)
    let word = TimedWord(sentence, start: 0, end: 24)
    let result = SubtitleLayout().subtitles(of: Transcript(segments: [Segment(words: [word])]))
    #expect(result.segments.map { $0.text.replacing("\n", with: "") }.joined() == sentence)
    for line in result.segments.flatMap({ $0.text.split(separator: "\n") }) {
      #expect(width(line) <= 42)
      #expect(line.first != "。" && line.first != "，")
    }
    #expect(result.segments.count >= 3)
    #expect(result.words.allSatisfy { $0.flags == .interpolated })
    #expect(result.segments.last?.words.last?.end == 24)
  }

  @Test("text from right to left, emoji and endless words neither crash nor break")
  func odd() {
    let hebrew = texts(spoken(String(repeating: "שלום עולם, זה מבחן. ", count: 10)))
    #expect(hebrew.allSatisfy { $0.split(separator: "\n").allSatisfy { $0.count <= 42 } })
    let endless = String(repeating: "a", count: 400)
    let lines = texts(spoken("so \(endless) yes")).flatMap { $0.split(separator: "\n") }
    #expect(lines.map(String.init) == ["so", endless, "yes"])
    let family = String(repeating: "👨‍👩‍👧‍👦", count: 50)
    #expect(texts(spoken(family)) == [family])
    #expect(texts(Segment(text: "")) == [])
    let thai = "ภาษาไทยไม่มีช่องว่างระหว่างคำจึงตัดบรรทัดยากกว่าภาษาอื่นมากทีเดียวเลยนะครับ"
    #expect(texts(spoken(thai)).joined().replacing("\n", with: "") == thai)
  }

  @Test("whatever is said, the limits are kept and no word is lost, broken or moved")
  func properties() {
    var shape = RandomTranscript()
    (shape.times, shape.speakers, shape.wordCount, shape.languages) = (.all, .words, 1...60, ["en"])
    for seed in 1...60 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let transcript = shape.transcript(&random)
      let layout = SubtitleLayout(
        lineLength: Int.random(in: 8...50, using: &random),
        lineCount: Int.random(in: 1...3, using: &random),
        charactersPerSecond: Double.random(in: 5...30, using: &random))
      let result = layout.subtitles(of: transcript)
      #expect(result.words.map(\.text) == transcript.words.map(\.text), "seed \(seed)")
      #expect(result.words.map(\.start) == transcript.words.map(\.start), "seed \(seed)")
      for (subtitle, next) in zip(
        result.segments, result.segments.dropFirst() + [Segment(text: "")])
      {
        let lines = subtitle.text.split(separator: "\n")
        #expect(lines.count <= layout.lineCount)
        for line in lines {
          let isOneWord = !line.contains(" ")
          #expect(isOneWord || width(line) <= layout.lineLength + 2, "seed \(seed): \(line)")
        }
        let start = subtitle.start ?? -1
        let end = subtitle.end ?? -1
        #expect(start == subtitle.words.first?.start, "the first word decides")
        #expect(end > start && end - start <= layout.maximalDuration + 1e-9)
        if let after = next.start { #expect(end < after, "seed \(seed): subtitles overlap") }
        #expect(
          subtitle.text.split(whereSeparator: \.isWhitespace).map(String.init)
            == subtitle.words.map(\.text))
      }
      #expect(result.language == "en")
    }
  }

  @Test("limits that make no sense count as the nearest that does")
  func nonsense() {
    let layout = SubtitleLayout(
      lineLength: 0, lineCount: -1, charactersPerSecond: -.infinity, minimalDuration: -1,
      maximalDuration: -2, minimalGap: -1, longestPause: -1)
    #expect(texts(spoken("a b c"), layout: layout) == ["a", "b", "c"])
  }
}

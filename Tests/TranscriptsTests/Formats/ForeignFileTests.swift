import Testing
import Transcripts

/// Files as other programs write them.
@Suite("Files of other programs are read")
struct ForeignFileTests {
  private func read(_ format: String, _ text: String) throws -> Transcript {
    try TranscriptFormat.known(format).read(text)
  }

  @Test("the seed JSON, with what is unknown and without what is missing")
  func seed() throws {
    let transcript = try read(
      "json",
      """
      {"text": "Hi there, you.", "mood": {"a": [1]}, "isFinal": false, "words": [
        {"text": "Hi", "startTime": 0.25, "endTime": 0.5, "confidence": 1, "x": null},
        {"text": "there,"}, {"text": "you.", "startTime": 1, "endTime": 0.5}]}
      """)
    let words = [
      TimedWord("Hi", start: 0.25, end: 0.5, confidence: 1), TimedWord("there,"),
      TimedWord("you.", start: 1),
    ]
    #expect(
      transcript
        == Transcript(isFinal: false, segments: [Segment(text: "Hi there, you.", words: words)]))
  }

  @Test("segments that do not say which words are theirs get those that are spoken in them")
  func seedSegments() throws {
    let transcript = try read(
      "json",
      """
      {"text": "One. Two three.", "words": [
        {"text": "One", "startTime": 0, "endTime": 0.5},
        {"text": "two", "startTime": 2.25, "endTime": 2.5},
        {"text": "three", "startTime": 2.5, "endTime": 3}],
       "segments": [{"text": "One.", "startTime": 0, "endTime": 1, "speaker": "A"},
        {"text": "Two three.", "startTime": 2, "endTime": 3}]}
      """)
    #expect(
      transcript.segments.map(\.words).map { $0.map(\.text) } == [["One."], ["Two", "three."]])
    #expect(transcript.words.map(\.start) == [0, 2.25, 2.5])
  }

  @Test("openai-whisper")
  func whisper() throws {
    let transcript = try read(
      "whisper",
      #"""
      {"text": " And so, my fellow.", "segments": [{"id": 0, "seek": 0, "start": 0.0, "end": 2.5,
        "text": " And so, my fellow.", "tokens": [50364, 400], "temperature": 0.0,
        "avg_logprob": -0.3, "compression_ratio": 0.9, "no_speech_prob": 0.01,
        "words": [{"word": " And", "start": 0.0, "end": 0.5, "probability": 0.7},
          {"word": " so,", "start": 0.5, "end": 1.0, "probability": 0.95},
          {"word": " my", "start": 1.25, "end": 1.5, "probability": 0.9},
          {"word": " fellow.", "start": 1.5, "end": 2.5, "probability": 1.0004}]}],
       "language": "en"}
      """#)
    #expect(transcript.language == "en")
    #expect(transcript.segments.map(\.text) == ["And so, my fellow."])
    #expect(transcript.words.map(\.text) == ["And", "so,", "my", "fellow."])
    #expect(transcript.words.map(\.confidence) == [0.7, 0.95, 0.9, 1])
    #expect(transcript.segments[0].end == 2.5)
  }

  @Test("faster-whisper's list of segments, and words without spaces between them")
  func fasterWhisper() throws {
    let transcript = try read(
      "whisper",
      #"""
      [{"id": 1, "start": 0, "end": 2, "text": "你好世界。", "avg_logprob": -0.2, "words": [
        {"start": 0, "end": 0.75, "word": "你好", "probability": 0.9},
        {"start": 0.75, "end": 2, "word": "世界。", "probability": 0.8}]}]
      """#)
    #expect(transcript.words.map(\.text) == ["你好", "世界。"])
    let again = try TranscriptFormat.known("whisper").write(transcript)
    #expect(again.contains(#""word":"世界。""#), "no space is put where none was")
    #expect(try read("whisper", again) == transcript)
  }

  @Test("a service's answer, whose words stand apart from its segments")
  func apart() throws {
    let transcript = try read(
      "whisper",
      """
      {"task": "transcribe", "language": "english", "duration": 3.2, "text": "Well, yes. No!",
       "words": [{"word": "Well", "start": 0.1, "end": 0.4}, {"word": "yes", "start": 0.5, "end": 1},
        {"word": "No", "start": 2.1, "end": 2.5}],
       "segments": [{"id": 0, "start": 0, "end": 1.5, "text": " Well, yes."},
        {"id": 1, "start": 2, "end": 3, "text": " No!"}]}
      """)
    #expect(transcript.words.map(\.text) == ["Well,", "yes.", "No!"])
    #expect(transcript.words.map(\.start) == [0.1, 0.5, 2.1])
    #expect(transcript.segments.map(\.words.count) == [2, 1])
  }

  @Test("a segment without words, or with some of them, has those of its text")
  func missingWords() throws {
    let transcript = try read(
      "whisper",
      """
      {"segments": [{"start": 0, "end": 1, "text": " So what?", "words": []},
        {"start": 1, "end": 3, "text": " ÉTÉ, go on!", "words": [
          {"word": " été", "start": 1, "end": 2}]}]}
      """)
    #expect(
      transcript.segments.map { $0.words.map(\.text) } == [
        ["So", "what?"], ["ÉTÉ,", "go", "on!"],
      ])
    #expect(transcript.words.map(\.start) == [nil, nil, 1, nil, nil])
  }

  @Test("WhisperX, whose words may have no times")
  func whisperX() throws {
    let transcript = try read(
      "whisperx",
      """
      {"segments": [{"start": 0.5, "end": 2, "text": " It costs $3.", "speaker": "SPEAKER_00",
        "words": [{"word": "It", "start": 0.5, "end": 0.75, "score": 0.5, "speaker": "SPEAKER_00"},
          {"word": "costs", "start": 0.75, "end": 1, "score": 0.25, "speaker": "SPEAKER_01"},
          {"word": "$3."}]}],
       "word_segments": [{"word": "It", "start": 0.5, "end": 0.75, "score": 0.5}]}
      """)
    let words = [
      TimedWord("It", start: 0.5, end: 0.75, confidence: 0.5),
      TimedWord("costs", start: 0.75, end: 1, confidence: 0.25, speaker: "SPEAKER_01"),
      TimedWord("$3."),
    ]
    let segment = Segment(
      text: "It costs $3.", words: words, start: 0.5, end: 2, speaker: "SPEAKER_00")
    #expect(transcript == Transcript(segments: [segment]))
    let alone = try read("whisperx", #"{"word_segments": [{"word": "Hi", "start": 1, "end": 2}]}"#)
    #expect(alone.segments == [Segment(words: [TimedWord("Hi", start: 1, end: 2)])])
  }

  @Test("whisper.cpp, whose tokens make words where a space begins, and cut letters in two")
  func tokens() throws {
    let start = Array(
      #"""
      {"systeminfo": "AVX", "model": {"type": "base"}, "result": {"language": "fr"},
       "transcription": [{"timestamps": {"from": "00:00:00,000", "to": "00:00:02,000"},
        "offsets": {"from": 0, "to": 2000}, "text": " Déjà vu!", "tokens": [
        {"text": "[_BEG_]", "offsets": {"from": 0, "to": 0}, "id": 50364, "p": 0.9, "t_dtw": -1},
        {"text": " D", "offsets": {"from": 0, "to": 200}, "p": 0.5},
        {"text": "
      """#.utf8)
    let end = Array(
      #"""
      "}, {"text": "jà", "offsets": {"from": 300, "to": 900}, "p": 1.0},
        {"text": " vu", "offsets": {"from": 1000, "to": 1500}, "p": 0.25},
        {"text": "!", "offsets": {"from": 1500, "to": 1600}, "p": 0.75},
        {"text": "[_TT_100]", "offsets": {"from": 2000, "to": 2000}, "p": 0.1}]}]}
      """#.utf8)
    let cut = Array("\u{e9}".utf8)
    let between = Array(#""}, {"text": ""#.utf8)
    let file = start + [cut[0]] + between + [cut[1]] + end
    #expect(try TranscriptFormat.recognised(in: file, fileName: "a.json").name == "whisper")
    let transcript = try TranscriptFormat.known("whisper").read(file)
    #expect(transcript.language == "fr")
    let words = [
      TimedWord("Déjà", start: 0, end: 0.9, confidence: 0.75),
      TimedWord("vu!", start: 1, end: 1.6, confidence: 0.5),
    ]
    #expect(transcript.segments == [Segment(text: "Déjà vu!", words: words, start: 0, end: 2)])
  }

  @Test("SubRip with all that it should not have")
  func subRip() throws {
    let text = [
      "\u{feff}1", "00:00:01,000 --> 00:00:02,500 X1:40 X2:600", "{\\an8}<i>One</i> <3", "",
      "more", "2", "0:0:3.5-->0:0:4", "<font color=\"#fff\">[Amy]: Two</font>", "3",
      "100:59:59,999  -->  100:59:58,000", "- It's -->", "42", "", "",
    ].joined(separator: "\r\n")
    let transcript = try read("srt", text)
    #expect(
      transcript.segments == [
        Segment(text: "One <3\nmore", start: 1, end: 2.5),
        Segment(text: "Two", start: 3.5, end: 4, speaker: "Amy"),
        Segment(text: "- It's -->\n42", start: 363_599.999),
      ])
  }

  @Test("times within a caption of WebVTT ascend, and lie before its end")
  func ascendingTimes() throws {
    let words = [
      TimedWord("one", start: 1, end: 1.5), TimedWord("two", start: 1.5, end: 1.5),
      TimedWord("three", start: 1.5, end: 2.25),
    ]
    let segment = Segment(text: "one two three", words: words, start: 1, end: 2)
    let text = try TranscriptFormat.known("vtt").write(Transcript(segments: [segment]))
    #expect(text.contains("00:00:01.000 --> 00:00:02.000\n"), "\(text)")
    #expect(text.contains("one <00:00:01.500>two three"), "\(text)")
    #expect(text.ranges(of: "<00:").count == 1, "\(text)")
  }

  @Test("WebVTT with notes, styles, names, settings, classes and rolling words")
  func webVTT() throws {
    let transcript = try read(
      "vtt",
      """
      WEBVTT - a title
      Kind: captions
      Language: en-GB

      STYLE
      ::cue { color: red }

      NOTE 00:01 --> this is none

      intro
      00:01.000 --> 00:02.000 align:start position:0%
      <c.yellow>The</c><00:00:01.250><c> quick</c><00:00:01.500><c> fox</c>

      00:00:03.000 --> 00:00:04.000
      <v.loud Mary Ann>Hi &amp; bye</v> <v Bob>A < b &lt;i&gt;

      00:00:05.000 --> 00:00:06.000
      你好<00:00:05.500>世界

      00:07.000 --> 00:09.000
      <00:07.250>a <00:08.000>short clock
      """)
    #expect(transcript.language == "en-GB")
    let words = transcript.segments.map(\.words)
    #expect(
      words[0] == [
        TimedWord("The", start: 1, end: 1.25), TimedWord("quick", start: 1.25, end: 1.5),
        TimedWord("fox", start: 1.5, end: 2),
      ])
    #expect(
      words[1].map(\.speaker)
        == ["Mary Ann", "Mary Ann", "Mary Ann", "Bob", "Bob", "Bob", "Bob"].prefix(words[1].count)
        .map(\.self))
    #expect(transcript.segments[1].text.hasPrefix("Hi & bye A"))
    #expect(words[2].map(\.text) == ["你好", "世界"])
    #expect(words[2].map(\.end) == [5.5, 6])
    // Time stamps without hours, the first of them behind the cue's beginning.
    #expect(words[3].first == TimedWord("a", start: 7.25, end: 8))
    #expect(words[3].dropFirst().first?.start == 8)
  }

  @Test("a TextGrid in the short form, with sounds, moments and two speakers")
  func shortTextGrid() throws {
    let transcript = try read(
      "textgrid",
      """
      "ooTextFile"
      "TextGrid"
      0
      2.5
      <exists>
      4
      "IntervalTier" "Amy"
      0 2.5 2
      0 1 "Say ""it"", please."
      1 2.5 ""
      "IntervalTier" "Amy - words" 0 2.5 3
      0 0.5 "say" 0.5 0.75 "it" 0.75 1 "please"
      "IntervalTier" "Amy - phones" 0 2.5 1
      0 2.5 "S"
      "TextTier" "clicks" 0 2.5 1
      1.25 "click"
      """)
    let words = [
      TimedWord("Say", start: 0, end: 0.5), TimedWord("\"it\",", start: 0.5, end: 0.75),
      TimedWord("please.", start: 0.75, end: 1),
    ]
    #expect(
      transcript.segments == [
        Segment(text: "Say \"it\", please.", words: words, start: 0, end: 1, speaker: "Amy")
      ])
  }

  @Test("of many tiers of a TextGrid, those of words are read, and codes where nothing else is")
  func annotatedTextGrid() throws {
    func text(_ tiers: [String]) -> String {
      """
      "ooTextFile" "TextGrid" 0 2 <exists> \(tiers.count)
      \(tiers.joined(separator: "\n"))
      """
    }
    let codes = [
      #""IntervalTier" "Intonational" 0 2 1  0 2 "L%""#,
      #""IntervalTier" "Word" 0 2 2  0 1 "F"  1 2 "C""#,
      #""IntervalTier" "Accent" 0 2 2  0 1 "W"  1 2 "S""#,
    ]
    let others = [
      #""IntervalTier" "Text" 0 2 2  0 1 "her"  1 2 "friends""#,
      #""IntervalTier" "Phonetic" 0 2 2  0 1 "h@:"  1 2 "frendz""#,
    ]
    let read = try read("textgrid", text(codes + others)).segments
    #expect(
      read == [
        Segment(text: "her", start: 0, end: 1), Segment(text: "friends", start: 1, end: 2),
      ])
    let letters = try self.read("textgrid", text(Array(codes.dropFirst().prefix(1))))
    #expect(letters.words.map(\.text) == ["F", "C"])
    let chinese = text([#""IntervalTier" "words" 0 2 2  0 1 "好"  1 2 "吗""#, codes[0]])
    #expect(try self.read("textgrid", chinese).words.map(\.text) == ["好", "吗"])
  }

  @Test("CTM with comments, sides of a call and alternatives")
  func ctm() throws {
    let transcript = try read(
      "ctm",
      """
      ;; made by hand
      call A 0.5 0.25 hello 0.75
      call B 1.0 .5 yes
      call B * * <ALT_BEGIN>
      call B 1.5 0.1 yeah 0.9 lex Bob
      call B * * <ALT>
      call B 1.5 0.1 nah 0.1
      call B * * <ALT_END>
      call B 2 0.5 bye NA
      """)
    #expect(transcript.words.map(\.text) == ["hello", "yes", "yeah", "bye"])
    #expect(transcript.segments.map(\.speaker) == ["A", "B", "Bob", "B"])
    #expect(transcript.words.map(\.end) == [0.75, 1.5, 1.6, 2.5])
    #expect(transcript.words.map(\.confidence) == [0.75, nil, 0.9, nil])
  }

  @Test("Audacity's labels with commas, frequencies and moments")
  func audacity() throws {
    let transcript = try read(
      "audacity", "0,500000\t1,250000\tOne two\n\\\t100.0\t200.0\n2.0\t2.0\tthree\n3.0\t4.0\n")
    #expect(
      transcript.segments == [
        Segment(text: "One two", start: 0.5, end: 1.25),
        Segment(text: "three", words: [TimedWord("three", start: 2, end: 2)], start: 2, end: 2),
        Segment(text: "", start: 3, end: 4),
      ])
  }

  @Test("LRC with facts, a shift, choruses and syllables")
  func lrc() throws {
    let transcript = try read(
      "lrc",
      """
      [ar:Somebody]
      [offset:+500]
      [00:20.00][00:10.50]La la
      [00:12.00]<00:12.00>Won<00:12.50>der <00:13.00>wall <00:14.00>
      [00:15]
      [Chorus] or not
      """)
    #expect(transcript.segments.map(\.start) == [10, 11.5, 19.5, nil])
    #expect(transcript.segments.map(\.end) == [11.5, 14.5, nil, nil])
    #expect(
      transcript.segments.map(\.text) == ["La la", "Wonder wall", "La la", "[Chorus] or not"])
    #expect(
      transcript.segments[1].words == [
        TimedWord("Wonder", start: 11.5, end: 12.5), TimedWord("wall", start: 12.5, end: 13.5),
      ])
  }

  @Test("a table with columns in another order, and one without names")
  func table() throws {
    let named = try read(
      "tsv", "speaker\tstart\tend\ttext\nAmy\t0\t1500\tHi\tthere\n\t2000\t\tBye\n")
    #expect(
      named.segments == [
        Segment(text: "Hi there", start: 0, end: 1.5, speaker: "Amy"),
        Segment(text: "Bye", start: 2),
      ])
    #expect(try read("tsv", "10\t20\tx\n").segments == [Segment(text: "x", start: 0.01, end: 0.02)])
  }

  @Test("plain text with names")
  func plainText() throws {
    let text = "Amy: Hi!\nBob: Oh.\nwell\n\nIt is 10:30 now: late.\n\nthen: so\n\nSPEAKER_01:\nYes"
    let transcript = try read("text", text)
    #expect(transcript.segments.map(\.speaker) == ["Amy", "Bob", nil, nil, "SPEAKER_01"])
    #expect(
      transcript.segments.map(\.text)
        == ["Hi!", "Oh.\nwell", "It is 10:30 now: late.", "then: so", "Yes"])
  }

  @Test("a bold line of Markdown with a colon and nothing behind it is text")
  func boldLine() throws {
    let transcript = try read("markdown", "**Three points:**\n\n**Amy:** one")
    #expect(transcript.segments.map(\.speaker) == [nil, "Amy"])
    #expect(transcript.segments.map(\.text) == ["Three points:", "one"])
  }

  @Test("codes of places are no text, in SubRip as in WebVTT", arguments: ["srt", "vtt"])
  func codes(name: String) throws {
    let text =
      (name == "vtt" ? "WEBVTT\n\n" : "1\n")
      + "00:00:00.000 --> 00:00:01.000\n{\\an8}Up {there\n{\\i1}now} {\\ no\nend}\n"
    #expect(try read(name, text).segments.map(\.text) == ["Up {there\nnow} {\\ no\nend}"])
  }

  @Test("Markdown as people write it")
  func markdown() throws {
    let transcript = try read(
      "markdown",
      """
      ---
      title: Talk
      ---
      # The *first* talk #

      **Amy:** It is _really_ **so**, see [the ~~old~~ site](https://example.org/a_b) and `x_y`.
      Second line\\
      third snake_case 3\\. part

      > **Bob**: quoted ![picture](p.png)text
      ***
      - one
      - two
      1. three

      <!-- nothing
      here -->
      ```
      code
      ```
      """)
    #expect(
      transcript.segments.map(\.text) == [
        "The first talk",
        "It is really so, see the old site and x_y.\nSecond line\nthird snake_case 3. part",
        "quoted text", "one", "two", "three",
      ])
    #expect(transcript.segments.map(\.speaker) == [nil, "Amy", "Bob", nil, nil, nil])
  }
}

import Testing
import Transcripts

/// What each format looks like, to the byte.
@Suite("Files are written as others write them")
struct GoldenTests {
  private static let files: [(format: String, text: String)] = [
    (
      "json",
      """
      {
        "text": "Hello, world & <you>.\\n\\nNo.\\n7 costs $3.50?",
        "words": [
          {"confidence":0.98,"endTime":0.9,"startTime":0.5,"text":"Hello,"},
          {"confidence":0.9,"endTime":1.3,"startTime":0.95,"text":"world"},
          {"confidence":0.4,"endTime":1.4,"flags":["interpolated"],"startTime":1.3,"text":"&"},
          {"confidence":0.75,"endTime":2,"startTime":1.4,"text":"<you>."},
          {"confidence":1,"endTime":62.5,"startTime":62.25,"text":"No."},
          {"confidence":0.5,"endTime":63,"startTime":62.5,"text":"7"},
          {"confidence":0.25,"endTime":63.5,"startTime":63.12,"text":"costs"},
          {"confidence":0.125,"endTime":64.75,"startTime":63.5,"text":"$3.50?"}
        ],
        "isFinal": true,
        "language": "en",
        "segments": [
          {"endTime":2,"speaker":"Amy","startTime":0.5,"text":"Hello, world & <you>.","wordCount":4},
          {"endTime":65,"speaker":"Bob","startTime":62,"text":"No.\\n7 costs $3.50?","wordCount":4}
        ]
      }

      """
    ),
    (
      "srt",
      """
      1
      00:00:00,500 --> 00:00:02,000
      [Amy]: Hello, world & <you>.

      2
      00:01:02,000 --> 00:01:05,000
      [Bob]: No.
      7 costs $3.50?


      """
    ),
    (
      "vtt",
      """
      WEBVTT
      Language: en

      00:00:00.500 --> 00:00:02.000
      <v Amy>Hello,<00:00:00.900> <00:00:00.950>world <00:00:01.300>&amp; <00:00:01.400>&lt;you&gt;.

      00:01:02.000 --> 00:01:05.000
      <v Bob><00:01:02.250>No.
      <00:01:02.500>7<00:01:03.000> <00:01:03.120>costs <00:01:03.500>$3.50?<00:01:04.750>

      """
    ),
    (
      "ctm",
      """
      recording 1 0.500 0.400 Hello, 0.980 lex Amy
      recording 1 0.950 0.350 world 0.900 lex Amy
      recording 1 1.300 0.100 & 0.400 lex Amy
      recording 1 1.400 0.600 <you>. 0.750 lex Amy
      recording 1 62.250 0.250 No. 1.000 lex Bob
      recording 1 62.500 0.500 7 0.500 lex Bob
      recording 1 63.120 0.380 costs 0.250 lex Bob
      recording 1 63.500 1.250 $3.50? 0.125 lex Bob

      """
    ),
    (
      "audacity",
      """
      0.500000\t0.900000\tHello,
      0.950000\t1.300000\tworld
      1.300000\t1.400000\t&
      1.400000\t2.000000\t<you>.
      62.250000\t62.500000\tNo.
      62.500000\t63.000000\t7
      63.120000\t63.500000\tcosts
      63.500000\t64.750000\t$3.50?

      """
    ),
    (
      "lrc",
      """
      [la:en]
      [00:00.50]<00:00.50>Hello,<00:00.90> <00:00.95>world <00:01.30>& <00:01.40><you>.<00:02.00>
      [00:02.00]
      [01:02.00]<01:02.25>No. <01:02.50>7<01:03.00> <01:03.12>costs <01:03.50>$3.50?<01:04.75>
      [01:05.00]

      """
    ),
    (
      "tsv",
      "start\tend\ttext\n500\t2000\tHello, world & <you>.\n62000\t65000\tNo. 7 costs $3.50?\n"
    ),
    ("text", "Amy: Hello, world & <you>.\n\nBob: No.\n7 costs $3.50?\n"),
    (
      "markdown", "**Amy:** Hello, world & \\<you\\>.\n\n**Bob:** No.\n7 costs $3.50?\n"
    ),
    (
      "whisper",
      """
      {
        "text": " Hello, world & <you>. No.\\n7 costs $3.50?",
        "segments": [
          {"end":2,"id":0,"speaker":"Amy","start":0.5,"text":" Hello, world & <you>.",\
      "words":[{"end":0.9,"probability":0.98,"start":0.5,"word":" Hello,"},\
      {"end":1.3,"probability":0.9,"start":0.95,"word":" world"},\
      {"end":1.4,"flags":["interpolated"],"probability":0.4,"start":1.3,"word":" &"},\
      {"end":2,"probability":0.75,"start":1.4,"word":" <you>."}]},
          {"end":65,"id":1,"speaker":"Bob","start":62,"text":" No.\\n7 costs $3.50?",\
      "words":[{"end":62.5,"probability":1,"start":62.25,"word":" No."},\
      {"end":63,"probability":0.5,"start":62.5,"word":" 7"},\
      {"end":63.5,"probability":0.25,"start":63.12,"word":" costs"},\
      {"end":64.75,"probability":0.125,"start":63.5,"word":" $3.50?"}]}
        ],
        "language": "en"
      }

      """
    ),
  ]

  @Test("the sample is written in these bytes", arguments: files.indices)
  func bytes(index: Int) throws {
    let (name, expected) = Self.files[index]
    let format = try TranscriptFormat.known(name)
    let text = try format.write(Sample.talk)
    #expect(text == expected)
  }

  @Test("every format but those of long files has its bytes here")
  func complete() {
    let names = Set(TranscriptFormat.all.map(\.name)).subtracting(Self.files.map(\.format))
    #expect(names == ["whisperx", "textgrid"])
  }

  @Test("a TextGrid is written in the long form, with silence as empty intervals")
  func textGrid() throws {
    let transcript = Transcript(
      segments: [
        Segment(words: [TimedWord("say \"no\"", start: 0.25, end: 1.5)], start: 0.25, end: 2)
      ])
    let expected = """
      File type = "ooTextFile"
      Object class = "TextGrid"

      xmin = 0
      xmax = 2
      tiers? <exists>
      size = 2
      item []:
          item [1]:
              class = "IntervalTier"
              name = "segments"
              xmin = 0
              xmax = 2
              intervals: size = 2
              intervals [1]:
                  xmin = 0
                  xmax = 0.25
                  text = ""
              intervals [2]:
                  xmin = 0.25
                  xmax = 2
                  text = "say ""no\"""
          item [2]:
              class = "IntervalTier"
              name = "words"
              xmin = 0
              xmax = 2
              intervals: size = 3
              intervals [1]:
                  xmin = 0
                  xmax = 0.25
                  text = ""
              intervals [2]:
                  xmin = 0.25
                  xmax = 1.5
                  text = "say ""no\"""
              intervals [3]:
                  xmin = 1.5
                  xmax = 2
                  text = ""

      """
    #expect(try TranscriptFormat.known("textgrid").write(transcript) == expected)
  }

  @Test("WhisperX lists the words once more")
  func whisperX() throws {
    let text = try TranscriptFormat.known("whisperx").write(Sample.talk)
    let word = #"{"end":0.9,"score":0.98,"speaker":"Amy","start":0.5,"word":"Hello,"}"#
    #expect(text.split(separator: word).count == 3)
    #expect(text.contains(#""word_segments": ["#))
  }
}

import TestSupport
import Testing
import Transcripts

@Suite("What is written and read again is the same, as far as the format can hold it")
struct RoundTripTests {
  /// What each format can hold.
  private static let shapes: [(format: String, options: WritingOptions, shape: RandomTranscript)] =
    {
      var all: [(String, WritingOptions, RandomTranscript)] = []
      func add(
        _ format: String, _ options: WritingOptions = WritingOptions(),
        _ change: (inout RandomTranscript) -> Void
      ) {
        var shape = RandomTranscript()
        change(&shape)
        all.append((format, options, shape))
      }
      add("json") {
        ($0.words, $0.speakers, $0.times) = (RandomTranscript.oddWords, .words, .some)
        ($0.hasConfidence, $0.hasFlags, $0.languages) = (true, true, [nil, "en", "de-AT"])
        $0.grid = 997
      }
      add("json") { ($0.hasSegmentTimes, $0.segmentCount, $0.times) = (false, 0...1, .some) }
      for name in ["whisper", "whisperx"] {
        add(name) {
          ($0.words, $0.speakers, $0.times) = (RandomTranscript.oddWords, .words, .some)
          ($0.hasConfidence, $0.hasFlags, $0.languages) = (true, true, [nil, "en"])
          $0.grid = 997
        }
        add(name) { ($0.hasSegmentTimes, $0.times) = (false, .none) }
      }
      add("srt") {
        ($0.words, $0.speakers, $0.times) = (RandomTranscript.codeWords, .segments, .none)
      }
      add("vtt") {
        ($0.words, $0.speakers) = (RandomTranscript.oddWords, .words)
        ($0.languages, $0.names) = ([nil, "en", "zh-Hant"], $0.names + ["<A & B>"])
      }
      add("vtt", WritingOptions(hasWordTimes: false)) { $0.times = .none }
      add("textgrid") {
        ($0.words, $0.speakers, $0.grid) = (RandomTranscript.oddWords, .segments, 997)
        $0.names = ["Amy", "Dr. \"No\" Smith", "words of Bob", "SPEAKER_00"]
      }
      add("audacity") {
        ($0.words, $0.times, $0.grid) = (RandomTranscript.oddWords, .all, 1_000_000)
        ($0.wordCount, $0.hasSegmentTimes) = (1...1, false)
      }
      add("audacity", WritingOptions(hasWordTimes: false)) {
        ($0.hasLines, $0.times, $0.wordCount) = (false, .none, 2...9)
      }
      add("lrc") {
        ($0.words, $0.hasLines, $0.grid) = (RandomTranscript.codeWords, false, 100)
        $0.languages = [nil, "en"]
      }
      add("tsv") {
        ($0.words, $0.hasLines, $0.times) = (RandomTranscript.oddWords, false, .none)
      }
      add("text") {
        ($0.words, $0.speakers) = (RandomTranscript.codeWords, .segments)
        ($0.times, $0.hasSegmentTimes) = (.none, false)
      }
      add("markdown") {
        ($0.words, $0.speakers) = (RandomTranscript.oddWords, .segments)
        ($0.times, $0.hasSegmentTimes, $0.names) = (
          .none, false, $0.names + ["*A*", "b [c]", "# d"]
        )
      }
      return all
    }()

  @Test("whatever a format can hold comes back as it was", arguments: shapes.indices)
  func properties(index: Int) throws {
    let (name, options, shape) = Self.shapes[index]
    let format = try TranscriptFormat.known(name)
    for seed in 1...100 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      var transcript = shape.transcript(&random)
      if name == "audacity" { transcript = Self.labelled(transcript) }
      let text = try format.write(transcript, options)
      let back = try format.read(text)
      guard back != transcript else { continue }
      Issue.record("\(name), seed \(seed):\n\(text)\nbecame\n\(try format.write(back, options))")
      return
    }
  }

  /// A label of one word has the word's times for its own.
  private static func labelled(_ transcript: Transcript) -> Transcript {
    var result = transcript
    for index in result.segments.indices where result.segments[index].words.count == 1 {
      result.segments[index].start = result.segments[index].knownStart
      result.segments[index].end = result.segments[index].knownEnd
    }
    return result
  }

  @Test("CTM keeps words, times, confidences and whose turn it is")
  func turns() throws {
    let format = try TranscriptFormat.known("ctm")
    var shape = RandomTranscript()
    (shape.times, shape.hasSegmentTimes, shape.hasLines) = (.all, false, false)
    shape.words = RandomTranscript.oddWords.filter { $0 != "<ALT>" }
    for seed in 1...100 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      shape.hasConfidence = seed.isMultiple(of: 2)
      var transcript = shape.transcript(&random)
      // Turns change hands, or they are one.
      for index in transcript.segments.indices {
        transcript.segments[index].speaker = ["Amy", "Bob", nil][index % 3]
      }
      #expect(try format.read(format.write(transcript)) == transcript, "seed \(seed)")
    }
  }

  @Test(
    "what was read once is written in the same bytes, whatever the transcript has",
    arguments: TranscriptFormat.all.map(\.name))
  func settled(name: String) throws {
    let format = try TranscriptFormat.known(name)
    var shape = RandomTranscript()
    (shape.words, shape.times, shape.speakers) = (RandomTranscript.oddWords, .some, .words)
    (shape.hasConfidence, shape.hasFlags, shape.languages) = (true, true, ["en", nil])
    for seed in 1...60 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let transcript = shape.transcript(&random).interpolatingUntimed
      let once = try format.read(format.write(transcript))
      let twice = try format.read(format.write(once))
      guard once != twice else { continue }
      Issue.record("seed \(seed):\n\(try format.write(once))\nbecame\n\(try format.write(twice))")
      return
    }
  }

  @Test("no text gets lost in formats that have all of it", arguments: TranscriptFormat.all)
  func words(format: TranscriptFormat) throws {
    let text = try format.write(Sample.talk)
    let said = try format.read(text).words.map(\.text).joined(separator: " ")
    #expect(said == "Hello, world & <you>. No. 7 costs $3.50?")
  }

  @Test("who speaks is left out where it is not wanted", arguments: TranscriptFormat.all)
  func speakers(format: TranscriptFormat) throws {
    let text = try format.write(Sample.talk, WritingOptions(namesSpeakers: false))
    #expect(!text.contains("Amy") && !text.contains("Bob"))
    #expect(try format.read(text).words.map(\.text) == Sample.talk.words.map(\.text))
  }
}

import Foundation
import Platform
import Speech
import TestSupport
import Testing
import Transcripts

@Suite("Words are found where they are spoken") struct TextAlignmentTests {
  private static let address = """
    And so, my fellow Americans: ask not what your country can do for you — ask what you can do for \
    your country.
    """

  @Test(
    "words of a speech begin where an eye sees them begin",
    .enabled(if: SpeechSamples.hasShared, "../shared/data is not there"))
  func speech() throws {
    let sound = try SpeechSamples.shared("speech/jfk/jfk.wav")
    let truth = try SpeechSamples.times("speech/jfk/jfk.visual-words.json")
    let result = try align(Self.address, with: sound)
    let heard = zip(words(Self.address), result.words).filter { $0.0 != "—" }.map(\.1)
    #expect(heard.count == truth.count)
    #expect(heard.allSatisfy { $0.isHeard })
    let errors = zip(heard, truth).map { abs($0.start - $1) }.sorted()
    #expect(errors[errors.count / 2] < 0.03)
    #expect(errors.count { $0 < 0.1 } >= errors.count - 1)
    #expect(result.share > 0.9)
  }

  @Test(
    "the result does not depend on threads, nor on where the work was cut off",
    .enabled(if: SpeechSamples.hasShared, "../shared/data is not there"))
  func resumed() throws {
    let sound = try SpeechSamples.shared("speech/jfk/jfk.wav")
    var long: [Int16] = []
    for _ in 0..<4 { long += sound + Array(repeating: 0, count: 24_000) }
    let text = Array(repeating: Self.address, count: 4).joined(separator: " ")
    var notes: [AlignmentProgress] = []
    let whole = try align(text, with: long) { notes.append($0) }
    #expect(notes.count > 3)
    #expect(try align(text, with: long, threads: 3).words == whole.words)
    for note in notes {
      let kept = try JSONDecoder().decode(
        AlignmentProgress.self, from: JSONEncoder().encode(note))
      #expect(try align(text, with: long, from: kept).words == whole.words)
    }
  }

  @Test("speech that the text lacks, and text that nobody speaks, leave the rest in its place")
  func imperfect() throws {
    let parts = [
      "Please call me back on Monday morning, because the meeting was moved.",
      "The quick brown fox jumps over the lazy dog near the river bank.",
      "Printing is the only sense with which we are at present concerned.",
    ]
    let sounds = try parts.map { try SpeechSamples.spoken($0) }
    let starts = [0, sounds[0].count, sounds[0].count + sounds[1].count].map { Double($0) / 16_000 }
    let whole = try align(parts.joined(separator: " "), with: Array(sounds.joined()))
    #expect(whole.words.allSatisfy { $0.isHeard })

    let lacking = try align(parts[0] + " " + parts[2], with: Array(sounds.joined()))
    let count = words(parts[0]).count
    #expect(abs(lacking.words[count].start - starts[2]) < 0.5)
    #expect(lacking.words[count - 1].end < starts[1] + 0.1)

    let extra = try align(parts.joined(separator: " "), with: sounds[0] + sounds[2])
    let last = words(parts[0] + " " + parts[1]).count
    #expect(abs(extra.words[last].start - starts[1]) < 0.8)
    #expect(extra.words[count + 3..<last - 3].allSatisfy { !$0.isHeard || $0.confidence < 0.6 })
  }

  @Test("a short text with a word that nobody speaks is heard all the same")
  func shortText() throws {
    let silence = [Int16](repeating: 0, count: 48_000)
    let sound = silence + (try SpeechSamples.spoken("Please call me back.")) + silence
    for text in ["Please never call me back", "Please call elephant me back"] {
      let result = try align(text, with: sound)
      #expect(result.share >= 0.6)
      let spoken = zip(words(text), result.words)
        .filter { $0.0 != "never" && $0.0 != "elephant" }
        .map(\.1)
      #expect(spoken.allSatisfy { $0.isHeard && $0.start > 2.9 && $0.end < 5 })
    }
  }

  @Test("a few words in long silence are heard, and words of something else are not")
  func fewWordsInSilence() throws {
    let silence = [Int16](repeating: 0, count: 120 * 16_000)
    let sound = silence + (try SpeechSamples.spoken("call me back")) + silence
    let result = try align("call me back", with: sound)
    #expect(result.share > 0.6)
    #expect(result.words.allSatisfy { $0.isHeard && $0.start > 119.5 && $0.end < 122 })
    for text in ["brown fox jumps", "forty winters shall besiege", "seven wizards"] {
      #expect(try align(text, with: sound).share == 0)
    }
  }

  @Test("a text of something else is hardly heard")
  func wrong() throws {
    let sound = try SpeechSamples.spoken("Please call me back on Monday morning.")
    let text = "Forty winters shall besiege thy brow and dig deep trenches in beauty's field"
    #expect(try align(text, with: sound).share < 0.3)
  }

  @Test("numbers are found as they are spoken")
  func numbers() throws {
    let sound = try SpeechSamples.spoken("In nineteen eighty four it cost three dollars fifty.")
    let result = try align("In 1984 it cost $3.50 .", with: sound)
    #expect(result.words.count == 6)
    #expect(result.words.prefix(5).allSatisfy { $0.isHeard })
    #expect(!result.words[5].isHeard)
    #expect(zip(result.words, result.words.dropFirst()).allSatisfy { $0.start <= $1.start })
  }

  private func words(_ text: String) -> [String] {
    text.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  private func align(
    _ text: String, with sound: [Int16], threads: Int = 1,
    from progress: AlignmentProgress = AlignmentProgress(),
    record: (AlignmentProgress) -> Void = { _ in }
  ) throws -> AlignmentResult {
    var share = progress.share
    var trace = LevelTrace()
    trace.add(sound.span)
    return try SphinxEngine(.english).align(
      EnglishSpelling().spoken(words(text)), in: HeldSpeech(samples: sound), trace,
      threadCount: threads, from: progress
    ) { (progress) throws(SpoolError) in
      // Between two pieces it is called again with the same.
      if progress.share != share { record(progress) }
      share = progress.share
    }
  }
}

/// Speech that lies in memory.
struct HeldSpeech: SpeechSource {
  let samples: [Int16]

  var frameCount: Int { samples.count / LevelTrace.step }

  func read(_ place: Range<Int>) throws(SpoolError) -> [Int16] {
    Array(samples[place.lowerBound * LevelTrace.step..<place.upperBound * LevelTrace.step])
  }
}

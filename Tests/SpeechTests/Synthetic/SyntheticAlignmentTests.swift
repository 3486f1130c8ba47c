import Foundation
import Platform
@testable import Speech
import TestSupport
import Testing

@Suite("Words are found by what a synthetic voice makes of them") struct SyntheticAlignmentTests {
  private static let address = """
    And so, my fellow Americans: ask not what your country can do for you — ask what you can do for \
    your country.
    """

  @Test(
    "words of a president are found within a tenth of a second",
    .enabled(if: SpeechSamples.hasShared, "../shared/data is not there"))
  func speech() throws {
    let sound = try SpeechSamples.shared("speech/jfk/jfk.wav")
    let truth = try SpeechSamples.times("speech/jfk/jfk.visual-words.json")
    let result = try align(Self.address, with: sound)
    let heard = zip(words(Self.address), result.words).filter { $0.0 != "—" }.map(\.1)
    #expect(heard.count == truth.count)
    let errors = zip(heard, truth).map { abs($0.start - $1) }.sorted()
    #expect(errors[errors.count / 2] < 0.04)
    #expect(errors.count { $0 < 0.1 } >= errors.count - 2)
    #expect(result.share > 0.8)
  }

  @Test(
    "the result does not depend on threads, nor on where the work was cut off",
    .enabled(if: SpeechSamples.hasShared, "../shared/data is not there"))
  func resumed() throws {
    let sound = try SpeechSamples.shared("speech/jfk/jfk.wav")
    let long = Array(repeatElement(sound, count: 8).joined())
    let text = Array(repeating: Self.address, count: 8).joined(separator: " ")
    var notes: [SyntheticProgress] = []
    let whole = try align(text, with: long) { notes.append($0) }
    #expect(notes.count > 3)
    #expect(try align(text, with: long, threads: 3).words == whole.words)
    for note in [notes[notes.count / 2], notes[notes.count - 2]] {
      let kept = try JSONDecoder().decode(
        SyntheticProgress.self, from: JSONEncoder().encode(note))
      #expect(try align(text, with: long, from: kept).words == whole.words)
    }
    #expect(zip(whole.words, whole.words.dropFirst()).allSatisfy { $0.start <= $1.start })
  }

  @Test("texts that are not spoken are not heard, whatever the sound is")
  func refused() throws {
    let wrong = """
      Forty winters shall besiege thy brow and dig deep trenches in beauty's field. He walked slowly \
      through the forest and listened to the birds. It costs three dollars fifty at the market today.
      """
    let said = try SpeechSamples.spoken(
      """
      Please call me back on Monday morning, because the meeting was moved. The quick brown fox jumps \
      over the lazy dog near the river bank. Printing is the only sense with which we are at present \
      concerned.
      """)
    #expect(try align(wrong, with: said).share < 0.1)
    var random = SeededRandom(seed: 8)
    let noise = (0..<160_000).map { _ in Int16(Int(random.next() % 4001) - 2000) }
    #expect(try align(wrong, with: noise).share == 0)
    #expect(try align(wrong, with: Array(repeating: 0, count: 160_000)).share == 0)
    #expect(try align(wrong, with: []).share == 0)
  }

  @Test("speech that the text lacks, and text that nobody speaks, leave the rest in its place")
  func imperfect() throws {
    let parts = [
      "Please call me back on Monday morning, because the meeting was moved.",
      "The quick brown fox jumps over the lazy dog near the river bank.",
      "Printing is the only sense with which we are at present concerned.",
    ]
    let sounds = try parts.map { try SpeechSamples.spoken($0) }
    let second = Double(sounds[0].count) / 16_000
    let third = second + Double(sounds[1].count) / 16_000
    let count = words(parts[0]).count

    let lacking = try align(parts[0] + " " + parts[2], with: Array(sounds.joined()))
    #expect(abs(lacking.words[count].start - third) < 0.5)
    #expect(lacking.words[count - 1].end < second + 0.1)

    let extra = try align(parts.joined(separator: " "), with: sounds[0] + sounds[2])
    let last = count + words(parts[1]).count
    #expect(abs(extra.words[last].start - second) < 0.8)
    #expect(extra.words[count + 3..<last - 3].allSatisfy { !$0.isHeard || $0.confidence < 0.5 })
  }

  @Test("hostile texts have all their words, in order")
  func hostile() throws {
    let sound = try SpeechSamples.spoken("Please call me back on Monday morning.")
    let texts = [
      "1 22 333 4444 55555 666666 7777777", "שלום עולם مرحبا بالعالم", "今天天气很好，我们去公园散步。",
      String(repeating: "donaudampf", count: 40),
      "😀 please \u{202E} call \u{1} me <b>back</b> [[x]]",
    ]
    for text in texts {
      let result = try align(text, with: sound)
      #expect(result.words.count == words(text).count)
      #expect(result.words.allSatisfy { $0.start.isFinite && $0.start <= $0.end })
      #expect(zip(result.words, result.words.dropFirst()).allSatisfy { $0.start <= $1.start })
    }
  }

  private func words(_ text: String) -> [String] {
    text.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  private func align(
    _ text: String, with sound: [Int16], threads: Int = 1,
    from progress: SyntheticProgress = SyntheticProgress(),
    record: (SyntheticProgress) -> Void = { _ in }
  ) throws -> AlignmentResult {
    var share = progress.share
    return try SyntheticAlignment(
      of: words(text), voice: .speaking("en-us"), threadCount: threads
    ).align(in: HeldSpeech(samples: sound), from: progress) {
      (progress) throws(SpoolError) in
      // Between two pieces it is called again with the same.
      if progress.share != share { record(progress) }
      share = progress.share
    }
  }
}

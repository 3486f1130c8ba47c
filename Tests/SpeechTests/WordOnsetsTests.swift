@testable import Speech
import TestSupport
import Testing

@Suite("When words begin") struct WordOnsetsTests {
  private static let keys = "the quick brown fox jumps over the lazy dog".split(separator: " ")
    .map(String.init)

  @Test("sound that begins a little later moves the words by that, and not by whole frames")
  func finerThanFrames() throws {
    let aligner = try Self.aligner()
    let sound = try SpeechSamples.spoken(Self.keys.joined(separator: " "))
    let words = Self.keys.map { SpokenWord($0) }
    let starts = try [0, 80].map { delay in
      let later = Array(repeating: 0, count: delay) + sound
      let heard = try #require(try aligner.align(words, in: later.span, isExact: true)).joined()
      #expect(heard.map(\.key) == Self.keys)
      #expect(heard.allSatisfy { $0.start < $0.end })
      #expect(zip(heard, heard.dropFirst()).allSatisfy { $0.end <= $1.start })
      return heard.map(\.start)
    }
    let moves = zip(starts[0], starts[1]).map { $1 - $0 }.sorted()
    #expect((2...8).contains(moves[moves.count / 2]))
    #expect(starts[0].contains { $0 % 10 != 0 })
  }

  @Test("in noise too they begin where they do without it")
  func noise() throws {
    let aligner = try Self.aligner()
    let sound = try SpeechSamples.spoken(Self.keys.joined(separator: " "))
    let words = Self.keys.map { SpokenWord($0) }
    var random = SeededRandom(seed: 1)
    let noisy = sound.map { Int16(clamping: Int($0) + Int(random.next() % 2001) - 1000) }
    let starts = try [sound, noisy].map {
      try #require(try aligner.align(words, in: $0.span, isExact: true)).joined().map(\.start)
    }
    #expect(zip(starts[0], starts[1]).count { abs($0 - $1) <= 50 } >= words.count - 2)
  }

  private static func aligner() throws -> ModelAligner {
    let lexicon = try Lexicon(of: Set(keys), model: .english)
    let model = try SoundModel(folder: AcousticModel.english.folder)
    return try ModelAligner(model, lexicon: lexicon)
  }
}

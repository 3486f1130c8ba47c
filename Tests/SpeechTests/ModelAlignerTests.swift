import Foundation
import Platform
@testable import Speech
import TestSupport
import Testing

@Suite("Sounds that Spool scores itself") struct ModelAlignerTests {
  private static let sentence = """
    from fairest creatures we desire increase that thereby beauty rose might never die
    """

  @Test("words are put where libpocketsphinx puts them")
  func likeTheLibrary() throws {
    let sound = try SpeechSamples.spoken(Self.sentence)
    let words = Self.sentence.split(separator: " ").map { SpokenWord(String($0)) }
    let lexicon = try Lexicon(of: Set(words.joinedKeys), model: .english)
    let model = try SoundModel(folder: AcousticModel.english.folder)
    let own = try #require(
      try ModelAligner(model, lexicon: lexicon).align(words, in: sound.span, isExact: false))
    let library = try #require(
      try SphinxEngine(.english, usesLibrary: true).makeAligner(lexicon)
        .align(words, in: sound.span, isExact: false))
    #expect(own.map { $0.map(\.key) } == library.map { $0.map(\.key) })
    let pairs = zip(own.joined(), library.joined())
    #expect(pairs.count { abs($0.start - $1.start) <= 20 } >= words.count - 2)
    #expect(pairs.count { abs($0.score - $1.score) < 1.5 } >= words.count - 3)
  }

  @Test("a word among noises is heard best where it is spoken")
  func scores() throws {
    let sound = try SpeechSamples.spoken("Monday morning")
    let keys = ["monday", "morning", "elephant", "triangle"]
    let lexicon = try Lexicon(of: Set(keys), model: .english)
    let model = try SoundModel(folder: AcousticModel.english.folder)
    let aligner = try ModelAligner(model, lexicon: lexicon)
    let choices = [["monday", "morning"], ["elephant", "triangle"]].map { keys in
      keys.map { SpokenWord($0) }
    }
    let wholes = try aligner.scores(of: choices, in: sound.span).map { try #require($0) }
    #expect(wholes[0] > wholes[1] + 100)
    let right = try #require(try aligner.align(choices[0], in: sound.span, isExact: false))
    let wrong = try #require(try aligner.align(choices[1], in: sound.span, isExact: false))
    let rightScore = try #require(Array(right.joined()).meanScore)
    let wrongScore = try #require(Array(wrong.joined()).meanScore)
    #expect(rightScore < 0)
    #expect(rightScore > wrongScore + 2)
  }

  @Test("words of a text are heard wherever they are, with other words between")
  func following() throws {
    let parts = ["the quick brown fox jumps over the lazy dog", Self.sentence, "seven wizards"]
    let text = [parts[0], parts[2], parts[1]].joined(separator: " ").components(separatedBy: " ")
    let lexicon = try Lexicon(of: Set(text), model: .english)
    let follower = try SphinxEngine(.english).makeListener(for: [text], lexicon)
    let sounds = try parts.map { try SpeechSamples.spoken($0) }
    let heard = follower.hear(Array(sounds.joined()).span)
    let matching = WordMatching(
      text: parts.joined(separator: " ").components(separatedBy: " "), heard: heard.map(\.key))
    #expect(matching.count >= 20)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $0.end <= $1.start })
    // What was heard before leaves no trace.
    #expect(follower.hear(Array(sounds.joined()).span) == heard)
    #expect(follower.hear(Array(repeating: 0, count: 32_000).span).isEmpty)
  }

  @Test("a model of another kind is refused")
  func otherModels() throws {
    let folder = try ScratchFolder()
    let original = AcousticModel.english.folder
    for name in try FileManager.default.contentsOfDirectory(atPath: original) {
      try FileManager.default.copyItem(atPath: original + "/" + name, toPath: folder.file(name))
    }
    #expect(throws: Never.self) { try SoundModel(folder: folder.path) }
    let parameters = try String(contentsOfFile: original + "/feat.params", encoding: .utf8)
    try parameters.replacing("-model ptm", with: "-model cont")
      .write(toFile: folder.file("feat.params"), atomically: true, encoding: .utf8)
    #expect(throws: SpoolError.self) { try SoundModel(folder: folder.path) }
    try parameters.write(
      toFile: folder.file("feat.params"), atomically: true, encoding: .utf8)
    let means = try Data(contentsOf: URL(fileURLWithPath: original + "/means"))
    try means.prefix(1000).write(to: URL(fileURLWithPath: folder.file("means")))
    let error = #expect(throws: SpoolError.self) { try SoundModel(folder: folder.path) }
    #expect(error?.message.hasSuffix("/means") == true)
  }
}

extension [SpokenWord] {
  fileprivate var joinedKeys: [String] { flatMap { $0.variants.joined() } }
}

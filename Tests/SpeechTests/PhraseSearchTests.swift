@testable import Speech
import Testing

@Suite("Search for the words of a text") struct PhraseSearchTests {
  @Test("a piece begins as if no other had been heard before it")
  func pieces() throws {
    let text = "the quick brown fox jumps over the lazy dog"
    let words = text.split(separator: " ").map(String.init)
    let lexicon = try Lexicon(of: Set(words), model: .english)
    let model = try SoundModel(folder: AcousticModel.english.folder)
    let scores = try Self.scores(of: text, model)
    var search = PhraseSearch(PhraseGraph(of: [words], lexicon, model), model)
    search.begin()
    let beginning = search.tokens
    let heard = Self.hear(scores, &search, model)
    #expect(heard.contains { $0.key == "fox" })
    #expect(search.tokens != beginning)
    search.begin()
    #expect(search.tokens == beginning)
    #expect(Self.hear(scores, &search, model) == heard)
  }

  /// How frames of what espeak-ng says, at equal distances, fit the sounds of a model.
  private static func scores(of text: String, _ model: SoundModel) throws -> StateScores {
    let analysis = try CepstralAnalysis(parameters: model.parameters)
    let sound = try SpeechSamples.spoken(text)
    let features = analysis.features(of: SilenceFloor.under(sound.span).span)
    var scores = StateScores(of: model)
    let step = features.frameCount / StateScores.capacity
    scores.score(features, (0..<StateScores.capacity).map { $0 * step })
    return scores
  }

  /// The rows that are heard where each of the frames lasts some hundredths of a second.
  private static func hear(
    _ scores: StateScores, _ search: inout PhraseSearch, _ model: SoundModel
  ) -> [DecodedWord] {
    var loop = SoundLoop(model)
    search.begin()
    loop.begin()
    for slot in 0..<StateScores.capacity {
      for _ in 0..<6 {
        search.pass(slot, scores)
        loop.pass(slot, scores)
      }
    }
    return search.words(against: loop)
  }
}

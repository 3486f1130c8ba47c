import Platform

/// Hears the words of a text wherever they are, by a model that Spool scores itself.
final class ModelFollower: Listener {
  private let model: SoundModel
  private let analysis: CepstralAnalysis
  private var scores: StateScores
  private var search: PhraseSearch
  /// What the words are held against.
  private var loop: SoundLoop

  /// Only every other frame is scored: it loses hardly any word and saves a third.
  private static let stride = 2

  /// Listens for sentences whose words a lexicon knows.
  init(_ model: SoundModel, of sentences: [[String]], _ lexicon: Lexicon) throws(SpoolError) {
    self.model = model
    analysis = try CepstralAnalysis(parameters: model.parameters)
    scores = StateScores(of: model)
    search = PhraseSearch(PhraseGraph(of: sentences, lexicon, model), model)
    loop = SoundLoop(model)
  }

  func hear(_ sound: Span<Int16>) -> [DecodedWord] {
    guard sound.count >= SphinxDecoder.fewestSamples else { return [] }
    let features = analysis.features(of: SilenceFloor.under(sound).span)
    search.begin()
    loop.begin()
    var frame = 0
    while frame < features.frameCount {
      let end = min(features.frameCount, frame + StateScores.capacity * Self.stride)
      let frames = Array(Swift.stride(from: frame, to: end, by: Self.stride))
      scores.score(features, frames)
      for index in frame..<end {
        let slot = (index - frame) / Self.stride
        search.pass(slot, scores)
        loop.pass(slot, scores)
      }
      frame = end
    }
    return search.words(against: loop)
  }
}

/// Aligns words by a model that Spool scores itself.
///
/// All states of all phones are scored, so its scores always say how well words fit.
final class ModelAligner: Aligner {
  private let model: SoundModel
  private let lexicon: Lexicon
  private let analysis: CepstralAnalysis
  private var scores: StateScores

  /// Aligns words of a lexicon.
  init(_ model: SoundModel, lexicon: Lexicon) throws(SpeechError) {
    self.model = model
    self.lexicon = lexicon
    analysis = try CepstralAnalysis(parameters: model.parameters)
    scores = StateScores(of: model)
  }

  func align(_ words: [SpokenWord], in sound: Span<Int16>) throws(SpeechError) -> AlignedPiece? {
    guard sound.count >= SphinxDecoder.fewestSamples else { return nil }
    let grammar = WordGrammar(of: words)
    guard let graph = PhoneGraph(of: grammar, lexicon, model) else { return nil }
    let features = analysis.features(of: SilenceFloor.under(sound).span)
    guard let path = ForcedPath(through: graph, features, model, &scores),
      let assigned = WordGrammar.assign(
        refined(heard(path, graph, grammar), SpeechOnset(of: sound)), to: words)
    else { return nil }
    return AlignedPiece(words: assigned, score: Double(path.score))
  }

  /// The words, those after pauses from where they are heard.
  private func refined(_ words: [HeardWord], _ onset: SpeechOnset) -> [HeardWord] {
    var end = 0
    return words.map { word in
      var word = word
      let start = onset.onset(near: word.start, after: end)
      if start < word.end { word.start = start }
      end = word.end
      return word
    }
  }

  /// The words on the way.
  private func heard(_ path: ForcedPath, _ graph: PhoneGraph, _ grammar: WordGrammar)
    -> [HeardWord]
  {
    var words: [HeardWord] = []
    var begin: Int?
    var score: Float = 0
    for (index, step) in path.steps.enumerated() {
      let node = graph.nodes[step.node]
      guard let arc = node.arc else { continue }
      if node.isFirst {
        begin = step.first
        score = 0
      }
      score += step.score
      let next = index + 1 < path.steps.count ? graph.nodes[path.steps[index + 1].node] : nil
      if let first = begin, next?.arc == nil || next?.isFirst == true {
        words.append(
          HeardWord(
            key: grammar.arcs[arc].key, hundredths: first..<step.end,
            score: Double(score) / Double(step.end - first)))
        begin = nil
      }
    }
    return words
  }
}

import Platform

/// Aligns words by a model that Spool scores itself.
///
/// All states of all phones are scored, so its scores always say how well words fit. Where exact
/// times are wanted, at twice the cost, the likeliest path through the words tells the voice and the noise of the
/// piece, the model is fitted to them, and the words begin where it has them begin then.
final class ModelAligner: Aligner {
  private let model: SoundModel
  private let lexicon: Lexicon
  private let analysis: CepstralAnalysis
  private var scores: StateScores
  /// What words are held against.
  private var loop: SoundLoop
  private let adaptation: ModelAdaptation

  /// So far from where a word is on the likeliest path it may begin, in frames (10 ms).
  private static let reach = 30
  /// No word is shorter than one frame, in milliseconds, and what has less for each of its phones
  /// was not said: of words that were, one in a thousand comes to 29.
  private static let shortest = 10
  private static let shortestPhone = 15

  /// Aligns words of a lexicon.
  init(_ model: SoundModel, lexicon: Lexicon) throws(SpoolError) {
    self.model = model
    self.lexicon = lexicon
    adaptation = ModelAdaptation(of: model)
    analysis = try CepstralAnalysis(parameters: model.parameters)
    scores = StateScores(of: model)
    loop = SoundLoop(model)
  }

  func align(
    _ words: [SpokenWord], in sound: Span<Int16>, isExact: Bool
  ) throws(SpoolError) -> [[DecodedWord]]? {
    guard sound.count >= SphinxDecoder.fewestSamples else { return nil }
    let grammar = WordGrammar(of: words)
    guard let graph = PhoneGraph(of: grammar, lexicon, model) else { return nil }
    let features = analysis.features(of: SilenceFloor.under(sound).span)
    guard let path = ForcedPath(through: graph, features, model, &scores, against: &loop)
    else { return nil }
    var heard = heard(path, graph, grammar)
    if isExact {
      let fitted = adaptation.model(fitting: features, path.states)
      let band = path.band(in: graph, frameCount: features.frameCount, reach: Self.reach)
      let onsets = WordOnsets(through: graph, band, features, fitted)
      heard = refined(heard, onsets, SpeechOnset(of: sound))
    }
    return WordGrammar.assign(heard.map(\.word), to: words)
  }

  /// The sound is scored once for all of them, which is nearly all of the work.
  func scores(of choices: [[SpokenWord]], in sound: Span<Int16>) throws(SpoolError) -> [Double?] {
    guard sound.count >= SphinxDecoder.fewestSamples else { return choices.map { _ in nil } }
    let features = analysis.features(of: SilenceFloor.under(sound).span)
    let graphs = choices.map { PhoneGraph(of: WordGrammar(of: $0), lexicon, model) }
    return ForcedPath.scores(through: graphs, features, model, &scores).map { $0.map(Double.init) }
  }

  /// A word on the path.
  private struct Placed {
    var word: DecodedWord
    /// Its number in the grammar.
    let arc: Int
    let phoneCount: Int
  }

  /// The words from where they begin; those after pauses from where they are heard.
  private func refined(_ words: [Placed], _ onsets: WordOnsets?, _ speech: SpeechOnset) -> [Placed]
  {
    var refined = words
    for (index, word) in words.enumerated() {
      let end = index > 0 ? refined[index - 1].word.end : 0
      let earliest = index > 0 ? refined[index - 1].word.start + Self.shortest : 0
      let start = onsets?.start(of: word.arc) ?? word.word.start
      let isJoined = index > 0 && words[index - 1].word.end == word.word.start
      let heard = speech.onset(near: start, after: isJoined ? min(end, start) : end)
      refined[index].word.start = max(earliest, heard < word.word.end ? heard : start)
      refined[index].word.end = max(word.word.end, refined[index].word.start + Self.shortest)
      if index > 0, isJoined || end > refined[index].word.start {
        refined[index - 1].word.end = refined[index].word.start
      }
    }
    for index in refined.indices {
      let word = refined[index].word
      if word.end - word.start < refined[index].phoneCount * Self.shortestPhone {
        refined[index].word.goodness = DecodedWord.unsaid
      }
    }
    return refined
  }

  /// The words on the path.
  private func heard(_ path: ForcedPath, _ graph: PhoneGraph, _ grammar: WordGrammar) -> [Placed] {
    var words: [Placed] = []
    var phones: [ForcedPath.Step] = []
    for (index, step) in path.steps.enumerated() {
      let node = graph.nodes[step.node]
      guard let arc = node.arc else { continue }
      if node.isFirst { phones = [] }
      phones.append(step)
      let next = index + 1 < path.steps.count ? graph.nodes[path.steps[index + 1].node] : nil
      guard next?.arc == nil || next?.isFirst == true else { continue }
      let frames = phones[0].first..<step.end
      var word = DecodedWord(
        key: grammar.arcs[arc].key, frames: frames,
        score: Double(phones.reduce(0) { $0 + $1.score }) / Double(frames.count))
      word.goodness = Double(phones.reduce(0) { $0 + $1.goodness }) / Double(phones.count)
      words.append(Placed(word: word, arc: arc, phoneCount: phones.count))
    }
    return words
  }
}

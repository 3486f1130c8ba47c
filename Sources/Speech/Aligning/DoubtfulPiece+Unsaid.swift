extension DoubtfulPiece {
  /// Words of less goodness may not be spoken; without one of them the sound must be so much likelier,
  /// and no more of them are tried. Of words that stand between two that are spoken, and are not, nine
  /// in ten gain more; of words in the place of others one in four does, and of spoken ones one in
  /// seven, of those that resemble the sound so little.
  private static let strangeness = -4.0
  private static let gain = 60.0
  private static let mostTries = 6

  /// Where the words are without those that were not spoken: without them the whole sound is
  /// likelier, though nothing but their neighbours, silence and noise is left to explain it. Nil
  /// where all were spoken.
  func likelier(
    than found: AlignedPiece, _ spoken: inout [Bool], with desk: AlignerDesk, in sound: [Int16]
  ) throws(SpeechError) -> [[HeardWord]]? {
    var best = found
    var tried = Set<Int>()
    while tried.count < Self.mostTries, let word = strangest(of: best.words, but: tried) {
      tried.insert(word)
      var fewer = spoken
      fewer[word] = false
      let expected = expected(fewer)
      guard expected.contains(where: \.isSpoken),
        let without = try desk.judging().align(expected, in: sound.span),
        without.score > best.score + Self.gain
      else { continue }
      spoken = fewer
      best = without
    }
    return best.score > found.score ? try place(spoken, with: desk, in: sound)?.words : nil
  }

  /// The word that resembles the sound least, of those that nobody is sure of and that hardly do.
  private func strangest(of found: [[HeardWord]], but tried: Set<Int>) -> Int? {
    let strange = found.indices.compactMap { word -> (word: Int, goodness: Double)? in
      guard places[word] == nil, !tried.contains(word) else { return nil }
      return HeardWord.leastGoodness(of: found[word]).map { (word, $0) }
    }
    return strange.filter { $0.goodness < Self.strangeness }.min { $0.goodness < $1.goodness }?.word
  }
}

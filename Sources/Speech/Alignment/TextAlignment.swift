package import Platform

/// Finds the words of a text in a recording of it.
///
/// First the whole recording is searched for phrases of the text; words that are heard in a row
/// where the text has them in a row are anchors. Between them the recording is cut into pieces, and
/// each piece's words are put in their places exactly. Hence words that were not spoken, and speech
/// that is not in the text, disturb nothing but their own neighbourhood.
extension SphinxEngine {
  /// Finds the words of a text, which are in order.
  ///
  /// The result does not depend on the number of threads, nor on where the work was cut off.
  ///
  /// - Parameters:
  ///   - source: the recording.
  ///   - trace: its levels.
  ///   - progress: what earlier work recorded.
  ///   - record: records the progress, after every piece and at least twice a second between them;
  ///     ends the work by throwing.
  package func align(
    _ words: [SpokenWord], in source: any SpeechSource, _ trace: LevelTrace, threadCount: Int,
    from progress: AlignmentProgress, record: (AlignmentProgress) throws(SpoolError) -> Void
  ) throws(SpoolError) -> AlignmentResult {
    var progress = progress
    let lexicon = try lexicon(of: Set(words.flatMap { $0.variants.joined() }))
    let words = words.map { lexicon.pronounceable($0) }
    let listening = ListeningPlan(of: trace)
    try listen(listening, source, words, lexicon, threadCount, &progress, record)

    let heard = progress.heard.compactMap(\.self).joined()
    let limit = RunLimit(
      in: listening.pieces.reduce(0) { $0 + $1.count }, wordCount: words.count(where: \.isSpoken))
    let reading = RepetitionResolver(of: words, in: Array(heard), limit, loud: trace.loudness)
    let trusted = AnchorWord.find(
      in: reading, heard: Array(heard), sureCount: heard.count(where: limit.allows),
      whole: listening.whole)
    let plan = AlignmentPlan(words: reading.words, trusted: trusted, whole: listening.whole)
    try align(plan, source, reading.words, lexicon, trusted, threadCount, &progress, record)
    return AlignmentResult(
      words: words, plan: plan, outcomes: progress.aligned.compactMap(\.self), trusted: trusted,
      heardCount: heard.count, frameCount: source.frameCount)
  }

  /// Decodes the pieces that are not decoded yet.
  private func listen(
    _ plan: ListeningPlan, _ source: any SpeechSource, _ words: [SpokenWord], _ lexicon: Lexicon,
    _ threadCount: Int, _ progress: inout AlignmentProgress,
    _ record: (AlignmentProgress) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    if progress.heard.count != plan.pieces.count {
      progress = AlignmentProgress()
      progress.heard = Array(repeating: nil, count: plan.pieces.count)
    }
    let sentences = Self.sentences(of: words)
    let open = plan.pieces.indices.filter { progress.heard[$0] == nil }
    try workOnPieces(open, threadCount: threadCount) {
      Result { () throws(SpoolError) in try makeListener(for: sentences, lexicon) }
    } work: { listener, piece in
      Result { () throws(SpoolError) in
        let place = plan.pieces[piece]
        let sound = try source.read(place)
        return listener.hear(sound.span).map { $0.moved(by: place.lowerBound) }
      }
    } take: { piece, heard in
      progress.heard[piece] = heard
    } record: { () throws(SpoolError) in
      try record(progress)
    }
  }

  /// Aligns the pieces that are not aligned yet.
  private func align(
    _ plan: AlignmentPlan, _ source: any SpeechSource, _ words: [SpokenWord], _ lexicon: Lexicon,
    _ trusted: [AnchorWord], _ threadCount: Int, _ progress: inout AlignmentProgress,
    _ record: (AlignmentProgress) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    if progress.aligned.count != plan.pieces.count {
      progress.aligned = Array(repeating: nil, count: plan.pieces.count)
    }
    let sure = Dictionary(uniqueKeysWithValues: trusted.map { ($0.word, $0.place) })
    let open = plan.pieces.indices.filter { progress.aligned[$0] == nil }
    try workOnPieces(open, threadCount: threadCount) {
      Result { () throws(SpoolError) in try makeAligner(lexicon) }
    } work: { aligner, number in
      Result { () throws(SpoolError) in
        let piece = plan.pieces[number]
        let doubtful = UnanchoredSegment(
          words: Array(words[piece.words]), places: piece.words.map { sure[$0] },
          origin: piece.place.lowerBound)
        return try doubtful.align(with: aligner, in: try source.read(piece.place))
      }
    } take: { piece, outcome in
      progress.aligned[piece] = outcome
    } record: { () throws(SpoolError) in
      try record(progress)
    }
  }

  /// The text as phrases to listen for: all of it as it is usually spoken, and the other variants
  /// of a word among its neighbours.
  private static func sentences(of words: [SpokenWord]) -> [[String]] {
    let spoken = words.filter(\.isSpoken)
    var sentences = [spoken.flatMap { $0.variants.first ?? [] }]
    for (index, word) in spoken.enumerated() {
      for variant in word.variants.dropFirst() {
        let before = spoken[max(0, index - 2)..<index].flatMap { $0.variants.first ?? [] }
        let after = spoken[(index + 1)...].prefix(2).flatMap { $0.variants.first ?? [] }
        sentences.append(before + variant + after)
      }
    }
    return sentences
  }
}

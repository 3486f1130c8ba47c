/// A piece whose words may not all be spoken in it.
struct DoubtfulPiece {
  /// Its words.
  let words: [SpokenWord]
  /// Whether each is known to be spoken here.
  let isSure: [Bool]

  /// Words that score so much less than those that are sure are tried without.
  private static let poorness = 5.0

  /// Puts the words in their places; those that are not heard have none.
  ///
  /// All words are tried first. Where the doubtful ones fit badly, or nothing fits at all, only
  /// those are placed that are sure.
  func align(
    with desk: AlignerDesk, in sound: [Int16], at offset: Int
  ) throws(SpeechError) -> PieceOutcome {
    let hasDoubt = zip(words, isSure).contains { $0.isSpoken && !$1 }
    if !hasDoubt, let quick = try desk.quick().align(words, in: sound.span) {
      return outcome(quick, offset, isJudged: false)
    }
    let aligner = try desk.judging()
    let whole = try aligner.align(words, in: sound.span)
    if let whole, !isPoor(whole) { return outcome(whole, offset, isJudged: true) }
    if hasDoubt, isSure.contains(true) {
      let sure = zip(words, isSure).map { word, isSure in isSure ? word : SpokenWord(ways: []) }
      if let fewer = try aligner.align(sure, in: sound.span) {
        return outcome(fewer, offset, isJudged: true)
      }
    }
    return whole.map { outcome($0, offset, isJudged: true) }
      ?? PieceOutcome(words: words.map { _ in [] }, isJudged: true)
  }

  /// Whether words that nobody is sure of resemble the sound much less than the others do.
  private func isPoor(_ piece: AlignedPiece) -> Bool {
    let sure = zip(piece.words, isSure).filter(\.1).flatMap(\.0)
    let doubtful = zip(piece.words, isSure).filter { !$0.1 }.flatMap(\.0)
    guard let usual = HeardWord.meanScore(of: sure), let score = HeardWord.meanScore(of: doubtful)
    else { return false }
    return score < usual - Self.poorness
  }

  private func outcome(_ piece: AlignedPiece, _ offset: Int, isJudged: Bool) -> PieceOutcome {
    PieceOutcome(
      words: piece.words.map { $0.map { $0.moved(by: offset) } }, isJudged: isJudged)
  }
}

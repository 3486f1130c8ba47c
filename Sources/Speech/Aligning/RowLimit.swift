/// What must speak for a row of words, so that it counts as heard: the longer the time in which a text
/// is looked for, the better its words come to resemble something in it.
struct RowLimit {
  /// The evidence, as the logarithm of a likelihood.
  let least: Double

  /// In recordings of ten seconds and more, of 150 rows of two words or more that were spoken 10 had
  /// less than the most that is asked for, of 880 others 43 had more; single words that nobody spoke
  /// had more in 18 of 6,168 cases. In recordings of up to three seconds, of 26 others 3 had more than
  /// 20, and of 29 that were spoken none had less than 100.
  private static let most = 100.0
  private static let perSecond = 10.0

  /// The limit for texts of one word, which has no neighbours that could speak for it: of a hundred
  /// that were spoken 91 had more, of 96 others 35.
  private static let single = -30.0

  /// The limit for rows that are heard in so many hundredths of a second, of a text of so many words.
  init(in hundredths: Int, wordCount: Int) {
    least = wordCount == 1 ? Self.single : min(Self.most, Self.perSecond * Double(hundredths) / 100)
  }

  /// Whether a word was heard in a row that enough speaks for, or nobody asked.
  func allows(_ word: HeardWord) -> Bool { word.evidence.map { $0 >= least } ?? true }
}

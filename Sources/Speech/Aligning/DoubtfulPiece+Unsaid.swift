extension DoubtfulPiece {
  /// Words of less goodness may not be spoken, if it is also so much less than that of the words that
  /// were heard in rows.
  private static let strangeness = -4.0
  private static let distance = 3.0
  /// Without a word that was not spoken the sound must be so much likelier, and no more words are
  /// tried. Of words that stand between two that are spoken, and are not, nine in ten gain more; of
  /// words in the place of others one in four does, and of spoken ones one in seven, of those that
  /// resemble the sound so little.
  private static let gain = 60.0
  private static let mostTries = 4
  /// So many words on either side are looked at with it.
  private static let reach = 3

  /// Where the words are without those that were not spoken: without them the sound is likelier, though
  /// nothing but their neighbours, silence and noise is left to explain it. Nil where all were spoken.
  func likelier(
    than found: [[HeardWord]], _ spoken: inout [Bool], with desk: AlignerDesk, in sound: [Int16]
  ) throws(SpeechError) -> [[HeardWord]]? {
    var areAllSpoken = true
    for word in strangest(of: found)
    where try isUnsaid(word, among: spoken, found, with: desk, in: sound) {
      spoken[word] = false
      areAllSpoken = false
    }
    return areAllSpoken ? nil : try place(spoken, with: desk, in: sound)
  }

  /// Whether a few words are likelier without one of them.
  private func isUnsaid(
    _ word: Int, among spoken: [Bool], _ found: [[HeardWord]], with desk: AlignerDesk,
    in sound: [Int16]
  ) throws(SpeechError) -> Bool {
    let before = spoken.indices[..<word].filter { spoken[$0] }.suffix(Self.reach)
    let after = spoken.indices[(word + 1)...].filter { spoken[$0] }.prefix(Self.reach)
    let window = (before.first ?? word)..<(after.last ?? word) + 1
    guard window.count > 1 else { return false }
    let place = place(of: window, found, upTo: sound.count / LevelTrace.step)
    let with = Array(expected(spoken)[window])
    var without = with
    without[word - window.lowerBound] = SpokenWord(ways: [])
    let scores = try desk.quick().scores(of: [with, without], in: Self.part(place, of: sound).span)
    guard let likely = scores[0], let likelier = scores[1] else { return false }
    return likelier > likely + Self.gain
  }

  /// The words that resemble the sound least, of those that nobody is sure of and that hardly do.
  private func strangest(of found: [[HeardWord]]) -> [Int] {
    let goodness = found.map { HeardWord.leastGoodness(of: $0) }
    let sure = found.indices.filter { places[$0] != nil }.compactMap { goodness[$0] }.sorted()
    let usual = sure.isEmpty ? 0 : sure[sure.count / 2]
    let least = min(Self.strangeness, usual - Self.distance)
    let strange = found.indices.filter { places[$0] == nil && goodness[$0] ?? 0 < least }
    return Array(strange.sorted { goodness[$0] ?? 0 < goodness[$1] ?? 0 }.prefix(Self.mostTries))
  }
}

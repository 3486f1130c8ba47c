/// Where one of several readings of the same words begins, as far as it was understood.
struct ReadingStart {
  /// Where the other reading before it ends, or the pause behind that, in hundredths of a second.
  let end: Int
  /// The keys before it that may be of it, though they were taken from the other reading.
  let doubtful: Range<Int>

  /// A pause that may part two readings, in milliseconds.
  private static let pause = 60
  /// Of the time that words take in one reading, they need so much in the other.
  private static let share = 0.7
  /// Behind a pause, no more words than these are taken for the beginning of a reading.
  private static let fewWords = 3
  /// Words sound on so long behind the time in which they were heard, in hundredths of a second.
  private static let slack = 10

  /// Looks at what was heard before a reading.
  ///
  /// - Parameters:
  ///   - key: the first key of the text that is taken from the reading.
  ///   - echo: the number of the last heard word of the other one.
  ///   - heard: for each key of the text, the number of the heard word that it is.
  ///   - sounds: what was heard.
  ///   - loud: for how many of some hundredths of a second there is more than silence.
  init?(
    at key: Int, behind echo: Int, heard: [Int?], _ sounds: [HeardWord], loud: (Range<Int>) -> Int
  ) {
    guard let first = heard[key], let last = heard[..<key].last(where: { $0 != nil }), let last,
      first - last > 1
    else { return nil }
    let start = sounds[first].start / 10
    let pause = (last + 1...first).last { Self.isBehindPause($0, sounds) }
    let breath = pause.map { sounds[$0].start / 10 - Self.slack } ?? start
    end = min(sounds[echo].end / 10, breath)
    let room = loud(min(end + Self.slack, start)..<start)
    doubtful = Self.keys(before: key, heard, sounds, fitting: room)
  }

  /// Whether a reading can begin with a heard word.
  static func isBehindPause(_ sound: Int, _ sounds: [HeardWord]) -> Bool {
    sound == 0 || sounds[sound].start - sounds[sound - 1].end >= pause
  }

  /// The keys for which there is speech before the first word that was understood, and a few before
  /// them with which the other reading begins, behind a pause.
  private static func keys(
    before seam: Int, _ heard: [Int?], _ sounds: [HeardWord], fitting room: Int
  ) -> Range<Int> {
    // Behind a pause, the other one begins with the same word.
    guard let last = heard[seam - 1], !isBehindPause(last + 1, sounds) else { return seam..<seam }
    var key = seam
    var first = seam
    while key > 0, first - key < fewWords, let sound = heard[key - 1], last - sound == seam - key {
      key -= 1
      let time = Double(sounds[last].end - sounds[sound].start) / 10
      if time * share <= Double(room) { first = key }
      if isBehindPause(sound, sounds) { return key..<seam }
    }
    return first..<seam
  }
}

/// The likeliest ways to the three states of a phone and into it, and what was heard on them.
struct PhraseToken: Equatable {
  private var first = -Float.infinity
  private var second = -Float.infinity
  private(set) var third = -Float.infinity
  private var entry = -Float.infinity
  private var firstPast: Int32 = -1
  private var secondPast: Int32 = -1
  /// The number of what was heard last on the way to the last state; -1 for nothing.
  private(set) var thirdPast: Int32 = -1
  private var entryPast: Int32 = -1
  /// The frame for which the phone was last put into the list.
  var listed: Int32 = -1

  /// The logarithm of the likelihood of the likeliest way to a state.
  var best: Float { max(first, max(second, third)) }

  /// The likeliest way, into the phone too, and what was heard on it.
  var end: (score: Float, past: Int32) {
    var end = (score: first, past: firstPast)
    if second > end.score { end = (second, secondPast) }
    if third > end.score { end = (third, thirdPast) }
    if entry > end.score { end = (entry, entryPast) }
    return end
  }

  /// Forgets the ways to the states.
  mutating func drop() {
    first = -.infinity
    second = -.infinity
    third = -.infinity
  }

  /// Takes a way into the phone; false where a likelier one is known.
  @inline(__always)
  mutating func enter(_ score: Float, _ past: Int32) -> Bool {
    guard score > entry else { return false }
    entry = score
    entryPast = past
    return true
  }

  /// Takes a frame with these scores of the states.
  @inline(__always)
  mutating func pass(_ matrix: PhoneTransitions, _ heard: (Float, Float, Float)) {
    third += matrix.stay[2]
    if second + matrix.leave[1] > third {
      third = second + matrix.leave[1]
      thirdPast = secondPast
    }
    second += matrix.stay[1]
    if first + matrix.leave[0] > second {
      second = first + matrix.leave[0]
      secondPast = firstPast
    }
    first += matrix.stay[0]
    if entry > first {
      first = entry
      firstPast = entryPast
    }
    entry = -.infinity
    first += heard.0
    second += heard.1
    third += heard.2
  }
}

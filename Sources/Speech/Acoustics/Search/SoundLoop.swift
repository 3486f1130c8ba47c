/// The likeliest sounds of a piece, whatever they mean: any phone may follow any other, at no cost.
///
/// The words of a text consist of the sounds of the language, so no words that were said are much
/// likelier than this; words that were not said are much less likely. What noise, a room or a
/// strange voice take from one they take from the other, so that the difference says how well words
/// fit wherever they were recorded.
struct SoundLoop {
  private let phones: [PhoneStates]
  private let transitions: [PhoneTransitions]
  /// The logarithms of the likelihoods of the paths that end in each state.
  private var states: [SIMD4<Float>]
  /// The likeliest path that left a phone after the last frame.
  private var exit: Float = 0
  /// The logarithm of the likelihood of the sound before each frame, and of all of it.
  private var totals: [Float] = [0]

  init(_ model: SoundModel) {
    phones = (model.phones.sounds + model.phones.fillers).map(model.states)
    transitions = model.transitions
    states = Array(repeating: SIMD4(repeating: -.infinity), count: phones.count)
  }

  /// Forgets what was heard, and is ready for another piece.
  mutating func begin() {
    for phone in states.indices { states[phone] = SIMD4(repeating: -.infinity) }
    exit = 0
    totals.removeAll(keepingCapacity: true)
    totals.append(0)
  }

  /// Takes the next frame.
  ///
  /// Complexity: O(phones).
  mutating func pass(_ slot: Int, _ scores: borrowing StateScores) {
    let best = scores.bests[slot]
    let entry = exit
    exit = -.infinity
    var top = -Float.infinity
    for (index, phone) in phones.enumerated() {
      let matrix = transitions[Int(phone.transitions)]
      let old = states[index]
      let stayed = old + matrix.stay
      let moved = old + matrix.leave
      let new =
        SIMD4(
          max(stayed[0], entry), max(stayed[1], moved[0]), max(stayed[2], moved[1]), -.infinity)
        + scores.scores(slot, phone) - best
      states[index] = new
      top = max(top, max(new[0], max(new[1], new[2])))
      exit = max(exit, new[2] + matrix.leave[2])
    }
    totals.append(top)
  }

  /// The logarithm of the likelihood of some frames, against the best that could be heard in each.
  func score(of frames: Range<Int>) -> Float {
    totals[frames.upperBound] - totals[frames.lowerBound]
  }
}

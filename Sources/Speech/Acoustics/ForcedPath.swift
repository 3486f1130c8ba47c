/// The likeliest way through a graph of phones that explains all of a piece of sound (Viterbi).
///
/// Nothing is given up before the end as long as it is within a wide beam of the best, so that a
/// word that is spoken carelessly does not make all that follows impossible.
struct ForcedPath {
  /// A phone on the way.
  struct Step {
    let node: Int
    let first: Int
    let end: Int
    /// The logarithm of its likelihood, against the best that could be heard in its frames.
    let score: Float
    /// The same against the likeliest sounds of its frames, in a hundredth of a second.
    var goodness: Float = 0
  }

  /// The phones, in order.
  private(set) var steps: [Step]
  /// By frame, the place of the state that it goes through.
  let states: [Int32]
  /// The logarithm of the likelihood of the whole.
  let score: Float

  /// No more than so many phones are looked at over all frames: about 100 MB.
  private static let mostCells = 16_000_000
  /// How much less likely than the best a way may be before it is given up.
  private static let beam: Float = 800

  /// Finds it; nil where there is none.
  ///
  /// Complexity: O(frames × phones) at most; within the beam far less.
  init?(
    through graph: PhoneGraph, _ features: SpeechFeatures, _ model: SoundModel,
    _ scores: inout StateScores, against loop: inout SoundLoop
  ) {
    guard features.frameCount > 0 else { return nil }
    var search = ForcedSearch(graph, model)
    loop.begin()
    var frame = 0
    while frame < features.frameCount {
      let frames = Array(frame..<min(features.frameCount, frame + StateScores.capacity))
      scores.score(features, frames)
      for slot in frames.indices {
        search.pass(slot, scores, beam: Self.beam)
        loop.pass(slot, scores)
      }
      frame += frames.count
      guard search.cellCount <= Self.mostCells else { return nil }
    }
    guard let end = search.bestEnd() else { return nil }
    score = end.score
    (steps, states) = search.way(to: end.node)
    for (index, step) in steps.enumerated() {
      let frames = step.first..<step.end
      steps[index].goodness = (step.score - loop.score(of: frames)) / Float(max(1, frames.count))
    }
  }

  /// The likelihoods of the whole through each of several graphs; nil where there is no way. They are
  /// held against the best of their own phones, and comparable with each other only.
  ///
  /// Complexity: O(frames × phones of the graphs).
  static func scores(
    through graphs: [PhoneGraph?], _ features: SpeechFeatures, _ model: SoundModel,
    _ scores: inout StateScores
  ) -> [Float?] {
    var searches = graphs.map { $0.map { ForcedSearch($0, model) } }
    let phones = Set(
      graphs.compactMap { $0?.nodes }.joined().map {
        model.weights.phone(of: Int($0.states.first))
      }
    ).sorted()
    for first in stride(from: 0, to: features.frameCount, by: StateScores.capacity) {
      let frames = Array(first..<min(features.frameCount, first + StateScores.capacity))
      scores.score(features, frames, phones: phones)
      for number in searches.indices {
        for slot in frames.indices { searches[number]?.pass(slot, scores, beam: beam) }
        if searches[number]?.cellCount ?? 0 > mostCells { searches[number] = nil }
      }
    }
    return searches.map { $0?.bestEnd()?.score }
  }
}

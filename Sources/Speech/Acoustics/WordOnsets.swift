/// When words begin, by all ways through a graph that pass near the likeliest one and by how likely
/// each of them is (the forward-backward algorithm; Rabiner 1989, with its scaling).
///
/// The likeliest way alone is a poor judge of moments: frames are taken for independent, which they
/// are not, so that a little noise decides between ways that are as good as each other. Here the
/// likelihoods are raised to a power below one, so that ways which are nearly as likely count, and a
/// word begins where about half of them have begun it.
struct WordOnsets {
  /// Which share of the ways has begun a word when it begins: with a half words of people and of
  /// voices alike would be 2 ms late.
  private static let share: Float = 0.45
  /// No more than so many phones are looked at over all frames: about 32 MB.
  private static let mostCells = 1_000_000

  /// By word of the grammar, how likely it begins in each frame.
  private let begins: [Int: [(frame: Int, likelihood: Float)]]

  /// Follows all ways within a band; nil where there is none.
  ///
  /// Complexity: O(phones in the band), over all frames.
  init?(
    through graph: PhoneGraph, _ band: PathBand, _ features: SpeechFeatures, _ model: SoundModel
  ) {
    let frameCount = band.windows.count
    guard frameCount > 0, features.frameCount == frameCount,
      band.windows.reduce(0, { $0 + $1.count }) <= Self.mostCells
    else { return nil }
    var lattice = PhoneLattice(graph, band, model)
    lattice.goForward(features, model)
    guard let end = lattice.sumOfEnds() else { return nil }
    begins = lattice.goBackward(from: end)
  }

  /// When a word of the grammar begins, in milliseconds; nil where that is not known.
  func start(of arc: Int) -> Int? {
    guard let frames = begins[arc] else { return nil }
    let whole = frames.reduce(0) { $0 + $1.likelihood }
    // Where all ways through a frame are hardly possible, their scale is beyond all numbers.
    guard whole > 0.01, whole.isFinite else { return nil }
    var left = Self.share * whole
    for (frame, likelihood) in frames {
      guard left > likelihood else {
        return max(0, Int((10 * (Float(frame) - 0.5 + left / likelihood)).rounded()))
      }
      left -= likelihood
    }
    return frames.last.map { 10 * $0.frame }
  }
}

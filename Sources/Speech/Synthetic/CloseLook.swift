/// Where the words of a block are in the part of a recording in which it was found.
struct CloseLook {
  let recording: BandPowers
  let text: SpokenText
  let guide: WarpGuide

  /// Sound that is weaker on average is none, in mean squares: 90 dB below full scale.
  static let faintest: Float = 1e-9

  /// Finds them.
  ///
  /// - Parameter origin: where the part begins, in hundredths of a second.
  func outcome(origin: Int) -> SyntheticOutcome {
    var outcome = SyntheticOutcome()
    guard BandPowers.quantile(0.8, of: recording.totals) > Self.faintest, text.powers.count > 0
    else { return outcome }
    let band = guide.band(recording: recording.count, synthetic: text.powers.count)
    let pair = CepstralFrames.pair(recording: recording, synthetic: text.powers)
    let path = TimeWarp(
      first: pair.recording, second: pair.synthetic, band: band, prices: .usual
    ).path()
    outcome.cost = Int((path.cost * 100).rounded())
    outcome.chance = Int((chance(in: band) * 100).rounded())
    outcome.words = text.words.compactMap { word in
      Self.found(word, on: path, pair.recording, pair.synthetic).map {
        [word.number, origin + $0.frames.lowerBound, origin + $0.frames.upperBound, $0.distance]
      }
    }
    return outcome
  }

  /// What the cheapest way costs through the same speech backwards: what any other text would cost
  /// in this voice and this noise.
  private func chance(in band: TimeWarp.Band) -> Float {
    let pair = CepstralFrames.pair(recording: recording, synthetic: text.powers.reversed)
    return TimeWarp(
      first: pair.recording, second: pair.synthetic, band: band, prices: .usual
    ).cost()
  }

  /// The frames of the recording in which a word lies, and how far it is from them; nil where it was
  /// left out.
  private static func found(
    _ word: SpokenText.Word, on path: WarpPath, _ recording: CepstralFrames,
    _ synthetic: CepstralFrames
  ) -> (frames: Range<Int>, distance: Int)? {
    var runs: [Run] = []
    for frame in word.frames {
      // A pause before or behind the word belongs to none of its sounds.
      guard let meets = path.frames[frame],
        let first = meets.first(where: { !recording.isSilent[$0] }),
        let last = meets.last(where: { !recording.isSilent[$0] })
      else { continue }
      let distance = recording.distance(first, to: synthetic, frame)
      // Nobody holds a sound so long: what lies between is something else.
      if let run = runs.last, first - run.end <= longestGap {
        runs[runs.count - 1].add(min(last, first + longestGap), distance)
      } else {
        runs.append(Run(start: first))
        runs[runs.count - 1].add(min(last, first + longestGap), distance)
      }
    }
    guard let run = runs.max(by: { $0.count < $1.count }), 3 * run.count >= word.frames.count
    else { return nil }
    return (run.start..<run.end, Int((run.distance / Float(run.count) * 1000).rounded()))
  }

  /// The longest that a sound of a word lasts, in frames.
  private static let longestGap = 40

  /// Frames of a word that follow each other closely in the recording.
  private struct Run {
    let start: Int
    private(set) var end: Int
    private(set) var count = 0
    private(set) var distance: Float = 0

    init(start: Int) { (self.start, end) = (start, start) }

    mutating func add(_ last: Int, _ distance: Float) {
      end = max(end, last + 1)
      count += 1
      self.distance += distance
    }
  }
}

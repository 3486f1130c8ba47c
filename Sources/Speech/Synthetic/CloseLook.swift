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
    ).path().cost
  }

  /// The frames of the recording in which a word lies, and how far it is from them; nil where it was
  /// left out.
  private static func found(
    _ word: SpokenText.Word, on path: WarpPath, _ recording: CepstralFrames,
    _ synthetic: CepstralFrames
  ) -> (frames: Range<Int>, distance: Int)? {
    var start: Int?
    var end = 0
    var distance: Float = 0
    var count: Float = 0
    for frame in word.frames {
      guard let meets = path.frames[frame] else { continue }
      // A pause before or behind the word belongs to none of its sounds.
      guard let first = meets.first(where: { !recording.isSilent[$0] }),
        let last = meets.last(where: { !recording.isSilent[$0] })
      else { continue }
      if start == nil { start = first }
      end = max(end, last + 1)
      distance += recording.distance(first, to: synthetic, frame)
      count += 1
    }
    guard let start, 3 * Int(count) >= word.frames.count else { return nil }
    return (start..<max(end, start + 1), Int((distance / count * 1000).rounded()))
  }
}

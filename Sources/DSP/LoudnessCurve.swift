public import AudioModel

/// Loudness over time after EBU Tech 3341: from step to step the momentary loudness, over the last
/// 400 ms, and the short-term loudness, over the last 3 s.
///
/// What has no figure is nil: windows that the sound has not filled yet, and those of nothing but
/// zeros. Neither is gated.
public struct LoudnessCurve: Hashable, Sendable, Codable {
  /// From one figure to the next: 100 ms, to the nearest whole frame.
  public var step: Seconds
  /// The momentary loudness at the end of each step; the first ends one step after the beginning.
  public var momentary: [LUFS?]
  /// The short-term loudness at the end of each step.
  public var shortTerm: [LUFS?]
  /// The integrated loudness of the whole; nil for silence and for less than 400 ms.
  public var integrated: LUFS?
  /// The loudness range of the whole, in LU; nil where there is no integrated loudness.
  public var range: Decibels?

  /// The curve of a measurement at this sample rate. Linear in its length.
  public init(_ history: LoudnessHistory, sampleRate: Hertz) {
    step = LoudnessHistory.stepLength(at: sampleRate).duration(at: sampleRate)
    momentary = history.loudness(overLast: 4)
    shortTerm = history.loudness(overLast: 30)
    integrated = history.integrated()
    range = history.range()
  }

  /// The loudest momentary figure; nil where there is none.
  public var maximumMomentary: LUFS? { momentary.lazy.compactMap { $0 }.max() }
  /// The loudest short-term figure; nil where there is none.
  public var maximumShortTerm: LUFS? { shortTerm.lazy.compactMap { $0 }.max() }
}

extension LoudnessHistory {
  /// The loudness of the last `count` steps at the end of each.
  fileprivate func loudness(overLast count: Int) -> [LUFS?] {
    energies.indices.map { end in
      guard end + 1 >= count else { return nil }
      // Each sum for itself: a running one would never come back to zero.
      let energy = energies[end + 1 - count...end].reduce(0, +) / Double(count)
      return energy > 0 ? Self.loudness(energy) : nil
    }
  }
}

/// Loudness over time after EBU Tech 3341: at each step the momentary loudness (the last 400 ms)
/// and the short-term loudness (the last 3 s), both ungated.
///
/// Windows that are not yet filled, or contain only zeros, are nil.
package struct LoudnessCurve: Hashable, Sendable, Codable {
  /// The interval between figures: 100 ms, to the nearest whole frame.
  package var step: Seconds
  /// The momentary loudness at the end of each step; the first step ends at one interval.
  package var momentary: [LUFS?]
  /// The short-term loudness at the end of each step.
  package var shortTerm: [LUFS?]
  /// The integrated loudness of the whole; nil for silence and for less than 400 ms.
  package var integrated: LUFS?
  /// The loudness range of the whole, in LU; nil where there is no integrated loudness.
  package var range: Decibels?

  /// O(length).
  package init(_ history: LoudnessHistory, sampleRate: Hertz) {
    step = LoudnessHistory.stepLength(at: sampleRate).duration(at: sampleRate)
    momentary = history.loudness(overLast: 4)
    shortTerm = history.loudness(overLast: 30)
    integrated = history.integrated()
    range = history.range()
  }

  /// The loudest momentary figure; nil where there is none.
  package var maximumMomentary: LUFS? { momentary.lazy.compactMap { $0 }.max() }
  /// The loudest short-term figure; nil where there is none.
  package var maximumShortTerm: LUFS? { shortTerm.lazy.compactMap { $0 }.max() }
}

extension LoudnessHistory {
  /// The loudness of the last `count` steps at the end of each step.
  fileprivate func loudness(overLast count: Int) -> [LUFS?] {
    energies.indices.map { end in
      guard end + 1 >= count else { return nil }
      // Each window is summed on its own: a running sum would not return to zero.
      let energy = energies[end + 1 - count...end].reduce(0, +) / Double(count)
      return energy > 0 ? Self.loudness(energy) : nil
    }
  }
}

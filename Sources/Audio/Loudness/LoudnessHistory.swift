import Glibc

/// The energies of successive steps of 100 ms: the input of integrated loudness and loudness range.
///
/// Histories of adjacent stretches, cut between two steps, can be joined; the result equals a
/// single measurement.
package struct LoudnessHistory: Hashable, Sendable, Codable {
  /// For each step, the channel-weighted sum of the mean squares of K-weighted sound.
  private(set) var energies: [Double] = []

  /// The absolute gate.
  private static let absoluteGate = LUFS(-70)

  package init() {}

  /// The length of a step: 100 ms, to the nearest whole frame.
  package static func stepLength(at sampleRate: Hertz) -> Frames {
    Frames(max(Int(sampleRate.value.rounded()) + 5, 10) / 10)
  }

  package var count: Int { energies.count }

  mutating func append(_ energy: Double) { energies.append(energy) }

  /// Appends a range of steps of the history that follows.
  package mutating func append(_ next: LoudnessHistory, steps: Range<Int>) {
    energies += next.energies[steps.clamped(to: next.energies.indices)]
  }

  /// The integrated loudness of ITU-R BS.1770-4: the mean of all 400 ms blocks, one per step, that
  /// reach −70 LUFS and are at most 10 LU quieter than the mean of those that do. Nil for silence
  /// and for less than 400 ms. O(length).
  package func integrated(behind gain: Decibels = Decibels(0)) -> LUFS? {
    Self.integrated([self], behind: gain)
  }

  /// The integrated loudness of several recordings over all their blocks, none of which spans two
  /// recordings. Nil if none has any. A gain lifts other blocks over the absolute gate, so it may
  /// add less than itself.
  package static func integrated(
    _ recordings: [LoudnessHistory], behind gain: Decibels = Decibels(0)
  ) -> LUFS? {
    let gate = LUFS(absoluteGate.value - gain.value)
    let blocks = recordings.flatMap { $0.means(steps: 4, every: 1, from: gate) }
    guard let mean = mean(blocks, from: 0) else { return nil }
    return Self.mean(blocks, from: mean / 10).map { LUFS(loudness($0).value + gain.value) }
  }

  /// The gain with which recordings reach a loudness together. Nil if no gain of up to 200 dB does,
  /// or if they have no loudness. O(length) for each block at the gate, and that is rarely one.
  package static func gain(
    of recordings: [LoudnessHistory], reaching wanted: LUFS
  ) -> Decibels? {
    guard let loudness = integrated(recordings) else { return nil }
    var gain = Decibels(wanted.value - loudness.value)
    // Every step moves the gate in the same direction, so the same blocks pass it in the end.
    while abs(gain.value) <= 200, let reached = integrated(recordings, behind: gain) {
      let next = Decibels(wanted.value - (reached.value - gain.value))
      guard abs(next.value - gain.value) > 1e-6 else { return gain }
      gain = next
    }
    return nil
  }

  /// The loudness range of EBU Tech 3342, in LU: between the 10th and the 95th percentile of all 3
  /// s blocks, one per second, that reach −70 LUFS and are at most 20 LU quieter than the mean of
  /// those that do. Nil without integrated loudness; 0 for less than 3 s.
  package func range() -> Decibels? {
    guard integrated() != nil else { return nil }
    let blocks = means(steps: 30, every: 10, from: Self.absoluteGate)
    guard let mean = Self.mean(blocks, from: 0) else { return Decibels(0) }
    let counted = blocks.filter { $0 >= mean / 100 }.sorted()
    func percentile(_ share: Double) -> LUFS {
      Self.loudness(counted[Int(Double(counted.count - 1) * share + 0.5)])
    }
    return Decibels(percentile(0.95).value - percentile(0.1).value)
  }

  /// The means of `steps` steps each, at steps 0, `interval`, 2 × `interval`, …, that pass a gate.
  private func means(steps: Int, every interval: Int, from gate: LUFS) -> [Double] {
    let gate = Self.energy(gate)
    return stride(from: 0, through: energies.count - steps, by: interval).lazy
      .map { energies[$0..<$0 + steps].reduce(0, +) / Double(steps) }
      .filter { $0 >= gate }
  }

  /// The mean of all energies from `limit` up; nil if there are none.
  private static func mean(_ energies: [Double], from limit: Double) -> Double? {
    let counted = energies.lazy.filter { $0 >= limit }
    let count = counted.count
    return count == 0 ? nil : counted.reduce(0, +) / Double(count)
  }

  static func loudness(_ energy: Double) -> LUFS { LUFS(10 * log10(energy) - 0.691) }

  private static func energy(_ loudness: LUFS) -> Double {
    pow(10, (loudness.value + 0.691) / 10)
  }

  /// All steps.
  package var snapshot: ProcessorSnapshot {
    var history = self
    return StateCoder.snapshot { (coder) throws(SnapshotError) in try history.code(&coder) }
  }

  /// Restores a history.
  package init(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var history = LoudnessHistory()
    try StateCoder.restore(snapshot) { (coder) throws(SnapshotError) in try history.code(&coder) }
    self = history
  }

  mutating func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(list: &energies)
  }
}

/// A loudness in LUFS, as defined by ITU-R BS.1770-4.
package struct LUFS: ScalarUnit {
  package var value: Double
  package init(_ value: Double) { self.value = value }
}

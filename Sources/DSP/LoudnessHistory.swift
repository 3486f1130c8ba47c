public import AudioModel
import Glibc

/// How loud sound is from one tenth of a second to the next: what integrated loudness and loudness
/// range are reckoned from.
///
/// Histories of neighbouring stretches, cut between two steps, can be joined: the whole has the
/// figures that it would have had in one piece.
public struct LoudnessHistory: Hashable, Sendable, Codable {
  /// The weighted sum over the channels of the mean square of K-weighted sound, for each step.
  private(set) var energies: [Double] = []

  /// The absolute gate of −70 LUFS, as an energy.
  private static let absoluteGate = energy(LUFS(-70))

  /// A history of nothing.
  public init() {}

  /// How long a step is: 100 ms, to the nearest whole frame.
  public static func stepLength(at sampleRate: Hertz) -> Frames {
    Frames(max(Int(sampleRate.value.rounded()) + 5, 10) / 10)
  }

  /// The number of steps.
  public var count: Int { energies.count }

  /// Adds a step.
  mutating func append(_ energy: Double) { energies.append(energy) }

  /// Adds those steps of another history, of the stretch that comes next, that lie in a range.
  public mutating func append(_ next: LoudnessHistory, steps: Range<Int>) {
    energies += next.energies[steps.clamped(to: next.energies.indices)]
  }

  /// The integrated loudness of ITU-R BS.1770-4: the mean of all 400 ms blocks, one from every
  /// step, that reach −70 LUFS and are at most 10 LU quieter than the mean of those that do. Nil
  /// for silence and for less than 400 ms. Linear in the length.
  public func integrated() -> LUFS? { Self.integrated([self]) }

  /// The integrated loudness of several recordings together, as if they were one: of all their
  /// blocks, of which none reaches from one recording into the next. Nil where none has any.
  public static func integrated(_ recordings: [LoudnessHistory]) -> LUFS? {
    let blocks = recordings.flatMap { $0.means(steps: 4, every: 1) }
    guard let mean = mean(blocks, from: 0) else { return nil }
    return Self.mean(blocks, from: mean / 10).map(loudness)
  }

  /// The loudness range of EBU Tech 3342, in LU: between the 10th and the 95th percentile of all
  /// 3 s blocks, one from every second, that reach −70 LUFS and are at most 20 LU quieter than the
  /// mean of those that do. Nil where there is no integrated loudness; 0 for less than 3 s.
  public func range() -> Decibels? {
    guard integrated() != nil else { return nil }
    let blocks = means(steps: 30, every: 10)
    guard let mean = Self.mean(blocks, from: 0) else { return Decibels(0) }
    let counted = blocks.filter { $0 >= mean / 100 }.sorted()
    func percentile(_ share: Double) -> LUFS {
      Self.loudness(counted[Int(Double(counted.count - 1) * share + 0.5)])
    }
    return Decibels(percentile(0.95).value - percentile(0.1).value)
  }

  /// The means of `steps` steps each, from step 0, `interval`, 2 × `interval`, … on, that pass the
  /// absolute gate.
  private func means(steps: Int, every interval: Int) -> [Double] {
    stride(from: 0, through: energies.count - steps, by: interval).lazy
      .map { energies[$0..<$0 + steps].reduce(0, +) / Double(steps) }
      .filter { $0 >= Self.absoluteGate }
  }

  /// The mean of all energies from a limit on; nil if there are none.
  private static func mean(_ energies: [Double], from limit: Double) -> Double? {
    let counted = energies.lazy.filter { $0 >= limit }
    let count = counted.count
    return count == 0 ? nil : counted.reduce(0, +) / Double(count)
  }

  static func loudness(_ energy: Double) -> LUFS { LUFS(10 * log10(energy) - 0.691) }

  private static func energy(_ loudness: LUFS) -> Double {
    pow(10, (loudness.value + 0.691) / 10)
  }
}

extension LoudnessHistory {
  /// All that it holds.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    append(to: &snapshot)
    return snapshot
  }

  /// A history as another left it.
  public init(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    self = try LoudnessHistory(from: &reader)
    try reader.finish()
  }

  /// Writes the steps.
  func append(to snapshot: inout ProcessorSnapshot) {
    snapshot.append(energies.count)
    snapshot.append(contentsOf: energies)
  }

  /// Reads the steps of a snapshot.
  init(from reader: inout SnapshotReader) throws(SnapshotError) {
    energies = try reader.next(Double.self, count: try reader.nextCount())
  }
}

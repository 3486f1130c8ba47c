import AudioModel

/// Makes a smooth gain of the gains that single frames need: one that is never above any of them,
/// bends down ahead of the peak, and recovers exponentially.
///
/// The least gain of the window around a frame is held, then released exponentially, then averaged
/// twice over half the look-ahead each. Both averages together reach as far as the hold does, so
/// the average is at most the least gain, and the curve has no corner.
struct LimiterGain: ~Copyable {
  /// Gains are averaged as whole multiples of 2⁻³⁰, so that 1 comes back as exactly 1.
  private static let one = 1 << 30

  /// How many frames the result lies behind what is pushed.
  let delay: Int

  private let releaseStep: Double
  private var minimum: SlidingMinimum
  private var firstSum, secondSum: MovingSum
  private let fullSum: Double
  private let settledCount: Int

  private var index = 0
  private var held = 1.0
  /// For how many frames `held` has been 1.
  private var settled: Int

  /// Bends over `lookAhead` frames, at least 2, and is constant for `plateau` frames on each side
  /// of a peak, because a point between samples depends on its neighbours' gains too.
  init(lookAhead: Int, plateau: Int, releaseStep: Double) {
    delay = lookAhead + plateau
    self.releaseStep = releaseStep
    minimum = SlidingMinimum(window: lookAhead + 2 * plateau + 1)
    let first = lookAhead / 2 + 1
    let second = lookAhead - lookAhead / 2 + 1
    firstSum = MovingSum(count: first, repeating: Self.one)
    secondSum = MovingSum(count: second, repeating: Self.one * first)
    fullSum = Double(Self.one) * Double(first) * Double(second)
    settledCount = first + second
    settled = settledCount
  }

  /// Whether the gain is 1 and stays so as long as only ones are pushed.
  var isAtRest: Bool { settled >= settledCount && minimum.isAtRest }

  /// Passes over ones at rest, which change nothing.
  mutating func skip(_ count: Int) { index &+= count }

  /// Takes the gain that a frame needs, above 0 and at most 1, and gives the gain of the frame
  /// that came `delay` earlier.
  @inline(__always)
  mutating func push(_ needed: Float) -> Float {
    let least = Double(minimum.push(needed, index: index))
    index &+= 1
    held += (1 - held) * releaseStep
    // −120 dB from 1, it has arrived: an approach alone never would.
    if 1 - held < 1e-6 { held = 1 }
    held = held < least ? held : least
    settled = held == 1 ? settled &+ 1 : 0
    let sum = secondSum.push(firstSum.push(Int(held * Double(Self.one))))
    return Float(Double(sum) / fullSum)
  }
}

extension LimiterGain {
  /// Writes the state.
  func append(to snapshot: inout ProcessorSnapshot) {
    snapshot.append(index)
    snapshot.append(held)
    snapshot.append(min(settled, settledCount))
    let entries = minimum.entries
    snapshot.append(entries.count)
    for entry in entries {
      snapshot.append(entry.index)
      snapshot.append(entry.value)
    }
    snapshot.append(contentsOf: firstSum.values)
    snapshot.append(contentsOf: secondSum.values)
  }

  /// Reads a state that a gain of the same settings wrote.
  mutating func restore(from reader: inout SnapshotReader) throws(SnapshotError) {
    index = try reader.next(Int.self)
    held = try reader.next(Double.self)
    settled = try reader.next(Int.self)
    let count = try reader.next(Int.self)
    guard (0...delay * 2 + 1).contains(count) else { throw SnapshotError() }
    var entries: [SlidingMinimum.Entry] = []
    for _ in 0..<count {
      entries.append(
        SlidingMinimum.Entry(
          index: try reader.next(Int.self), value: try reader.next(Float.self)))
    }
    minimum.entries = entries
    firstSum.values = try reader.next(Int.self, count: firstSum.values.count)
    secondSum.values = try reader.next(Int.self, count: secondSum.values.count)
  }
}

extension Limiter {
  /// Turns the gains that single frames need into a smooth gain that never exceeds them, falls ahead
  /// of a peak and recovers exponentially.
  ///
  /// The minimum over the window around a frame is held, released exponentially, then averaged twice
  /// over half the look-ahead each. Both averages together are as long as the hold, so the average
  /// never exceeds the minimum, and the curve has no corner.
  struct SmoothGain: ~Copyable {
    /// Gains are averaged as multiples of 2⁻³⁰, so that 1 stays exactly 1.
    private static let one = 1 << 30

    /// The delay from the pushed to the returned frame.
    let delay: Int

    private let releaseStep: Double
    private var minimum: SlidingMinimum
    private var firstSum, secondSum: MovingSum
    private let fullSum: Double
    private let settledCount: Int

    private var index = 0
    private var held = 1.0
    /// The number of frames since `held` became 1.
    private var settled: Int

    /// Falls over `lookAhead` frames, at least 2, and is constant for `plateau` frames on each side
    /// of a peak, because a point between samples also depends on its neighbours' gains.
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

    /// Whether the gain is 1 and stays so while only ones are pushed.
    var isAtRest: Bool { settled >= settledCount && minimum.isAtRest }

    /// Skips ones at rest, which change nothing.
    mutating func skip(_ count: Int) { index &+= count }

    /// Takes the gain that a frame needs, above 0 and at most 1, and returns the gain of the frame
    /// `delay` earlier.
    @inline(__always)
    mutating func push(_ needed: Float) -> Float {
      let least = Double(minimum.push(needed, index: index))
      index &+= 1
      held += (1 - held) * releaseStep
      // Within −120 dB of 1, the gain snaps to 1: the exponential alone never arrives.
      if 1 - held < 1e-6 { held = 1 }
      held = held < least ? held : least
      settled = held == 1 ? settled &+ 1 : 0
      let sum = secondSum.push(firstSum.push(Int(held * Double(Self.one))))
      return Float(Double(sum) / fullSum)
    }
  }
}

extension Limiter.SmoothGain {
  mutating func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&index)
    try coder.pass(&held)
    settled = min(settled, settledCount)
    try coder.pass(&settled)
    var entries = minimum.entries
    var count = entries.count
    try coder.pass(&count, in: 0...delay * 2 + 1)
    if coder.isReading {
      entries = Array(repeating: SlidingMinimum.Entry(index: 0, value: 1), count: count)
    }
    for place in entries.indices {
      try coder.pass(&entries[place].index)
      try coder.pass(&entries[place].value)
    }
    minimum.entries = entries
    try coder.pass(&firstSum.values)
    try coder.pass(&secondSum.values)
  }
}

/// A moving sum of integers, which is exact: it does not drift or depend on where it began.
struct MovingSum: ~Copyable {
  private let ring: Scratch<Int>
  private var position = 0
  private var sum: Int

  /// A sum over `count` numbers, initially all `value`.
  init(count: Int, repeating value: Int) {
    ring = Scratch(repeating: value, count: count)
    sum = value * count
  }

  /// Takes a number and returns the sum of the last `count`.
  @inline(__always)
  mutating func push(_ value: Int) -> Int {
    let oldest = unsafe ring.start[position]
    unsafe ring.start[position] = value
    position = position &+ 1 == ring.count ? 0 : position &+ 1
    sum = sum &+ value &- oldest
    return sum
  }

  /// The numbers in the window, oldest first.
  var values: [Int] {
    get { (0..<ring.count).map { ring[(position + $0) % ring.count] } }
    set {
      precondition(newValue.count == ring.count)
      position = 0
      sum = 0
      for (index, value) in newValue.enumerated() {
        ring[index] = value
        sum += value
      }
    }
  }
}

/// A sliding minimum of values that are at most 1, and mostly 1.
///
/// Values below 1 are kept in a monotonic queue: only those not followed by a lower value, so that
/// the first is the minimum. Each value enters and leaves once: amortised O(1).
struct SlidingMinimum: ~Copyable {
  /// A value of the queue and its index.
  struct Entry: BitwiseCopyable {
    var index: Int
    var value: Float
  }

  private let window: Int
  private let wedge: Scratch<Entry>
  private var first = 0
  private var count = 0

  /// A window of `window` values, the newest included; initially all 1.
  init(window: Int) {
    self.window = window
    wedge = Scratch(repeating: Entry(index: 0, value: 1), count: window)
  }

  /// Whether all values of the window are 1.
  var isAtRest: Bool { count == 0 }

  /// Takes the value number `index` and returns the minimum of the window that ends with it.
  @inline(__always)
  mutating func push(_ value: Float, index: Int) -> Float {
    let entries = unsafe wedge.start
    if count > 0, unsafe entries[first].index <= index &- window {
      first = first &+ 1 == window ? 0 : first &+ 1
      count &-= 1
    }
    if value < 1 {
      while count > 0, unsafe entries[place(count &- 1)].value >= value { count &-= 1 }
      unsafe entries[place(count)] = Entry(index: index, value: value)
      count &+= 1
    }
    return count == 0 ? 1 : unsafe entries[first].value
  }

  @inline(__always)
  private func place(_ offset: Int) -> Int {
    let place = first &+ offset
    return place >= window ? place &- window : place
  }

  /// The queue, oldest entry first.
  var entries: [Entry] {
    get { (0..<count).map { wedge[place($0)] } }
    set {
      precondition(newValue.count <= window)
      (first, count) = (0, newValue.count)
      for (index, entry) in newValue.enumerated() { wedge[index] = entry }
    }
  }
}

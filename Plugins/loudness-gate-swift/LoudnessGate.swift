import Glibc

/// A gate that is opened by momentary loudness (ITU-R BS.1770-4: K-weighting, 400 ms).
///
/// Loudness is told anew every 10 ms, from the powers of the last forty of them; each is summed from zero,
/// so that no rounding adds up. The sound itself comes 200 ms late.
final class LoudnessGate {
  /// All that depends on the sound so far.
  struct State: Equatable {
    /// What the two filters of each channel remember.
    var filters: [Filter.Memory]
    /// The weighted powers of the last hops, oldest first from `nextHop`.
    var hops: [Double]
    var nextHop = 0
    /// The power of the hop that is under way, and its frames.
    var power = 0.0
    var frames = 0
    var isOpen = false
    var gain: Double
    /// Interleaved sound that waits, and where the oldest frame of it is.
    var delay: [Float]
    var delayed = 0
    /// For the figures.
    var frameCount = 0
    var openCount = 0
  }

  static let hopCount = 40
  let latency: Int
  private(set) var state: State

  private let channels: Int
  private let hopLength: Int
  private let shelf: Filter
  private let cut: Filter
  private let weights: [Double]
  private let opening: Double
  private let closing: Double
  private let closedGain: Double
  private let attack: Double
  private let release: Double

  /// - Parameters:
  ///   - threshold: LUFS that open it.
  ///   - hysteresis: LU below that close it.
  ///   - range: dB when it is closed.
  ///   - attack, release: milliseconds until a change is 63 % done.
  init(
    rate: Double, channels: Int, threshold: Double, hysteresis: Double, range: Double,
    attack: Double, release: Double
  ) {
    self.channels = channels
    hopLength = max(1, Int((rate / 100).rounded()))
    latency = Self.hopCount / 2 * hopLength
    shelf = .headShelf(rate)
    cut = .lowCut(rate)
    // Left, right and centre count once, the surrounds of five channels 1.41 times, and the sixth is the
    // bass, which does not count.
    weights = (0..<channels).map { channel in
      channels < 5 || channel < 3 ? 1 : channels > 5 && channel == 3 ? 0 : 1.41
    }
    opening = Self.power(threshold)
    closing = Self.power(threshold - hysteresis)
    closedGain = pow(10, range / 20)
    self.attack = 1 - exp(-1000 / (rate * attack))
    self.release = 1 - exp(-1000 / (rate * release))
    state = State(
      filters: Array(repeating: Filter.Memory(), count: 2 * channels),
      hops: Array(repeating: 0, count: Self.hopCount), gain: closedGain,
      delay: Array(repeating: 0, count: latency * channels))
  }

  /// The mean square that has a loudness: BS.1770's -0.691 dB.
  private static func power(_ loudness: Double) -> Double { pow(10, (loudness + 0.691) / 10) }

  func process(_ samples: UnsafeMutableBufferPointer<Float>) {
    for start in stride(from: 0, to: samples.count - channels + 1, by: channels) {
      for channel in 0..<channels {
        let input = Double(samples[start + channel])
        let lifted = shelf.next(input, &state.filters[2 * channel])
        let heard = cut.next(lifted, &state.filters[2 * channel + 1])
        state.power += weights[channel] * heard * heard
      }
      state.frames += 1
      if state.frames == hopLength { endHop() }
      let target = state.isOpen ? 1 : closedGain
      state.gain += (target > state.gain ? attack : release) * (target - state.gain)
      for channel in 0..<channels {
        let late = state.delay[state.delayed]
        state.delay[state.delayed] = samples[start + channel]
        samples[start + channel] = Float(Double(late) * state.gain)
        state.delayed = state.delayed + 1 == state.delay.count ? 0 : state.delayed + 1
      }
      state.frameCount += 1
      if state.isOpen { state.openCount += 1 }
    }
  }

  private func endHop() {
    state.hops[state.nextHop] = state.power
    state.nextHop = (state.nextHop + 1) % Self.hopCount
    state.power = 0
    state.frames = 0
    let momentary = state.hops.reduce(0, +) / Double(Self.hopCount * hopLength)
    state.isOpen = momentary > (state.isOpen ? closing : opening)
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    func append<T>(_ value: T) { withUnsafeBytes(of: value) { bytes += $0 } }
    state.filters.forEach(append)
    state.hops.forEach(append)
    for count in [state.nextHop, state.frames, state.isOpen ? 1 : 0, state.delayed] { append(count) }
    append(state.power)
    append(state.gain)
    append(state.frameCount)
    append(state.openCount)
    state.delay.forEach(append)
    return bytes
  }

  /// - Returns: whether these bytes are a state of such a gate.
  func restore(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count == self.bytes.count else { return false }
    var place = 0
    func next<T>(_ type: T.Type) -> T {
      defer { place += MemoryLayout<T>.size }
      return bytes.loadUnaligned(fromByteOffset: place, as: type)
    }
    var taken = state
    for index in taken.filters.indices { taken.filters[index] = next(Filter.Memory.self) }
    for index in taken.hops.indices { taken.hops[index] = next(Double.self) }
    taken.nextHop = next(Int.self)
    taken.frames = next(Int.self)
    taken.isOpen = next(Int.self) == 1
    taken.delayed = next(Int.self)
    taken.power = next(Double.self)
    taken.gain = next(Double.self)
    taken.frameCount = next(Int.self)
    taken.openCount = next(Int.self)
    for index in taken.delay.indices { taken.delay[index] = next(Float.self) }
    guard taken.hops.indices.contains(taken.nextHop), (0..<hopLength).contains(taken.frames),
      taken.delay.indices.contains(taken.delayed)
    else { return false }
    state = taken
    return true
  }
}

/// A filter of the second order, transposed direct form II.
struct Filter {
  struct Memory: Equatable {
    var first = 0.0
    var second = 0.0
  }

  let b0, b1, b2, a1, a2: Double

  func next(_ x: Double, _ memory: inout Memory) -> Double {
    let y = b0 * x + memory.first
    memory.first = b1 * x - a1 * y + memory.second
    memory.second = b2 * x - a2 * y
    return y
  }

  /// K-weighting's first filter, at any rate: the bilinear transform of its analogue form.
  static func headShelf(_ rate: Double) -> Filter {
    let k = tan(.pi * min(1681.974450955533 / rate, 0.499))
    let (q, top) = (0.7071752369554196, pow(10, 3.999843853973347 / 20))
    let middle = pow(top, 0.4996667741545416)
    let a0 = 1 + k / q + k * k
    return Filter(
      b0: (top + middle * k / q + k * k) / a0, b1: 2 * (k * k - top) / a0,
      b2: (top - middle * k / q + k * k) / a0, a1: 2 * (k * k - 1) / a0,
      a2: (1 - k / q + k * k) / a0)
  }

  /// K-weighting's second filter.
  static func lowCut(_ rate: Double) -> Filter {
    let k = tan(.pi * min(38.13547087602444 / rate, 0.499))
    let q = 0.5003270373238773
    let a0 = 1 + k / q + k * k
    return Filter(
      b0: 1, b1: -2, b2: 1, a1: 2 * (k * k - 1) / a0, a2: (1 - k / q + k * k) / a0)
  }
}

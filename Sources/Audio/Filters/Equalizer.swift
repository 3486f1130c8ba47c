/// An equalizer of any number of second-order filters in series.
///
/// Samples are filtered in `Double` through all bands and rounded once. The cost is proportional to
/// channels × bands, in steps of four bands and two channels.
package final class Equalizer: Processor {
  package let outputFormat: AudioFormat

  private typealias Pair = BiquadWavefront<SIMD8<Double>>
  private typealias Single = BiquadWavefront<SIMD4<Double>>

  /// Wavefronts in series: a quarter of the bands.
  private let depth: Int
  /// For each pair of channels, the wavefronts in series.
  private var pairs: [Pair]
  /// For the last channel of an odd count, the wavefronts in series.
  private var singles: [Single]

  /// Decayed states are cleared on a fixed grid of this many frames, because the result must not
  /// depend on block boundaries.
  private static let grid = 256
  /// Frames done in the current grid cell.
  private var phase = 0
  private let work = Scratch<Double>(repeating: 0, count: 2 * grid)

  /// Filters in the order of `bands`; without bands, sound passes unchanged.
  package convenience init(bands: [EqualizerBand], format: AudioFormat) {
    self.init(
      filters: bands.map { BiquadCoefficients($0, sampleRate: format.sampleRate) }, format: format)
  }

  /// Filters in the order of `filters`.
  init(filters: [BiquadCoefficients], format: AudioFormat) {
    outputFormat = format
    let groups = stride(from: 0, to: filters.count, by: 4).map { filters[$0...].prefix(4) }
    depth = groups.count
    pairs = (0..<format.channelCount / 2).flatMap { _ in groups.map { Pair($0) } }
    singles = (0..<format.channelCount % 2).flatMap { _ in groups.map { Single($0) } }
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    guard depth > 0 else { return FiniteSamples.copy(input, into: &output) }
    output.frameCount = input.frameCount
    var start = 0
    while start < input.frameCount.count {
      let count = min(Self.grid - phase, input.frameCount.count - start)
      filter(input, into: &output, start: start, count: count)
      start += count
      phase += count
      if phase == Self.grid {
        for index in pairs.indices { pairs[index].dropRemains() }
        for index in singles.indices { singles[index].dropRemains() }
        phase = 0
      }
    }
  }

  /// Filters frames within one grid cell.
  private func filter(
    _ input: borrowing AudioBuffer, into output: inout AudioBuffer, start: Int, count: Int
  ) {
    let signal = unsafe work.start
    for pair in 0..<input.channelCount / 2 {
      let left = unsafe input.baseAddress(ofChannel: 2 * pair) + start
      let right = unsafe input.baseAddress(ofChannel: 2 * pair + 1) + start
      for frame in 0..<count {
        unsafe signal[2 &* frame] = Double(FiniteSamples.filtered(left[frame]))
        unsafe signal[2 &* frame &+ 1] = Double(FiniteSamples.filtered(right[frame]))
      }
      for index in pair * depth..<(pair + 1) * depth {
        unsafe pairs[index].run(signal, count: count)
      }
      let leftResult = unsafe output.baseAddress(ofChannel: 2 * pair) + start
      let rightResult = unsafe output.baseAddress(ofChannel: 2 * pair + 1) + start
      for frame in 0..<count {
        unsafe leftResult[frame] = Float(signal[2 &* frame])
        unsafe rightResult[frame] = Float(signal[2 &* frame &+ 1])
      }
    }
    guard !singles.isEmpty else { return }
    let source = unsafe input.baseAddress(ofChannel: input.channelCount - 1) + start
    for frame in 0..<count {
      unsafe signal[frame] = Double(FiniteSamples.filtered(source[frame]))
    }
    for index in singles.indices { unsafe singles[index].run(signal, count: count) }
    let result = unsafe output.baseAddress(ofChannel: input.channelCount - 1) + start
    for frame in 0..<count { unsafe result[frame] = Float(signal[frame]) }
  }

  /// The state of every filter.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&phase, in: 0..<Self.grid)
    for index in pairs.indices {
      try coder.pass(&pairs[index].s1)
      try coder.pass(&pairs[index].s2)
    }
    for index in singles.indices {
      try coder.pass(&singles[index].s1)
      try coder.pass(&singles[index].s2)
    }
  }
}

/// Four biquads in series on one or two channels, computed side by side: while the first processes
/// sample n, the second processes sample n − 1, and so on, so that a serial recursion fills the
/// lanes of a vector.
///
/// Each lane does the arithmetic of a plain transposed direct form II in `Double`, in the same
/// order; the result is bit-identical to the scalar cascade. Lane `band × channels + channel` holds
/// one band of one channel. The skew between bands exists only inside `run`: it starts and ends
/// with all bands at the same frame.
struct BiquadWavefront<Vector: SIMD> where Vector.Scalar == Double {
  /// Biquads in series.
  static var bandCount: Int { 4 }
  /// Channels side by side.
  static var channelCount: Int { Vector.scalarCount / bandCount }

  private var b0, b1, b2, a1, a2: Vector
  /// The two state variables of each lane.
  var s1 = Vector(repeating: 0)
  var s2 = Vector(repeating: 0)

  init(_ filters: ArraySlice<BiquadCoefficients>) {
    func lanes(_ value: (BiquadCoefficients) -> Double) -> Vector {
      var vector = Vector(repeating: 0)
      for lane in 0..<Vector.scalarCount {
        let band = filters.startIndex + lane / Self.channelCount
        vector[lane] = value(band < filters.endIndex ? filters[band] : .identity)
      }
      return vector
    }
    (b0, b1, b2) = (lanes(\.b0), lanes(\.b1), lanes(\.b2))
    (a1, a2) = (lanes(\.a1), lanes(\.a2))
  }

  /// Runs one band on one frame, in place: the scalar form of a lane, for the ends of a run.
  private mutating func advance(
    _ signal: UnsafeMutablePointer<Double>, band: Int, frame: Int
  ) {
    for channel in 0..<Self.channelCount {
      let lane = band * Self.channelCount + channel
      let position = frame * Self.channelCount + channel
      let x = unsafe signal[position]
      let y = b0[lane] * x + s1[lane]
      s1[lane] = (b1[lane] * x + s2[lane]) - a1[lane] * y
      s2[lane] = b2[lane] * x - a2[lane] * y
      unsafe signal[position] = y
    }
  }

  /// Runs the bands one after another.
  private mutating func runBandByBand(_ signal: UnsafeMutablePointer<Double>, count: Int) {
    for band in 0..<Self.bandCount {
      for frame in 0..<count { unsafe advance(signal, band: band, frame: frame) }
    }
  }

  /// Advances band b to frame 3 − b, where the vector loop takes over.
  private mutating func fill(_ signal: UnsafeMutablePointer<Double>) {
    for band in 0..<Self.bandCount - 1 {
      for frame in 0..<Self.bandCount - 1 - band {
        unsafe advance(signal, band: band, frame: frame)
      }
    }
  }

  /// Advances every band to the end; the vector loop leaves band b at frame count − b.
  private mutating func drain(_ signal: UnsafeMutablePointer<Double>, count: Int) {
    for band in 1..<Self.bandCount {
      for frame in count - band..<count { unsafe advance(signal, band: band, frame: frame) }
    }
  }

  /// Clears states that have decayed below −500 dB, long before they become subnormal and slow.
  mutating func dropRemains() {
    let limit = Vector(repeating: 1e-25)
    s1.replace(with: 0, where: (s1 .< limit) .& (s1 .> 0 - limit))
    s2.replace(with: 0, where: (s2 .< limit) .& (s2 .> 0 - limit))
  }
}

extension BiquadWavefront<SIMD8<Double>> {
  /// Filters `count` frames of two interleaved channels in place.
  mutating func run(_ signal: UnsafeMutablePointer<Double>, count: Int) {
    guard count >= 4 else { return unsafe runBandByBand(signal, count: count) }
    unsafe fill(signal)

    let pairs = UnsafeMutableRawPointer(signal)
    func pair(_ frame: Int) -> SIMD2<Double> {
      unsafe pairs.load(fromByteOffset: frame &<< 4, as: SIMD2<Double>.self)
    }
    func store(_ value: SIMD2<Double>, _ frame: Int) {
      unsafe pairs.storeBytes(of: value, toByteOffset: frame &<< 4, as: SIMD2<Double>.self)
    }
    var s1 = self.s1
    var s2 = self.s2
    let (b0, b1, b2, a1, a2) = (self.b0, self.b1, self.b2, self.a1, self.a2)
    var y = SIMD8(
      lowHalf: SIMD4(lowHalf: pair(2), highHalf: pair(1)),
      highHalf: SIMD4(lowHalf: pair(0), highHalf: pair(0)))
    var frame = 3
    while frame < count {
      let x = SIMD8(
        lowHalf: SIMD4(lowHalf: pair(frame), highHalf: y.lowHalf.lowHalf),
        highHalf: SIMD4(lowHalf: y.lowHalf.highHalf, highHalf: y.highHalf.lowHalf))
      y = b0 * x + s1
      s1 = (b1 * x + s2) - a1 * y
      s2 = b2 * x - a2 * y
      store(y.highHalf.highHalf, frame &- 3)
      frame &+= 1
    }
    self.s1 = s1
    self.s2 = s2
    store(y.lowHalf.lowHalf, count - 1)
    store(y.lowHalf.highHalf, count - 2)
    store(y.highHalf.lowHalf, count - 3)
    unsafe drain(signal, count: count)
  }
}

extension BiquadWavefront<SIMD4<Double>> {
  /// Filters `count` frames of one channel in place.
  mutating func run(_ signal: UnsafeMutablePointer<Double>, count: Int) {
    guard count >= 4 else { return unsafe runBandByBand(signal, count: count) }
    unsafe fill(signal)

    var s1 = self.s1
    var s2 = self.s2
    let (b0, b1, b2, a1, a2) = (self.b0, self.b1, self.b2, self.a1, self.a2)
    var y = unsafe SIMD4(signal[2], signal[1], signal[0], 0)
    var frame = 3
    while frame < count {
      let x = unsafe SIMD4(signal[frame], y.x, y.y, y.z)
      y = b0 * x + s1
      s1 = (b1 * x + s2) - a1 * y
      s2 = b2 * x - a2 * y
      unsafe signal[frame &- 3] = y.w
      frame &+= 1
    }
    self.s1 = s1
    self.s2 = s2
    unsafe signal[count - 1] = y.x
    unsafe signal[count - 2] = y.y
    unsafe signal[count - 3] = y.z
    unsafe drain(signal, count: count)
  }
}

/// One filter of an equalizer.
///
/// The filters are the second-order sections of Robert Bristow-Johnson's "Cookbook formulae for
/// audio equalizer biquad filter coefficients", parametrised by Q.
package struct EqualizerBand: Hashable, Sendable, Codable {
  /// The filter type.
  package enum Shape: String, Hashable, Sendable, Codable, CaseIterable {
    /// A bell of `gain` around the frequency.
    case peak
    /// Gain below the frequency; half of it at the frequency.
    case lowShelf
    /// Gain above the frequency; half of it at the frequency.
    case highShelf
    /// Removes what lies below the frequency, 12 dB an octave.
    case highPass
    /// Removes what lies above the frequency, 12 dB an octave.
    case lowPass
    /// Removes the frequency itself.
    case notch
  }

  package var shape: Shape
  /// The centre or corner; clamped to 0.01 Hz…0.499 of the sample rate.
  package var frequency: Hertz
  /// The gain of peak and shelves; unused by the others. Clamped to ±120 dB.
  package var gain: Decibels
  /// Centre frequency over bandwidth for peak and notch, steepness at the corner for the others
  /// (0.7071 is the steepest without a bump). Clamped to 0.01…1,000.
  package var q: Double

  package init(
    _ shape: Shape, frequency: Hertz, gain: Decibels = Decibels(0), q: Double? = nil
  ) {
    self.shape = shape
    self.frequency = frequency
    self.gain = gain
    self.q = q ?? (shape == .peak ? 1 : 0.5.squareRoot())
  }
}

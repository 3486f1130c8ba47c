/// Four biquads in series on one or two channels, computed side by side: while the first works on
/// sample n, the second works on sample n − 1, and so on, so that a recursion that is serial by
/// nature fills the lanes of a vector.
///
/// A lane does exactly the arithmetic of a plain transposed direct form II in `Double`, in the
/// same order; the result is bit-identical to the scalar cascade. Lane `band × channels + channel`
/// holds one band of one channel. The skew between the bands exists only inside `run`: it starts
/// and ends with all of them at the same frame.
struct BiquadWavefront<Vector: SIMD> where Vector.Scalar == Double {
  /// How many biquads stand in series.
  static var bandCount: Int { 4 }
  /// How many channels run side by side.
  static var channelCount: Int { Vector.scalarCount / bandCount }

  private var b0, b1, b2, a1, a2: Vector
  /// The two state variables of each lane.
  var s1 = Vector(repeating: 0)
  var s2 = Vector(repeating: 0)

  /// The same four filters for each channel; missing ones change nothing.
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

  /// One band's work on one frame, in place: what the lanes do, for the ends of a run.
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

  /// Runs the bands one after the other.
  private mutating func runBandByBand(_ signal: UnsafeMutablePointer<Double>, count: Int) {
    for band in 0..<Self.bandCount {
      for frame in 0..<count { unsafe advance(signal, band: band, frame: frame) }
    }
  }

  /// Brings band b to frame 3 − b, where the vector loop takes over.
  private mutating func fill(_ signal: UnsafeMutablePointer<Double>) {
    for band in 0..<Self.bandCount - 1 {
      for frame in 0..<Self.bandCount - 1 - band {
        unsafe advance(signal, band: band, frame: frame)
      }
    }
  }

  /// Brings every band to the end, after the vector loop left band b at frame count − b.
  private mutating func drain(_ signal: UnsafeMutablePointer<Double>, count: Int) {
    for band in 1..<Self.bandCount {
      for frame in count - band..<count { unsafe advance(signal, band: band, frame: frame) }
    }
  }

  /// Sets states to zero that have decayed below −500 dB, long before they would become
  /// subnormal and slow every operation down.
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

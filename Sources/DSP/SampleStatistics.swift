/// Sums over the samples of one channel, and how many of them are clipped.
struct SampleStatistics: BitwiseCopyable {
  private(set) var sum = 0.0
  private(set) var sumOfSquares = 0.0
  private(set) var clippedSamples = 0
  /// How many samples in a row, up to the last one, reach full scale.
  private var run = 0

  /// The greatest value that 16 bits hold.
  private static let fullScale: Float = 32767.0 / 32768

  /// Takes the next samples; what is no finite number counts as 0.
  mutating func add(_ samples: UnsafePointer<Float>, count: Int) {
    var sums = SIMD4<Double>.zero
    var squares = SIMD4<Double>.zero
    var peak: Float = 0
    var index = 0
    while index &+ 4 <= count {
      let four = unsafe SIMD4(
        FiniteSamples.filtered(samples[index]), FiniteSamples.filtered(samples[index &+ 1]),
        FiniteSamples.filtered(samples[index &+ 2]), FiniteSamples.filtered(samples[index &+ 3]))
      let wide = SIMD4<Double>(four)
      sums += wide
      squares += wide * wide
      peak = max(peak, max(max(four.x, -four.x), max(four.y, -four.y)))
      peak = max(peak, max(max(four.z, -four.z), max(four.w, -four.w)))
      index &+= 4
    }
    while index < count {
      let sample = unsafe FiniteSamples.filtered(samples[index])
      sums.x += Double(sample)
      squares.x += Double(sample) * Double(sample)
      peak = max(peak, sample.magnitude)
      index &+= 1
    }
    sum += sums.sum()
    sumOfSquares += squares.sum()
    unsafe countClipped(samples, count: count, peak: peak)
  }

  private mutating func countClipped(
    _ samples: UnsafePointer<Float>, count: Int, peak: Float
  ) {
    guard peak >= Self.fullScale else {
      if count > 0 { run = 0 }
      return
    }
    for index in 0..<count {
      if unsafe FiniteSamples.filtered(samples[index]).magnitude >= Self.fullScale {
        run += 1
        // The first of a run is known to be clipped when the second comes.
        clippedSamples += run == 1 ? 0 : run == 2 ? 2 : 1
      } else {
        run = 0
      }
    }
  }
}

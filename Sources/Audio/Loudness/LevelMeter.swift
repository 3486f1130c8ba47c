/// Measures all of `Levels` in one pass.
package final class LevelMeter: Analyser {
  private let format: AudioFormat
  private let loudness: R128
  private let peaks: TruePeakMeter
  private var statistics: [SampleStatistics]
  private var frames = Frames.zero

  /// Sound is regrouped into blocks of one size, because sums of floating-point numbers depend on
  /// their grouping.
  private var block: AudioBuffer
  private static let blockSize = Frames(1024)

  /// - Parameter isDualMono: whether the loudness of one channel is that of two speakers.
  package init(format: AudioFormat, isDualMono: Bool = false) {
    self.format = format
    loudness = R128(format: format, isDualMono: isDualMono)
    peaks = TruePeakMeter(format: format)
    statistics = Array(repeating: SampleStatistics(), count: format.channelCount)
    block = AudioBuffer(channelCount: format.channelCount, capacity: Self.blockSize)
  }

  package func analyse(_ input: borrowing AudioBuffer) {
    var start = Frames.zero
    while start < input.frameCount {
      let count = min(Self.blockSize - block.frameCount, input.frameCount - start)
      block.append(contentsOf: input, start: start, count: count)
      start += count
      if block.frameCount == Self.blockSize { measureBlock() }
    }
  }

  private func measureBlock() {
    loudness.add(block)
    peaks.analyse(block)
    for channel in statistics.indices {
      unsafe statistics[channel].add(
        block.baseAddress(ofChannel: channel), count: block.frameCount.count)
    }
    frames += block.frameCount
    block.frameCount = .zero
  }

  /// The levels of all sound; the stream must have ended.
  package func finding() -> Levels {
    measureBlock()
    let peaks = peaks.finding()
    let curve = LoudnessCurve(loudness.history, sampleRate: format.sampleRate)
    let sampleCount = Double(max(frames.count, 1))
    let power =
      statistics.reduce(0) { $0 + $1.sumOfSquares } / sampleCount / Double(format.channelCount)
    return Levels(
      frames: frames, duration: frames.duration(at: format.sampleRate),
      integratedLoudness: curve.integrated, loudnessRange: curve.range,
      maximumMomentary: curve.maximumMomentary, maximumShortTerm: curve.maximumShortTerm,
      truePeak: peaks.truePeak, samplePeak: peaks.samplePeak,
      rms: Decibels(finiteAmplitude: power.squareRoot()),
      offsets: statistics.map { $0.sum / sampleCount },
      clippedSamples: statistics.reduce(0) { $0 + $1.clippedSamples })
  }

  /// The states of all measurements and the pending samples; 8 bytes for every tenth of a second,
  /// and a few kilobytes a channel.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(part: loudness)
    try coder.pass(part: peaks)
    try coder.pass(&statistics)
    try coder.pass(&frames.count, in: 0...)
    var waiting = block.frameCount.count
    try coder.pass(&waiting, in: 0..<Self.blockSize.count)
    block.frameCount = Frames(waiting)
    for channel in 0..<format.channelCount {
      unsafe try coder.pass(samples: block.baseAddress(ofChannel: channel), count: waiting)
    }
  }
}

/// Sums over the samples of one channel, and how many of them are clipped.
struct SampleStatistics: BitwiseCopyable {
  private(set) var sum = 0.0
  private(set) var sumOfSquares = 0.0
  private(set) var clippedSamples = 0
  /// The length of the current run of samples at full scale.
  private var run = 0

  /// The greatest 16-bit value.
  private static let fullScale: Float = 32767.0 / 32768

  /// Adds samples; damaged ones count as 0.
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
        // The first sample of a run counts as clipped when the second arrives.
        clippedSamples += run == 1 ? 0 : run == 2 ? 2 : 1
      } else {
        run = 0
      }
    }
  }
}

/// Level statistics of a stretch of sound. No field is infinite or NaN: figures undefined for
/// silence are nil.
package struct Levels: Hashable, Sendable, Codable {
  package var frames: Frames
  /// Their duration.
  package var duration: Seconds
  /// The integrated loudness of EBU R 128; nil for silence and for less than 400 ms of sound.
  package var integratedLoudness: LUFS?
  /// The loudness range of EBU Tech 3342, in LU; nil where there is no integrated loudness.
  package var loudnessRange: Decibels?
  /// The loudest momentary loudness, over 400 ms (EBU Tech 3341); nil where there is none.
  package var maximumMomentary: LUFS?
  /// The loudest short-term loudness, over 3 s (EBU Tech 3341); nil where there is none.
  package var maximumShortTerm: LUFS?
  /// The peak of the wave between samples, in dBTP; nil for silence.
  package var truePeak: Decibels?
  /// The greatest |sample|, in dBFS; nil for silence.
  package var samplePeak: Decibels?
  /// The root mean square over all samples of all channels, in dB relative to a sample of 1 (a
  /// full-scale sine has −3.01); nil for silence.
  package var rms: Decibels?
  /// The mean of each channel's samples; full scale is 1.
  package var offsets: [Double]
  /// The number of clipped samples: those in runs of two or more in one channel that reach full
  /// scale, 32767/32768, the greatest 16-bit value.
  package var clippedSamples: Int
}

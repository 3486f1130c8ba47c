/// A linear-phase polyphase resampler with exact rational phases, so that timing never drifts.
///
/// The first frame stays at time 0, and the output has as many frames as begin before the sound's
/// end. Taps are 32-bit, and sums use eight parallel lanes, so that the rounding error is at most
/// −135 dB.
package final class Resampler: Processor {
  /// Steepness and attenuation of the filter, which determine its length and cost.
  package struct Quality: Hashable, Sendable {
    /// The share of the band, up to half the lower rate, that passes unchanged: 0.5…0.98.
    package var bandwidth: Double
    /// The attenuation of aliases and images, in dB: 60…160.
    package var attenuation: Double

    /// For previews: 100 dB, and 80 % of the band.
    package static let quick = Quality(bandwidth: 0.8, attenuation: 100)
    /// For publishing: 125 dB, and 20 kHz at 44.1 kHz.
    package static let high = Quality(bandwidth: 0.91, attenuation: 125)
    /// For archiving: 150 dB, and 95 % of the band.
    package static let best = Quality(bandwidth: 0.95, attenuation: 150)
  }

  package let outputFormat: AudioFormat
  /// Half the filter, in output frames.
  package var latency: Frames { Frames(outputCount(reach) + 1) }

  /// The ratio of the rates in lowest terms, output : input.
  private let (up, down): (Int, Int)
  private let reach: Int
  private let bank: PolyphaseBank

  /// For each channel, the samples still needed, followed by the new ones.
  private var rows: SampleRows
  /// The start of the next output frame's window in the rows, and its phase in units of 1 / `up`.
  private var (window, phase) = (0, 0)
  /// Frames taken and frames returned.
  private var (taken, given) = (0, 0)
  private static let chunk = 1024

  /// Resamples from the rate of `format` to `sampleRate`; both are rounded to whole hertz.
  package init(to sampleRate: Hertz, quality: Quality = .high, format: AudioFormat) {
    let output = max(1, Int(sampleRate.value.rounded()))
    let input = max(1, Int(format.sampleRate.value.rounded()))
    let divisor = Resampler.greatestCommonDivisor(output, input)
    (up, down) = (output / divisor, input / divisor)
    let filter = KaiserSinc(
      inputRate: Double(input), outputRate: Double(output),
      bandwidth: min(max(quality.bandwidth, 0.5), 0.98),
      attenuation: min(max(quality.attenuation, 60), 160))
    reach = filter.reach
    bank = PolyphaseBank(filter, phaseCount: up)
    outputFormat = format.at(Hertz(Double(output)))
    rows = SampleRows(
      channelCount: format.channelCount, length: 2 * reach + Self.chunk + down / up + 1,
      count: reach - 1)
  }

  private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
    b == 0 ? a : greatestCommonDivisor(b, a % b)
  }

  /// The number of output frames that begin before the end of `input` frames.
  private func outputCount(_ input: Int) -> Int { (input * up + down - 1) / down }

  /// The output length of a sound between these rates.
  package static func length(of input: Frames, from old: Hertz, to new: Hertz) -> Frames {
    let (old, new) = (Int(old.value.rounded()), Int(new.value.rounded()))
    return Frames((input.count * new + old - 1) / old)
  }

  /// The input at the new rate, plus half the filter.
  package func capacity(for input: Frames) -> Frames {
    Frames(outputCount(input.count + reach) + 2)
  }

  /// The input at the new rate.
  package func blockCapacity(for input: Frames) -> Frames { Frames(outputCount(input.count) + 2) }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = rows.append(input, from: start, atMost: Self.chunk)
      taken += count
      start += count
      give(.max, to: &output)
    }
  }

  /// Returns the frames whose windows reach beyond the sound's end.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    let total = outputCount(taken)
    while given < total {
      rows.appendSilence(Self.chunk)
      give(total - given, to: &output)
    }
  }

  /// Returns every frame with a complete window, at most `limit`, and drops samples that no window
  /// needs.
  private func give(_ limit: Int, to output: inout AudioBuffer) {
    let width = 2 * reach
    let (wholes, rest) = down.quotientAndRemainder(dividingBy: up)
    let begin = output.frameCount.count
    let room = rows.count - width
    // Window and phase after n more frames are known in advance, and thus how many there are.
    let ready = window > room ? 0 : ((room - window + 1) * up - phase + down - 1) / down
    let count = min(ready, limit)
    output.frameCount += Frames(count)
    var (end, endPhase) = (window, phase)
    var channel = 0
    while channel < output.channelCount {
      (end, endPhase) = (window, phase)
      let isPair = channel + 1 < output.channelCount
      let first = unsafe rows[channel]
      let second = unsafe isPair ? rows[channel + 1] : first
      let a = unsafe output.baseAddress(ofChannel: channel) + begin
      let b = unsafe output.baseAddress(ofChannel: isPair ? channel + 1 : channel) + begin
      for index in 0..<count {
        if isPair {
          let pair = unsafe bank.pair(first + end, second + end, phase: endPhase)
          unsafe a[index] = pair.x
          unsafe b[index] = pair.y
        } else {
          unsafe a[index] = bank.point(first + end, phase: endPhase)
        }
        end &+= wholes
        endPhase &+= rest
        if endPhase >= up {
          endPhase &-= up
          end &+= 1
        }
      }
      channel += 2
    }
    given += count
    let shift = min(end, rows.count)
    rows.drop(shift)
    (window, phase) = (end - shift, endPhase)
  }

  /// The filter's history: 4 bytes a sample.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&taken, in: 0...)
    try coder.pass(&given, in: 0...)
    try coder.pass(&window, in: 0...rows.length)
    try coder.pass(&phase, in: 0..<up)
    var filled = rows.count
    try coder.pass(&filled, in: 0...rows.length - Self.chunk)
    try rows.code(&coder, count: filled)
  }
}

/// The taps of a filter for all phases of a rate conversion, and the dot products.
///
/// Rates with a large common divisor need few phases, each with its own taps. Otherwise taps are
/// interpolated linearly between 4096 phases; the error is (π/4096)²/8, −142 dB.
struct PolyphaseBank: ~Copyable {
  private static let exactPhases = 4096

  private let width: Int
  private let taps: Scratch<Float>
  /// Phases a sample, in the table.
  private let rowCount: Int
  private let phaseCount: Int
  private let isExact: Bool

  /// The taps for every `phaseCount`-th of a sample.
  init(_ filter: KaiserSinc, phaseCount: Int) {
    width = 2 * filter.reach
    self.phaseCount = phaseCount
    isExact = phaseCount <= Self.exactPhases
    rowCount = min(phaseCount, Self.exactPhases)
    // The row behind the last is that of the next sample.
    taps = Scratch(repeating: 0, count: width * (rowCount + 1))
    for row in 0...rowCount {
      for (index, tap) in filter.taps(Double(row) / Double(rowCount)).enumerated() {
        taps[row * width + index] = Float(tap)
      }
    }
  }

  /// The value at a phase of the window that begins at `samples`.
  @inline(__always)
  func point(_ samples: UnsafePointer<Float>, phase: Int) -> Float {
    if isExact { return unsafe sum(samples, row: phase) }
    let (row, share) = place(phase)
    let low = unsafe sum(samples, row: row)
    return low + (unsafe sum(samples, row: row &+ 1) - low) * share
  }

  /// The values of two channels at a phase.
  @inline(__always)
  func pair(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, phase: Int
  ) -> SIMD2<Float> {
    if isExact { return unsafe sums(a, b, row: phase) }
    let (row, share) = place(phase)
    let low = unsafe sums(a, b, row: row)
    return low + (unsafe sums(a, b, row: row &+ 1) - low) * share
  }

  /// The row before a phase, and the distance to the next row.
  @inline(__always)
  private func place(_ phase: Int) -> (row: Int, share: Float) {
    let (row, rest) = (phase &* rowCount).quotientAndRemainder(dividingBy: phaseCount)
    return (row, Float(rest) / Float(phaseCount))
  }

  @inline(__always)
  private func sum(_ samples: UnsafePointer<Float>, row: Int) -> Float {
    let taps = unsafe UnsafeRawPointer(self.taps.start + row &* width)
    let samples = unsafe UnsafeRawPointer(samples)
    var sum = SIMD16<Float>()
    var offset = 0
    while offset < width &* 4 {
      sum +=
        unsafe (taps + offset).loadUnaligned(as: SIMD16<Float>.self)
        * (samples + offset).loadUnaligned(as: SIMD16<Float>.self)
      offset &+= 64
    }
    return PolyphaseBank.total(sum)
  }

  @inline(__always)
  private func sums(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, row: Int
  ) -> SIMD2<Float> {
    let taps = unsafe UnsafeRawPointer(self.taps.start + row &* width)
    let (a, b) = unsafe (UnsafeRawPointer(a), UnsafeRawPointer(b))
    var (sumA, sumB) = (SIMD16<Float>(), SIMD16<Float>())
    var offset = 0
    while offset < width &* 4 {
      let tap = unsafe (taps + offset).loadUnaligned(as: SIMD16<Float>.self)
      sumA += unsafe tap * (a + offset).loadUnaligned(as: SIMD16<Float>.self)
      sumB += unsafe tap * (b + offset).loadUnaligned(as: SIMD16<Float>.self)
      offset &+= 64
    }
    return SIMD2(PolyphaseBank.total(sumA), PolyphaseBank.total(sumB))
  }

  /// The sum of all lanes, halves first.
  @inline(__always)
  private static func total(_ lanes: SIMD16<Float>) -> Float {
    let eight = lanes.lowHalf + lanes.highHalf
    let four = eight.lowHalf + eight.highHalf
    let two = four.lowHalf + four.highHalf
    return two[0] + two[1]
  }
}

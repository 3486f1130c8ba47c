public import AudioModel

/// Shapes the spectrum with any number of second-order filters in series.
///
/// Samples are filtered in `Double` from the first band to the last and rounded once. The cost is
/// proportional to channels × bands, in steps of four bands and two channels.
public final class Equalizer: Processor {
  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// Nothing is held back.
  public var latency: Frames { .zero }

  private typealias Pair = BiquadWavefront<SIMD8<Double>>
  private typealias Single = BiquadWavefront<SIMD4<Double>>

  /// How many wavefronts stand in series: a quarter of the bands.
  private let depth: Int
  /// For every two channels, the wavefronts in series.
  private var pairs: [Pair]
  /// For the last channel of an odd count, the wavefronts in series.
  private var singles: [Single]

  /// Filter states are looked after on a fixed grid, because the result must not depend on how
  /// the sound was cut: this many frames apart.
  private static let grid = 256
  /// How many frames of the current grid cell are done.
  private var phase = 0
  private let work = Scratch<Double>(repeating: 0, count: 2 * grid)

  /// Filters in the order of `bands`; none at all let the sound through as it is.
  public convenience init(bands: [EqualizerBand], format: AudioFormat) {
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

  /// Filters a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
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

  /// Filters frames within one cell of the grid.
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

  /// Gives nothing: nothing was held back.
  public func finish(into output: inout AudioBuffer) { output.frameCount = .zero }

  /// The state of every filter.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(phase)
    for pair in pairs {
      snapshot.append(pair.s1)
      snapshot.append(pair.s2)
    }
    for single in singles {
      snapshot.append(single.s1)
      snapshot.append(single.s2)
    }
    return snapshot
  }

  /// Takes over the states of an equalizer with as many bands and channels.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let phase = try reader.next(Int.self)
    guard (0..<Self.grid).contains(phase) else { throw SnapshotError() }
    var (pairs, singles) = (pairs, singles)
    for index in pairs.indices {
      pairs[index].s1 = try reader.next(SIMD8<Double>.self)
      pairs[index].s2 = try reader.next(SIMD8<Double>.self)
    }
    for index in singles.indices {
      singles[index].s1 = try reader.next(SIMD4<Double>.self)
      singles[index].s2 = try reader.next(SIMD4<Double>.self)
    }
    try reader.finish()
    (self.phase, self.pairs, self.singles) = (phase, pairs, singles)
  }
}

public import AudioModel

/// Changes the sample rate: a polyphase filter with exact rational phases, so that the new samples
/// lie exactly where they belong however long the sound is, with linear phase.
///
/// The first frame stays where it was, at time 0, and as many frames come out as begin before the
/// sound's end. The taps are 32-bit, and the sums of eight parallel lanes, so that the error of
/// rounding stays 135 dB below the signal or lower.
public final class Resampler: Processor {
  /// How steep and how clean the filter is; both decide on its length, and that on its cost.
  public struct Quality: Hashable, Sendable {
    /// The part of the band, up to half the lower rate, that comes through unchanged: 0.5…0.98.
    public var bandwidth: Double
    /// By how many decibels is attenuated what has no place at the new rate: 60…160.
    public var attenuation: Double

    /// Describes a quality.
    public init(bandwidth: Double, attenuation: Double) {
      self.bandwidth = bandwidth
      self.attenuation = attenuation
    }

    /// For listening through: 100 dB, and 80 % of the band.
    public static let quick = Quality(bandwidth: 0.8, attenuation: 100)
    /// For publishing: 125 dB, and 20 kHz at 44.1 kHz.
    public static let high = Quality(bandwidth: 0.91, attenuation: 125)
    /// For keeping: 150 dB, and 95 % of the band.
    public static let best = Quality(bandwidth: 0.95, attenuation: 150)
  }

  /// What comes out: the new rate.
  public let outputFormat: AudioFormat
  /// Half the filter, in frames of the output.
  public var latency: Frames { Frames(outputCount(reach) + 1) }

  /// The rates' ratio in lowest terms: output : input.
  private let (up, down): (Int, Int)
  private let reach: Int
  private let bank: PolyphaseBank

  /// For each channel the samples that are still needed, and behind them those that came since.
  private let rows: Scratch<Float>
  private let rowLength: Int
  private var filled: Int
  /// Where in the rows the next output frame's window begins, and its phase in parts of `up`.
  private var (window, phase) = (0, 0)
  /// Frames taken and frames given.
  private var (taken, given) = (0, 0)
  private static let chunk = 1024

  /// A resampler from the rate of `format` to `sampleRate`, both taken as whole numbers of hertz.
  public init(to sampleRate: Hertz, quality: Quality = .high, format: AudioFormat) {
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
    outputFormat = AudioFormat(
      sampleRate: Hertz(Double(output)), channelCount: format.channelCount)
    rowLength = 2 * reach + Self.chunk + down / up + 1
    rows = Scratch(repeating: 0, count: rowLength * format.channelCount)
    filled = reach - 1
  }

  private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
    b == 0 ? a : greatestCommonDivisor(b, a % b)
  }

  /// How many frames `input` frames become: those that begin before its end.
  private func outputCount(_ input: Int) -> Int { (input * up + down - 1) / down }

  /// How many frames a sound of this length becomes, between these rates.
  public static func length(of input: Frames, from old: Hertz, to new: Hertz) -> Frames {
    let (old, new) = (Int(old.value.rounded()), Int(new.value.rounded()))
    return Frames((input.count * new + old - 1) / old)
  }

  /// What comes in at the new rate, and half the filter.
  public func capacity(for input: Frames) -> Frames {
    Frames(outputCount(input.count + reach) + 2)
  }

  /// What comes in at the new rate.
  public func blockCapacity(for input: Frames) -> Frames { Frames(outputCount(input.count) + 2) }

  /// Resamples a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = min(Self.chunk, input.frameCount.count - start)
      for channel in 0..<output.channelCount {
        unsafe FiniteSamples.copy(
          from: input.baseAddress(ofChannel: channel) + start, to: row(channel) + filled,
          count: count)
      }
      filled += count
      taken += count
      start += count
      give(.max, to: &output)
    }
  }

  /// Gives the frames whose windows reach beyond the sound's end.
  public func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    let total = outputCount(taken)
    while given < total {
      for channel in 0..<output.channelCount {
        unsafe (row(channel) + filled).update(repeating: 0, count: Self.chunk)
      }
      filled += Self.chunk
      give(total - given, to: &output)
    }
  }

  @inline(__always)
  private func row(_ channel: Int) -> UnsafeMutablePointer<Float> {
    unsafe rows.start + channel * rowLength
  }

  /// Gives every frame whose window is there, at most `limit`, and forgets what no window needs.
  private func give(_ limit: Int, to output: inout AudioBuffer) {
    let width = 2 * reach
    let (wholes, rest) = down.quotientAndRemainder(dividingBy: up)
    let begin = output.frameCount.count
    let room = filled - width
    // Window and phase after n more frames are known beforehand: so is how many there are.
    let ready = window > room ? 0 : ((room - window + 1) * up - phase + down - 1) / down
    let count = min(ready, limit)
    output.frameCount += Frames(count)
    var (end, endPhase) = (window, phase)
    var channel = 0
    while channel < output.channelCount {
      (end, endPhase) = (window, phase)
      let isPair = channel + 1 < output.channelCount
      let first = unsafe row(channel)
      let second = unsafe isPair ? row(channel + 1) : first
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
    let shift = min(end, filled)
    for channel in 0..<output.channelCount {
      unsafe row(channel).update(from: row(channel) + shift, count: filled - shift)
    }
    filled -= shift
    (window, phase) = (end - shift, endPhase)
  }
}

extension Resampler {
  /// The filter's past: 4 bytes a sample.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    for number in [taken, given, window, phase, filled] { snapshot.append(number) }
    for channel in 0..<outputFormat.channelCount {
      unsafe snapshot.append(samples: row(channel), count: filled)
    }
    return snapshot
  }

  /// Takes over the past of a resampler for the same rates and quality.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let taken = try reader.next(Int.self)
    let given = try reader.next(Int.self)
    let window = try reader.next(Int.self)
    let phase = try reader.next(Int.self)
    let filled = try reader.next(Int.self)
    guard taken >= 0, given >= 0, (0...rowLength).contains(window), (0..<up).contains(phase),
      (0...rowLength - Self.chunk).contains(filled),
      reader.remainingByteCount == 4 * filled * outputFormat.channelCount
    else { throw SnapshotError() }
    for channel in 0..<outputFormat.channelCount {
      unsafe try reader.read(filled, into: row(channel))
    }
    try reader.finish()
    (self.taken, self.given, self.window, self.phase) = (taken, given, window, phase)
    self.filled = filled
  }
}

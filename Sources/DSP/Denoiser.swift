public import AudioModel
import Glibc

/// Turns steady noise down wherever little else is heard, frequency by frequency.
///
/// Pieces of 43 ms, three quarters overlapping, go through a Fourier transform, a Wiener gain for
/// each bin, and back. Two channels make one complex transform.
public final class Denoiser: Processor {
  /// How a denoiser behaves.
  public struct Settings: Hashable, Sendable {
    /// How far noise is turned down at most; taken within 0…60 dB. What is left masks what the
    /// filter does to it.
    public var reduction: Decibels
    /// How many dB the noise is taken to be above its profile: more takes more noise out, and more
    /// of the sound with it. Taken within −20…20 dB.
    public var margin: Decibels

    /// Describes a denoiser.
    public init(reduction: Decibels = Decibels(12), margin: Decibels = Decibels(3)) {
      self.reduction = reduction
      self.margin = margin
    }
  }

  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// A piece.
  public var latency: Frames { Frames(window.length) }

  private let window: SpectralWindow
  private let transform: FourierTransform
  private let gain: WienerGain
  private let shape: Scratch<Float>
  /// One over the noise of each bin of each channel; four more, so that vectors may read beyond.
  private let inverseNoise: Scratch<Float>
  /// What is left of each bin of the last piece, over the noise.
  private let past: Scratch<Float>
  /// The transform of a pair of channels, and the first bin once more behind the last.
  private let real, imaginary: Scratch<Float>
  /// For each channel the newest piece, and the sum of the pieces that are not yet whole.
  private let rows, sums: Scratch<Float>
  private let pairCount: Int
  private let rowStride: Int
  private var filled: Int
  /// Frames still to be dropped at the head: what the first pieces have before the sound begins.
  private var leading: Int
  /// Frames that were taken and not yet given.
  private var pending = 0

  /// A denoiser that has heard nothing. A profile of another sample rate or with fewer channels
  /// than the sound has takes nothing out where it does not fit.
  public init(_ settings: Settings, noise: NoiseProfile, format: AudioFormat) {
    outputFormat = format
    window = SpectralWindow(sampleRate: format.sampleRate)
    let window = window
    transform = FourierTransform(count: window.length)
    shape = Scratch(repeating: 0, count: window.length)
    window.fill(shape)
    let reduction = Decibels(-min(max(settings.reduction.value, 0), 60))
    gain = WienerGain(floor: Float(reduction.amplitude))
    pairCount = (format.channelCount + 1) / 2
    rowStride = window.length / 2 + 4
    inverseNoise = Scratch(repeating: 1e12, count: 2 * pairCount * rowStride)
    past = Scratch(repeating: 0, count: 2 * pairCount * rowStride)
    real = Scratch(repeating: 0, count: window.length + 4)
    imaginary = Scratch(repeating: 0, count: window.length + 4)
    rows = Scratch(repeating: 0, count: window.length * format.channelCount)
    sums = Scratch(repeating: 0, count: window.length * format.channelCount)
    filled = window.length - window.hop
    leading = window.length - window.hop
    let raised = Decibels(min(max(settings.margin.value, -20), 20)).amplitude
    for (channel, spectrum) in noise.spectra.prefix(format.channelCount).enumerated()
    where spectrum.count == window.binCount {
      for (bin, power) in spectrum.enumerated() {
        let inverse = 1 / (max(power, 1e-20) * Float(raised * raised))
        inverseNoise[channel * rowStride + bin] = inverse.isFinite ? inverse : 1e12
      }
    }
  }

  /// Denoises a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = min(window.length - filled, input.frameCount.count - start)
      for channel in 0..<outputFormat.channelCount {
        unsafe FiniteSamples.copy(
          from: input.baseAddress(ofChannel: channel) + start,
          to: rows.start + (channel * window.length + filled), count: count)
      }
      start += count
      filled += count
      pending += count
      if filled == window.length { treatPiece(&output) }
    }
  }

  /// Gives what was held back, as if silence followed.
  public func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    while pending > 0 {
      for channel in 0..<outputFormat.channelCount {
        let row = unsafe rows.start + channel * window.length
        unsafe (row + filled).update(repeating: 0, count: window.length - filled)
      }
      filled = window.length
      treatPiece(&output)
    }
  }
}

extension Denoiser {
  /// A piece is full: adds what becomes of it, and gives the frames that no later piece reaches.
  private func treatPiece(_ output: inout AudioBuffer) {
    for pair in 0..<pairCount { treatPair(pair) }
    let isGiven = leading == 0
    if !isGiven { leading -= window.hop }
    let count = isGiven ? min(window.hop, pending) : 0
    pending -= count
    let offset = output.frameCount.count
    output.frameCount += Frames(count)
    let rest = window.length - window.hop
    for channel in 0..<outputFormat.channelCount {
      let row = unsafe rows.start + channel * window.length
      let sum = unsafe sums.start + channel * window.length
      unsafe (output.baseAddress(ofChannel: channel) + offset).update(from: sum, count: count)
      unsafe row.update(from: row + window.hop, count: rest)
      unsafe sum.update(from: sum + window.hop, count: rest)
      unsafe (sum + rest).update(repeating: 0, count: window.hop)
    }
    filled = rest
  }

  private func treatPair(_ pair: Int) {
    let length = window.length
    let hasRight = 2 * pair + 1 < outputFormat.channelCount
    let left = unsafe rows.start + 2 * pair * length
    for index in 0..<length { unsafe real.start[index] = left[index] * shape.start[index] }
    if hasRight {
      let right = unsafe left + length
      for index in 0..<length { unsafe imaginary.start[index] = right[index] * shape.start[index] }
    } else {
      unsafe imaginary.start.update(repeating: 0, count: length)
    }
    unsafe transform.transform(real.start, imaginary.start)
    let row = 2 * pair * rowStride
    unsafe PairedSpectra.scale(
      (real.start, imaginary.start), length: length, by: gain,
      left: (inverseNoise.start + row, past.start + row),
      right: (inverseNoise.start + (row + rowStride), past.start + (row + rowStride)))
    // The inverse, by exchanging the parts.
    unsafe transform.transform(imaginary.start, real.start)
    // Squares of the window add up to 2; and a transform and its inverse, to its length.
    let scale = 0.5 / Float(length)
    let leftSum = unsafe sums.start + 2 * pair * length
    for index in 0..<length {
      unsafe leftSum[index] += real.start[index] * (shape.start[index] * scale)
    }
    guard hasRight else { return }
    let rightSum = unsafe leftSum + length
    for index in 0..<length {
      unsafe rightSum[index] += imaginary.start[index] * (shape.start[index] * scale)
    }
  }
}

extension Denoiser {
  /// The newest piece, the sums that are not yet whole, and what was left of the last piece.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(filled)
    snapshot.append(leading)
    snapshot.append(pending)
    for index in 0..<rows.count { snapshot.append(rows[index]) }
    for index in 0..<sums.count { snapshot.append(sums[index]) }
    for index in 0..<past.count { snapshot.append(past[index]) }
    return snapshot
  }

  /// Takes over the state of a denoiser with the same settings and profile.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    filled = try reader.next(Int.self)
    leading = try reader.next(Int.self)
    pending = try reader.next(Int.self)
    guard (window.length - window.hop..<window.length).contains(filled), leading >= 0,
      (0...window.length).contains(pending)
    else { throw SnapshotError() }
    for index in 0..<rows.count { rows[index] = try reader.next(Float.self) }
    for index in 0..<sums.count { sums[index] = try reader.next(Float.self) }
    for index in 0..<past.count { past[index] = try reader.next(Float.self) }
    try reader.finish()
  }
}

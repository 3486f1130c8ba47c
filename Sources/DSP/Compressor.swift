public import AudioModel

/// Makes loud passages quieter by a ratio, with a soft knee.
///
/// The design is the feed-forward compressor of Giannoulis, Massberg and Reiss, "Digital Dynamic
/// Range Compressor Design" (JAES 60, 2012): the level of each frame (greatest |sample| of all
/// channels) goes through the static curve in decibels, and the resulting gain reduction through
/// a smooth branching detector. Below the knee, with no make-up gain, it is bit-transparent.
public final class Compressor: Processor {
  /// How a compressor behaves.
  public struct Settings: Hashable, Sendable {
    /// The level of a sample, relative to full scale, from which the gain is reduced.
    public var threshold: Decibels
    /// How many decibels more at the input give one more at the output, at least 1; infinite for
    /// none at all.
    public var ratio: Double
    /// The width of the bend around the threshold, half on each side; 0 is a hard corner.
    public var knee: Decibels
    /// The time constant with which the reduction, in dB, grows; none follows at once.
    public var attack: Seconds
    /// The time constant with which the reduction, in dB, shrinks; none follows at once.
    public var release: Seconds
    /// A fixed gain afterwards; taken within ±200 dB.
    public var makeUp: Decibels

    /// Describes a compressor.
    public init(
      threshold: Decibels, ratio: Double, knee: Decibels, attack: Seconds, release: Seconds,
      makeUp: Decibels = Decibels(0)
    ) {
      self.threshold = threshold
      self.ratio = ratio
      self.knee = knee
      self.attack = attack
      self.release = release
      self.makeUp = makeUp
    }
  }

  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// Nothing is held back.
  public var latency: Frames { .zero }

  private let curve: CompressionCurve
  private let smoothing: BranchingSmoother
  private let makeUp: Float
  /// The gain reduction after the last frame, in dB.
  private var reduction = 0.0

  private static let chunk = 256
  private let work = Scratch<Float>(repeating: 0, count: chunk)

  /// A compressor at rest.
  public init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    curve = CompressionCurve(settings)
    smoothing = BranchingSmoother(
      attack: TimeConstant.step(settings.attack, at: format.sampleRate),
      release: TimeConstant.step(settings.release, at: format.sampleRate))
    makeUp = Float(min(max(settings.makeUp.value, -200), 200))
  }

  /// Compresses a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    FiniteSamples.copy(input, into: &output)
    let values = unsafe work.start
    for start in stride(from: 0, to: output.frameCount.count, by: Self.chunk) {
      let count = min(Self.chunk, output.frameCount.count - start)
      unsafe LinkedLevel.measure(output, start: start, count: count, into: values)
      unsafe curve.replaceLevelsByReductions(values, count: count)
      reduction = unsafe smoothing.smooth(values, count: count, from: reduction)
      unsafe replaceReductionsByGains(values, count: count)
      for channel in 0..<output.channelCount {
        let samples = unsafe output.baseAddress(ofChannel: channel) + start
        for index in 0..<count { unsafe samples[index] *= values[index] }
      }
    }
  }

  /// From decibels to amplitude ratios, eight at a time. The last eight may reach beyond `count`,
  /// which the room in `work` allows.
  @inline(__always)
  private func replaceReductionsByGains(_ values: UnsafeMutablePointer<Float>, count: Int) {
    let makeUp = SIMD8<Float>(repeating: self.makeUp)
    // log₂ 10 / 20: decibels to octaves of amplitude.
    let scale = SIMD8<Float>(repeating: 0.166_096_405)
    let limit = SIMD8<Float>(repeating: 126)
    var index = 0
    while index < count {
      let octaves = unsafe (makeUp - LinkedLevel.load(values + index)) * scale
      let inside = LinkedLevel.greater(LinkedLevel.lesser(octaves, limit), 0 - limit)
      unsafe LinkedLevel.store(BinaryLogarithm.exp2(inside), at: values + index)
      index &+= 8
    }
  }

  /// Gives nothing: nothing was held back.
  public func finish(into output: inout AudioBuffer) { output.frameCount = .zero }

  /// The gain reduction.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(reduction)
    return snapshot
  }

  /// Takes over the gain reduction of another compressor.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let reduction = try reader.next(Double.self)
    try reader.finish()
    self.reduction = reduction
  }
}

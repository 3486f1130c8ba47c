public import AudioModel

/// Measures everything of `Levels` in one pass.
public final class LevelMeter: Analyser {
  private let format: AudioFormat
  private let loudness: R128
  private let peaks: TruePeakMeter
  private var statistics: [SampleStatistics]
  private var frames = Frames.zero

  /// Sound is gathered into blocks of one size: sums of floating-point numbers depend on how they
  /// are grouped, and the finding must not depend on how the sound was cut.
  private var block: AudioBuffer
  private static let blockSize = Frames(1024)

  /// A meter for sound of `format`.
  public init(format: AudioFormat) {
    self.format = format
    loudness = R128(.integratedAndRange, format: format)
    peaks = TruePeakMeter(format: format)
    statistics = Array(repeating: SampleStatistics(), count: format.channelCount)
    block = AudioBuffer(channelCount: format.channelCount, capacity: Self.blockSize)
  }

  /// Listens to the next block.
  public func analyse(_ input: borrowing AudioBuffer) {
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

  /// The levels of everything heard; the sound must be over.
  public func finding() -> Levels {
    measureBlock()
    let peaks = peaks.finding()
    let sampleCount = Double(max(frames.count, 1))
    let power =
      statistics.reduce(0) { $0 + $1.sumOfSquares } / sampleCount / Double(format.channelCount)
    return Levels(
      frames: frames, duration: frames.duration(at: format.sampleRate),
      integratedLoudness: loudness.integrated(), loudnessRange: loudness.range(),
      truePeak: peaks.truePeak, samplePeak: peaks.samplePeak,
      rms: Decibels(finiteAmplitude: power.squareRoot()),
      offsets: statistics.map { $0.sum / sampleCount },
      clippedSamples: statistics.reduce(0) { $0 + $1.clippedSamples })
  }
}

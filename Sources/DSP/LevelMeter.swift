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
    loudness = R128(format: format)
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
}

extension LevelMeter {
  /// The states of all measurements, and the samples that wait for their block to be full; 8 bytes
  /// for every tenth of a second, and a few kilobytes for each channel.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(loudness.snapshot)
    snapshot.append(peaks.snapshot)
    snapshot.append(contentsOf: statistics)
    snapshot.append(frames.count)
    snapshot.append(block.frameCount.count)
    for channel in 0..<format.channelCount {
      let samples = block.channel(channel)
      for index in samples.indices { snapshot.append(samples[index]) }
    }
    return snapshot
  }

  /// Takes over the state of a meter for the same format.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let loudness = try reader.nextPart()
    let peaks = try reader.nextPart()
    let statistics = try reader.next(SampleStatistics.self, count: format.channelCount)
    let frames = try reader.next(Int.self)
    let waiting = try reader.next(Int.self)
    guard frames >= 0, (0..<Self.blockSize.count).contains(waiting) else { throw SnapshotError() }
    var channels: [[Float]] = []
    for _ in 0..<format.channelCount {
      channels.append(try reader.next(Float.self, count: waiting))
    }
    try reader.finish()
    try self.loudness.restore(loudness)
    try self.peaks.restore(peaks)
    self.statistics = statistics
    self.frames = Frames(frames)
    block.frameCount = Frames(waiting)
    for (channel, samples) in channels.enumerated() {
      var target = block.mutableChannel(channel)
      for (index, sample) in samples.enumerated() { target[index] = sample }
    }
  }
}

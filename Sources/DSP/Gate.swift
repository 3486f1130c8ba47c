public import AudioModel

/// Turns the sound down while nobody speaks: it opens when the level reaches the threshold, stays
/// open for the hold time after the last such frame, and closes to the range.
///
/// The level is the greatest |sample| of all channels (one gain for all). The gain, as an
/// amplitude ratio, approaches its goal exponentially with attack and release as time constants;
/// a closing gate thus falls by 8.7 dB each release time until it nears the range. An open gate
/// is bit-transparent.
public final class Gate: Processor {
  /// How a gate behaves.
  public struct Settings: Hashable, Sendable {
    /// The level of a sample, relative to full scale, that opens the gate.
    public var threshold: Decibels
    /// The time constant of opening; none opens at once.
    public var attack: Seconds
    /// How long the gate stays open after the last frame at the threshold.
    public var hold: Seconds
    /// The time constant of closing; none closes at once.
    public var release: Seconds
    /// The gain of the closed gate, negative; taken within −200…0 dB.
    public var range: Decibels

    /// Describes a gate.
    public init(
      threshold: Decibels, attack: Seconds, hold: Seconds, release: Seconds,
      range: Decibels = Decibels(-80)
    ) {
      self.threshold = threshold
      self.attack = attack
      self.hold = hold
      self.release = release
      self.range = range
    }
  }

  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// Nothing is held back.
  public var latency: Frames { .zero }

  private let threshold: Float
  private let closedGain: Double
  private let attackStep: Double
  private let releaseStep: Double
  private let holdFrames: Int

  private var gain: Double
  /// For how many frames more the gate is open even if no sample reaches the threshold.
  private var openFrames = 0

  private static let chunk = 512
  private static let group = 64
  private let levels = Scratch<Float>(repeating: 0, count: chunk)

  /// A closed gate.
  public init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    threshold = Float(settings.threshold.amplitude)
    closedGain = Decibels(min(max(settings.range.value, -200), 0)).amplitude
    attackStep = TimeConstant.step(settings.attack, at: format.sampleRate)
    releaseStep = TimeConstant.step(settings.release, at: format.sampleRate)
    let hold = min(max(settings.hold.value, 0), 3600)
    holdFrames = Seconds(hold).frames(at: format.sampleRate).count
    gain = closedGain
  }

  /// Gates a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    FiniteSamples.copy(input, into: &output)
    let end = output.frameCount.count
    for chunkStart in stride(from: 0, to: end, by: Self.chunk) {
      let chunkEnd = min(chunkStart + Self.chunk, end)
      unsafe LinkedLevel.measure(
        output, start: chunkStart, count: chunkEnd - chunkStart, into: levels.start)
      for start in stride(from: chunkStart, to: chunkEnd, by: Self.group) {
        let count = min(Self.group, chunkEnd - start)
        let level = unsafe levels.start + (start - chunkStart)
        if unsafe !passWhole(&output, start: start, count: count, level: level) {
          unsafe passFrameByFrame(&output, start: start, count: count, level: level)
        }
      }
    }
  }

  /// Treats a group throughout which the gate is fully open or fully closed, exactly as frame by
  /// frame would; says no for any other group. Nearly every group of a recording is of this kind.
  private func passWhole(
    _ block: inout AudioBuffer, start: Int, count: Int, level: UnsafePointer<Float>
  ) -> Bool {
    let isLoud = unsafe LinkedLevel.peak(level, count: count) >= threshold
    if gain == 1, openFrames >= count {
      openFrames -= count
      guard isLoud else { return true }
      var last = count - 1
      while unsafe level[last] < threshold { last -= 1 }
      openFrames = max(openFrames, holdFrames - (count - 1 - last))
      return true
    }
    guard gain == closedGain, openFrames == 0, !isLoud else { return false }
    let factor = Float(closedGain)
    for channel in 0..<block.channelCount {
      let samples = unsafe block.baseAddress(ofChannel: channel) + start
      for index in 0..<count { unsafe samples[index] *= factor }
    }
    return true
  }

  /// The definition of the gate; leaves the gains in `level`.
  private func passFrameByFrame(
    _ block: inout AudioBuffer, start: Int, count: Int, level: UnsafeMutablePointer<Float>
  ) {
    var (gain, openFrames) = (self.gain, self.openFrames)
    for index in 0..<count {
      if unsafe level[index] >= threshold { openFrames = holdFrames &+ 1 }
      let goal: Double
      if openFrames > 0 {
        openFrames &-= 1
        goal = 1
        gain += (goal - gain) * attackStep
      } else {
        goal = closedGain
        gain += (goal - gain) * releaseStep
      }
      // −120 dB from its goal, the gain has arrived: an approach alone never would.
      if (goal - gain).magnitude < 1e-6 { gain = goal }
      unsafe level[index] = Float(gain)
    }
    (self.gain, self.openFrames) = (gain, openFrames)
    for channel in 0..<block.channelCount {
      let samples = unsafe block.baseAddress(ofChannel: channel) + start
      for index in 0..<count { unsafe samples[index] *= level[index] }
    }
  }

  /// Gives nothing: nothing was held back.
  public func finish(into output: inout AudioBuffer) { output.frameCount = .zero }

  /// The gain and what is left of the hold time.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(gain)
    snapshot.append(openFrames)
    return snapshot
  }

  /// Takes over the gain and hold of another gate.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let gain = try reader.next(Double.self)
    let openFrames = try reader.next(Int.self)
    try reader.finish()
    (self.gain, self.openFrames) = (gain, openFrames)
  }
}

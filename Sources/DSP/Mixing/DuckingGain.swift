public import AudioModel

/// Turns one track down while another, the key, is heard: music under a voice.
///
/// A frame of the key at or above the threshold calls for the depth, and so do the frames of the
/// hold time after it; else the gain goes back to 1. It goes there exponentially, each way with
/// its own time constant. Every frame follows from those before it, so that nothing depends on how
/// the sound is cut.
public struct DuckingGain: Sendable {
  /// When it ducks, how far and how fast.
  public struct Settings: Hashable, Sendable {
    /// The key's sample level that calls for it, in dBFS.
    public let threshold: Decibels
    /// The gain while the key is heard; 0 dB or below.
    public let amount: Decibels
    /// The time constant of going down.
    public let attack: Seconds
    /// How long it stays down after the key's last loud frame.
    public let hold: Seconds
    /// The time constant of coming back.
    public let release: Seconds

    /// Collects the settings.
    public init(
      threshold: Decibels, amount: Decibels, attack: Seconds, hold: Seconds, release: Seconds
    ) {
      self.threshold = threshold
      self.amount = amount
      self.attack = attack
      self.hold = hold
      self.release = release
    }
  }

  private let threshold: Double
  private let depth: Double
  private let attackStep: Double
  private let releaseStep: Double
  private let holdLength: Int
  private var gain = 1.0
  private var held = 0

  /// A gain that has heard nothing: 1.
  public init(_ settings: Settings, sampleRate: Hertz) {
    threshold = settings.threshold.amplitude
    depth = min(1, settings.amount.amplitude)
    attackStep = TimeConstant.step(settings.attack, at: sampleRate)
    releaseStep = TimeConstant.step(settings.release, at: sampleRate)
    holdLength = max(1, settings.hold.frames(at: sampleRate).count)
  }

  /// Multiplies `curve` with the gains of its frames.
  /// - Parameters:
  ///   - key: what is heard of the key; the frames around it are silent. Its loudest channel
  ///     counts.
  ///   - start: the frame of the curve where `key` begins.
  ///   - fader: an amplitude ratio that the key is taken with.
  public mutating func follow(
    _ key: SharedBuffer?, at start: Frames, fader: Double, onto curve: inout [Float]
  ) {
    let first = start.count
    let end = first + (key?.buffer.frameCount.count ?? 0)
    precondition(first >= 0 && end <= curve.count)
    let threshold = fader > 0 ? Float(self.threshold / fader) : .infinity
    var gains = curve.mutableSpan
    for index in 0..<gains.count {
      if let key, index >= first, index < end, key.buffer.isLoud(index - first, threshold) {
        held = holdLength
      }
      let target = held > 0 ? depth : 1
      held = max(0, held - 1)
      gain += (target - gain) * (target < gain ? attackStep : releaseStep)
      gains[index] *= Float(gain)
    }
  }
}

extension AudioBuffer {
  /// Whether any channel reaches a magnitude at a frame.
  @inline(__always)
  fileprivate borrowing func isLoud(_ frame: Int, _ threshold: Float) -> Bool {
    for channel in 0..<channelCount {
      let sample = unsafe FiniteSamples.filtered(baseAddress(ofChannel: channel)[frame])
      if sample.magnitude >= threshold { return true }
    }
    return false
  }
}

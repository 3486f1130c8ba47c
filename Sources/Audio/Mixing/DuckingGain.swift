/// Lowers one track while another, the key, is loud: music under a voice.
///
/// A frame of the key at or above the threshold, and the hold time after it, select the depth;
/// otherwise the target is 1. The gain approaches its target exponentially, with a time constant
/// for each direction. The result does not depend on block boundaries.
package struct DuckingGain: Sendable {
  /// Threshold, depth and timing.
  package struct Settings: Hashable, Sendable {
    /// The key's sample level that triggers ducking, in dBFS.
    package let threshold: Decibels
    /// The gain while ducked; at most 0 dB.
    package let amount: Decibels
    /// The time constant of the fall.
    package let attack: Seconds
    /// The time at the depth after the key's last loud frame.
    package let hold: Seconds
    /// The time constant of the recovery.
    package let release: Seconds

    package init(
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

  /// Starts at a gain of 1.
  package init(_ settings: Settings, sampleRate: Hertz) {
    threshold = settings.threshold.amplitude
    depth = min(1, settings.amount.amplitude)
    attackStep = settings.attack.step(at: sampleRate)
    releaseStep = settings.release.step(at: sampleRate)
    holdLength = max(1, settings.hold.frames(at: sampleRate).count)
  }

  /// Multiplies `curve` by the gains of its frames.
  /// - Parameters:
  ///   - key: the available part of the key; the frames around it are silent. Its loudest channel
  ///     counts.
  ///   - start: the frame of the curve where `key` begins.
  ///   - fader: an amplitude ratio applied to the key.
  package mutating func follow(
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

import Glibc

/// A mix bus: sums tracks in double precision and rounds once per block, so that any number of
/// tracks adds up without loss and a track cancels its inverse exactly.
package final class MixBus {
  package let channelCount: Int
  /// The greatest number of frames in a block.
  package let capacity: Frames
  /// The greatest magnitude written so far; 1 is full scale.
  package private(set) var peak: Float = 0

  private let sums: Scratch<Double>

  package init(channelCount: Int, capacity: Frames) {
    precondition(channelCount > 0 && capacity.count > 0)
    self.channelCount = channelCount
    self.capacity = capacity
    sums = Scratch(repeating: 0, count: channelCount * capacity.count)
  }

  /// Adds one channel of a block, times `gain`, from frame `start` of the bus. Damaged samples
  /// count as 0. O(frames of the block).
  package func add(
    _ block: borrowing AudioBuffer, channel: Int, to output: Int, at start: Frames, gain: Double
  ) {
    let count = block.frameCount.count
    let source = unsafe block.baseAddress(ofChannel: channel)
    let target = unsafe place(output, start, count)
    for index in 0..<count {
      unsafe target[index] += gain * Double(FiniteSamples.filtered(source[index]))
    }
  }

  /// The same with an additional gain per frame; `curve` begins at the start of the bus.
  package func add(
    _ block: borrowing AudioBuffer, channel: Int, to output: Int, at start: Frames, gain: Double,
    curve: [Float]
  ) {
    let count = block.frameCount.count
    let source = unsafe block.baseAddress(ofChannel: channel)
    let target = unsafe place(output, start, count)
    let curve = curve.span.extracting(start.count..<start.count + count)
    for index in 0..<count {
      let sample = unsafe Double(FiniteSamples.filtered(source[index]))
      unsafe target[index] += gain * Double(curve[index]) * sample
    }
  }

  /// Replaces the content of `output` with the first `count` frames, times `gain`, and empties the
  /// bus.
  package func take(_ count: Frames, gain: Double, into output: inout AudioBuffer) {
    precondition(output.channelCount == channelCount && count <= capacity)
    output.frameCount = count
    var peak = peak
    for channel in 0..<channelCount {
      let source = unsafe place(channel, .zero, count.count)
      let target = unsafe output.baseAddress(ofChannel: channel)
      for index in 0..<count.count {
        let sample = unsafe Float(source[index] * gain)
        unsafe target[index] = sample
        unsafe source[index] = 0
        peak = peak > sample.magnitude ? peak : sample.magnitude
      }
    }
    self.peak = peak
  }

  private func place(_ channel: Int, _ start: Frames, _ count: Int) -> UnsafeMutablePointer<Double>
  {
    precondition(channel >= 0 && channel < channelCount)
    precondition(start.count >= 0 && start.count + count <= capacity.count)
    return unsafe sums.start + (channel * capacity.count + start.count)
  }
}

/// Pan laws for a mono track in a stereo mix, named after their gain in the middle. Panned hard to
/// one side, all laws have unity gain on that side.
package enum PanLaw: String, Sendable, CaseIterable {
  /// Both sides at unity in the middle; only the far side falls.
  case flat = "0 dB"
  /// Constant power: sin² + cos² = 1.
  case constantPower = "-3 dB"
  /// The geometric mean of the adjacent laws.
  case compromise = "-4.5 dB"
  /// Constant amplitude: the mono sum does not change.
  case linear = "-6 dB"

  /// The gains, as amplitude ratios, for a mono track.
  /// - Parameter pan: −1 is left, 0 the middle, +1 right; clamped.
  package func gains(pan: Double) -> (left: Double, right: Double) {
    let right = (min(max(pan, -1), 1) + 1) / 2
    let left = 1 - right
    return switch self {
    case .flat: PanLaw.balance(pan)
    case .constantPower: (left: sin(left * .pi / 2), right: sin(right * .pi / 2))
    case .compromise:
      (
        left: (left * sin(left * .pi / 2)).squareRoot(),
        right: (right * sin(right * .pi / 2)).squareRoot()
      )
    case .linear: (left: left, right: right)
    }
  }

  /// The balance of a stereo track: the side that `pan` points to stays, the other falls linearly,
  /// for any law.
  package static func balance(_ pan: Double) -> (left: Double, right: Double) {
    let pan = min(max(pan, -1), 1)
    return (left: min(1, 1 - pan), right: min(1, 1 + pan))
  }
}

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

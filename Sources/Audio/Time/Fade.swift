import Glibc

/// Fades sound in at its start and out at its end. It holds back the length of the fade-out, and
/// fades that when the stream ends.
///
/// The first frame of a fade-in and the last of a fade-out have gain 0. Where the two overlap,
/// their gains multiply; a fade-out longer than the sound covers all of it.
package final class Fade: Processor {
  package let outputFormat: AudioFormat
  /// The length of the fade-out.
  package let latency: Frames

  private let curve: FadeCurve
  private let fadeIn: Int
  private var queue: FrameQueue
  /// The gains of a stretch, shared by all channels.
  private let gains = Scratch<Float>(repeating: 0, count: stretch)
  private static let stretch = 512
  /// Frames taken so far, up to the end of the fade-in.
  private var position = 0

  /// Both lengths are clamped to 0…10 minutes.
  package init(fadeIn: Seconds, fadeOut: Seconds, curve: FadeCurve, format: AudioFormat) {
    func frames(_ time: Seconds) -> Int {
      Seconds(min(max(time.value, 0), 600)).frames(at: format.sampleRate).count
    }
    outputFormat = format
    self.curve = curve
    self.fadeIn = frames(fadeIn)
    latency = Frames(frames(fadeOut))
    queue = FrameQueue(channelCount: format.channelCount, capacity: latency.count)
  }

  package func blockCapacity(for input: Frames) -> Frames { input }

  /// Fades a block in, and returns the frames beyond the fade-out's reach.
  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    let count = input.frameCount.count
    // Held frames come out first, then the start of the block; its end is held.
    let ready = max(queue.count + count - latency.count, 0)
    let held = min(ready, queue.count)
    queue.move(held, to: &output)
    FiniteSamples.append(input, start: 0, count: ready - held, to: &output)
    let kept = queue.count
    queue.append(input, start: ready - held, count: count - (ready - held))
    fadeIn(&output, from: held, behind: kept)
    position = min(position + count, fadeIn)
  }

  /// Fades in the new frames: in `output` from a frame on, and in the queue behind its old content.
  private func fadeIn(_ output: inout AudioBuffer, from start: Int, behind kept: Int) {
    let left = fadeIn - position
    guard left > 0 else { return }
    let given = output.frameCount.count - start
    let now = min(left, given)
    for begin in stride(from: 0, to: now, by: Self.stretch) {
      let count = min(Self.stretch, now - begin)
      for index in 0..<count { gains[index] = gain(position + begin + index) }
      for channel in 0..<output.channelCount {
        let samples = unsafe output.baseAddress(ofChannel: channel) + start + begin
        let gains = unsafe self.gains.start
        for index in 0..<count { unsafe samples[index] *= gains[index] }
      }
    }
    for index in now..<min(left, given + queue.count - kept) {
      let gain = gain(position + index)
      for channel in 0..<output.channelCount { queue[channel, kept + index - given] *= gain }
    }
  }

  /// The gain of a frame of the fade-in.
  private func gain(_ frame: Int) -> Float {
    Float(curve.gain(at: Double(frame) / Double(fadeIn)))
  }

  /// Fades out the frames held back.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    let count = queue.count
    queue.move(count, to: &output)
    for index in 0..<count {
      let gain = Float(curve.gain(at: Double(count - 1 - index) / Double(count)))
      for channel in 0..<output.channelCount {
        unsafe output.baseAddress(ofChannel: channel)[index] *= gain
      }
    }
  }

  /// The frames held back: 4 bytes a sample.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&position, in: 0...fadeIn)
    try queue.code(&coder)
  }
}

/// The gain curve of a fade.
package enum FadeCurve: String, Hashable, Sendable, Codable, CaseIterable {
  /// Linear amplitude.
  case linear
  /// Half a cosine, (1 − cos πx) / 2: smooth at both ends.
  case sCurve = "s-curve"
  /// Linear in decibels, from −100 dB.
  case exponential
  /// A quarter sine, sin(πx / 2): crossfades of uncorrelated sounds keep their power.
  case equalPower = "equal-power"

  /// The gain as an amplitude ratio; exactly 0 at the start and 1 at the end.
  /// - Parameter place: the completed share of the fade, clamped to 0…1.
  package func gain(at place: Double) -> Double {
    guard place > 0 else { return 0 }
    guard place < 1 else { return 1 }
    return switch self {
    case .linear: place
    case .sCurve: (1 - cos(.pi * place)) / 2
    case .exponential: pow(10, -5 * (1 - place))
    case .equalPower: sin(.pi / 2 * place)
    }
  }
}

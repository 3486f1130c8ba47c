public import AudioModel

/// Fades sound in at its beginning and out at its end, wherever that turns out to be: it holds back
/// as much as the fade-out takes, and fades that when the stream ends.
///
/// The first frame of a fade-in and the last of a fade-out have the gain 0. Where the two meet,
/// both gains count; a fade-out that is longer than the sound takes all of it.
public final class Fade: Processor {
  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// The length of the fade-out.
  public let latency: Frames

  private let curve: FadeCurve
  private let fadeIn: Int
  private var queue: FrameQueue
  /// The gains of a stretch, which all channels share.
  private let gains = Scratch<Float>(repeating: 0, count: stretch)
  private static let stretch = 512
  /// Frames taken so far, as far as they matter.
  private var position = 0

  /// A fade-in of `fadeIn` and a fade-out of `fadeOut`, both taken within 0…10 minutes.
  public init(fadeIn: Seconds, fadeOut: Seconds, curve: FadeCurve, format: AudioFormat) {
    func frames(_ time: Seconds) -> Int {
      Seconds(min(max(time.value, 0), 600)).frames(at: format.sampleRate).count
    }
    outputFormat = format
    self.curve = curve
    self.fadeIn = frames(fadeIn)
    latency = Frames(frames(fadeOut))
    queue = FrameQueue(channelCount: format.channelCount, capacity: latency.count)
  }

  /// As much as went in.
  public func blockCapacity(for input: Frames) -> Frames { input }

  /// Fades a block in, and gives what the fade-out cannot reach any more.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    let count = input.frameCount.count
    // What was held back goes first, then the beginning of the block, and its end is held back.
    let ready = max(queue.count + count - latency.count, 0)
    let held = min(ready, queue.count)
    queue.move(held, to: &output)
    output.append(contentsOf: input, start: .zero, count: Frames(ready - held))
    for channel in 0..<output.channelCount {
      let samples = unsafe output.baseAddress(ofChannel: channel) + held
      unsafe FiniteSamples.copy(from: samples, to: samples, count: ready - held)
    }
    let kept = queue.count
    queue.append(input, start: ready - held, count: count - (ready - held))
    fadeIn(&output, from: held, behind: kept)
    position = min(position + count, fadeIn)
  }

  /// Fades what is new: in `output` from a frame on, and in the queue behind what it had.
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

  /// Fades out what was held back.
  public func finish(into output: inout AudioBuffer) {
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

  /// What is held back: 4 bytes a sample.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(position)
    queue.append(to: &snapshot)
    return snapshot
  }

  /// Takes over what another fade of the same lengths held back.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let position = try reader.next(Int.self)
    guard (0...fadeIn).contains(position) else { throw SnapshotError() }
    try queue.restore(from: &reader)
    try reader.finish()
    self.position = position
  }
}

package import Audio

/// A short piece of sound held whole in memory, for tests: made by a generator, sent through a
/// processor, compared.
package struct TestSound: Equatable, Sendable {
  /// What the sound is made of.
  package let format: AudioFormat
  /// The samples, channel by channel; all channels are equally long.
  package var channels: [[Float]]

  /// Wraps samples.
  package init(sampleRate: Hertz, channels: [[Float]], positions: ChannelPositions? = nil) {
    precondition(Set(channels.map(\.count)).count == 1)
    format = AudioFormat(
      sampleRate: sampleRate, channelCount: channels.count, positions: positions)
    self.channels = channels
  }

  /// Computes every sample from its channel and frame.
  package init(
    _ format: AudioFormat, frames: Int, sample: (_ channel: Int, _ frame: Int) -> Float
  ) {
    self.format = format
    channels = (0..<format.channelCount).map { channel in
      (0..<frames).map { sample(channel, $0) }
    }
  }

  /// How long it is.
  package var frameCount: Frames { Frames(channels.first?.count ?? 0) }

  /// The frames of a range, every channel.
  package subscript(range: Range<Int>) -> TestSound {
    TestSound(
      sampleRate: format.sampleRate, channels: channels.map { Array($0[range]) },
      positions: format.positions)
  }

  /// The samples frame by frame, as most programs want them.
  package var interleaved: [Float] {
    (0..<frameCount.count).flatMap { frame in channels.map { $0[frame] } }
  }

  /// The sound with every sample changed.
  package func map(_ transform: (Float) -> Float) -> TestSound {
    TestSound(
      sampleRate: format.sampleRate, channels: channels.map { $0.map(transform) },
      positions: format.positions)
  }

  /// The sound with as many frames of silence before and after it.
  package func surroundedBySilence(_ frames: Int) -> TestSound {
    let silence = Array(repeating: Float.zero, count: frames)
    return TestSound(
      sampleRate: format.sampleRate, channels: channels.map { silence + $0 + silence })
  }

  /// A buffer that holds the frames of a range, with room for `spare` more.
  package func buffer(_ range: Range<Int>, spare: Frames = .zero) -> AudioBuffer {
    var buffer = AudioBuffer(
      channelCount: format.channelCount, capacity: Frames(range.count) + spare)
    buffer.frameCount = Frames(range.count)
    for (index, samples) in channels.enumerated() {
      unsafe samples.withUnsafeBufferPointer {
        guard let start = $0.baseAddress else { return }
        unsafe buffer.baseAddress(ofChannel: index).update(
          from: start + range.lowerBound, count: range.count)
      }
    }
    return buffer
  }

  /// Adds the content of a buffer at the end.
  package mutating func append(_ buffer: borrowing AudioBuffer) {
    for index in channels.indices {
      unsafe channels[index].append(
        contentsOf: UnsafeBufferPointer(
          start: buffer.baseAddress(ofChannel: index), count: buffer.frameCount.count))
    }
  }
}

extension TestSound {
  /// What a processor makes of the sound, given to it in blocks of the sizes of `cuts` in turn,
  /// and flushed at the end.
  package func processed(by processor: any Processor, cuts: [Int] = [4096]) -> TestSound {
    var result = TestSound(
      sampleRate: processor.outputFormat.sampleRate,
      channels: Array(repeating: [], count: processor.outputFormat.channelCount))
    result.appendOutput(of: processor, given: self, cuts: cuts)
    result.appendRemains(of: processor)
    return result
  }

  /// Lets an analyser hear the sound, in blocks of the sizes of `cuts` in turn.
  package func analysed(by analyser: some Analyser, cuts: [Int] = [4096]) {
    var start = 0
    var turn = 0
    while start < frameCount.count {
      let count = min(cuts[turn % cuts.count], frameCount.count - start)
      analyser.analyse(buffer(start..<start + count))
      start += count
      turn += 1
    }
  }

  /// Adds what a processor gives while it takes `input`, not yet flushed.
  package mutating func appendOutput(
    of processor: any Processor, given input: TestSound, cuts: [Int]
  ) {
    var start = 0
    var turn = 0
    while start < input.frameCount.count {
      let count = min(cuts[turn % cuts.count], input.frameCount.count - start)
      let block = input.buffer(start..<start + count)
      var output = AudioBuffer(
        channelCount: processor.outputFormat.channelCount,
        capacity: processor.blockCapacity(for: Frames(count)))
      processor.process(block, into: &output)
      append(output)
      start += count
      turn += 1
    }
  }

  /// Adds what a processor held back.
  package mutating func appendRemains(of processor: any Processor) {
    var output = AudioBuffer(
      channelCount: processor.outputFormat.channelCount, capacity: processor.capacity(for: .zero))
    processor.finish(into: &output)
    append(output)
  }
}

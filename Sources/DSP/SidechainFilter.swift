import AudioModel

/// The high-pass in front of a detector, with room for what comes out of it.
final class SidechainFilter {
  /// What came out last.
  private(set) var output: AudioBuffer
  private var input: AudioBuffer
  private let equalizer: Equalizer

  init(highPass corner: Hertz, format: AudioFormat, capacity: Frames) {
    equalizer = Equalizer(
      bands: [EqualizerBand(.highPass, frequency: corner)], format: format)
    input = AudioBuffer(channelCount: format.channelCount, capacity: capacity)
    output = AudioBuffer(channelCount: format.channelCount, capacity: capacity)
  }

  /// Filters a part of a block into `output`.
  func filter(_ block: borrowing AudioBuffer, start: Int, count: Int) {
    input.copy(from: block, start: Frames(start), count: Frames(count))
    equalizer.process(input, into: &output)
  }

  /// The filter's state.
  var snapshot: ProcessorSnapshot { equalizer.snapshot }

  /// Takes over the state of an equal filter.
  func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    try equalizer.restore(snapshot)
  }
}

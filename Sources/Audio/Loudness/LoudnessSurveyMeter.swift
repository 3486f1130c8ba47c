/// Measures a recording's contribution to the loudness of an album, as it is or after a processor.
package final class LoudnessSurveyMeter: Analyser {
  private let processor: (any Processor)?
  private let meter: LoudnessMeter
  private var block: AudioBuffer
  private var output: AudioBuffer
  private static let blockSize = Frames(4096)

  /// Measures behind `processor`, if any.
  package init(behind processor: (any Processor)? = nil, format: AudioFormat) {
    self.processor = processor
    meter = LoudnessMeter(
      format: processor?.outputFormat ?? format, includesPeaks: processor == nil)
    block = AudioBuffer(
      channelCount: format.channelCount, capacity: processor == nil ? .zero : Self.blockSize)
    output = AudioBuffer(
      channelCount: processor?.outputFormat.channelCount ?? format.channelCount,
      capacity: processor?.capacity(for: Self.blockSize) ?? .zero)
  }

  package func analyse(_ input: borrowing AudioBuffer) {
    guard let processor else { return meter.analyse(input) }
    var start = Frames.zero
    while start < input.frameCount {
      let count = min(Self.blockSize, input.frameCount - start)
      block.copy(from: input, start: start, count: count)
      processor.process(block, into: &output)
      meter.analyse(output)
      start += count
    }
  }

  /// The survey, including what the processor held back.
  package func finding() -> Finding {
    if let processor {
      processor.finish(into: &output)
      meter.analyse(output)
    }
    return Finding(history: meter.history, truePeak: meter.finding().peaks.truePeak)
  }

  /// The states of meter and processor.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(part: meter)
    if let processor { try coder.pass(part: processor) }
  }

  /// A recording's contribution to the loudness of an album.
  package struct Finding: Hashable, Sendable, Codable {
    /// The energies of its steps.
    package let history: LoudnessHistory
    /// The true peak; nil for silence, and behind a processor, where it is not measured.
    package let truePeak: Decibels?
  }
}

package final class ProcessorChain: Processor {
  /// The format of the last processor's output; of an empty chain, the input's.
  package let outputFormat: AudioFormat
  /// The sum of all latencies.
  package let latency: Frames

  /// A processor with its output buffer.
  private final class Link {
    let processor: any Processor
    var output: AudioBuffer

    init(_ processor: any Processor, capacity: Frames) {
      self.processor = processor
      output = AudioBuffer(
        channelCount: processor.outputFormat.channelCount, capacity: capacity)
    }
  }

  private let links: [Link]
  private var block: AudioBuffer
  private static let blockSize = Frames(1024)

  /// A chain of `processors` in order. Sound passes through it in small blocks, which stay in the
  /// first-level cache.
  package init(_ processors: [any Processor], format: AudioFormat) {
    let latency = processors.reduce(Frames.zero) { $0 + $1.latency }
    self.latency = latency
    outputFormat = processors.last?.outputFormat ?? format
    var capacity = Self.blockSize
    links = processors.map {
      // A processor receives a block, or the frames that the previous one held back.
      capacity = max($0.blockCapacity(for: capacity), $0.capacity(for: .zero))
      return Link($0, capacity: capacity)
    }
    block = AudioBuffer(channelCount: format.channelCount, capacity: Self.blockSize)
  }

  package func capacity(for input: Frames) -> Frames {
    links.reduce(input) { $1.processor.capacity(for: $0) }
  }

  package func blockCapacity(for input: Frames) -> Frames {
    links.reduce(input) { $1.processor.blockCapacity(for: $0) }
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    guard let first = links.first else { return FiniteSamples.copy(input, into: &output) }
    output.frameCount = .zero
    var start = Frames.zero
    while start < input.frameCount {
      let count = min(Self.blockSize, input.frameCount - start)
      block.copy(from: input, start: start, count: count)
      start += count
      first.processor.process(block, into: &first.output)
      pass(after: 0, into: &output)
    }
  }

  /// Finishes the processors in order; each one's rest passes through those behind it.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    for (index, link) in links.enumerated() {
      link.processor.finish(into: &link.output)
      pass(after: index, into: &output)
    }
  }

  /// Passes one processor's output through those behind it.
  private func pass(after index: Int, into output: inout AudioBuffer) {
    for next in links.indices.dropFirst(index + 1) {
      links[next].processor.process(links[next - 1].output, into: &links[next].output)
    }
    guard let last = links.last else { return }
    output.append(contentsOf: last.output, start: .zero, count: last.output.frameCount)
  }

  /// The states of all processors, each preceded by its length.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    for link in links { try coder.pass(part: link.processor) }
  }
}

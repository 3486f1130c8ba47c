public import AudioModel

/// Several processors in series, as one.
///
/// Sound goes through the whole chain in small blocks, so that it stays in the processor's nearest
/// cache from the first to the last.
public final class ProcessorChain: Processor {
  /// What comes out of the last processor; for an empty chain, what goes in.
  public let outputFormat: AudioFormat
  /// What all processors hold back together.
  public let latency: Frames

  /// A processor and room for what it gives.
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

  /// A chain of `processors`, first to last, for sound of `format`.
  public init(_ processors: [any Processor], format: AudioFormat) {
    let latency = processors.reduce(Frames.zero) { $0 + $1.latency }
    self.latency = latency
    outputFormat = processors.last?.outputFormat ?? format
    var capacity = Self.blockSize
    links = processors.map {
      // What comes at once is a block, or what the processor before held back.
      capacity = max($0.blockCapacity(for: capacity), $0.capacity(for: .zero))
      return Link($0, capacity: capacity)
    }
    block = AudioBuffer(channelCount: format.channelCount, capacity: Self.blockSize)
  }

  /// What the processors can give one after the other.
  public func capacity(for input: Frames) -> Frames {
    links.reduce(input) { $1.processor.capacity(for: $0) }
  }

  /// What the processors can give one after the other before the stream ends.
  public func blockCapacity(for input: Frames) -> Frames {
    links.reduce(input) { $1.processor.blockCapacity(for: $0) }
  }

  /// Sends a block through all processors.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
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

  /// Flushes the processors in order, each through all that follow it.
  public func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    for (index, link) in links.enumerated() {
      link.processor.finish(into: &link.output)
      pass(after: index, into: &output)
    }
  }

  /// Sends what one processor has given through those behind it.
  private func pass(after index: Int, into output: inout AudioBuffer) {
    for next in links.indices.dropFirst(index + 1) {
      links[next].processor.process(links[next - 1].output, into: &links[next].output)
    }
    guard let last = links.last else { return }
    output.append(contentsOf: last.output, start: .zero, count: last.output.frameCount)
  }

  /// The states of all processors, each behind its length.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    for link in links { snapshot.append(link.processor.snapshot) }
    return snapshot
  }

  /// Takes over the states of a chain of equal processors.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    var parts: [ProcessorSnapshot] = []
    for _ in links { parts.append(try reader.nextPart()) }
    try reader.finish()
    for (link, part) in zip(links, parts) { try link.processor.restore(part) }
  }
}

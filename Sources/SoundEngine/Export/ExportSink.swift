package import Audio
import Media
package import PipelineEngine
package import PipelineModel
package import Platform
import Synchronization

/// Encodes a stream in several formats side by side: each has a thread that encodes, and AAC and
/// ALAC cut their work into pieces for the pool.
package final class ExportSink: SoundSink {
  package let firstFrame: Frames
  private let lanes: [ExportLane]
  /// What hashes the samples of those, once for all that have the same.
  private let hashes: [SampleLane]
  /// Where the hashes of a lane come out, by its name.
  private let samplesPorts: [(name: String, port: PortName)]
  /// One for each word length, shared by the formats that have it.
  private let quantizers: [Quantizer.Depth: Quantizer]
  private let buffers: BufferPool

  package init(
    _ targets: [ExportTarget], _ stream: SoundOutline, _ context: SinkContext
  ) throws(SpoolError) {
    var lanes: [ExportLane] = []
    var hashes: [SampleLane] = []
    let noted = context.work.resuming.flatMap { ExportState.read($0.state) }
    for target in targets {
      lanes.append(
        try ExportLane(target, stream, context, resuming: noted?.lanes[target.format.port.name]))
      guard let name = SampleLane.name(of: target), !hashes.contains(where: { $0.name == name }),
        let lane = try SampleLane(target, stream, context, resuming: noted?.lanes[name])
      else { continue }
      hashes.append(lane)
    }
    self.lanes = lanes
    self.hashes = hashes
    samplesPorts = targets.compactMap { target in
      SampleLane.name(of: target).map { ($0, target.format.samplesPort) }
    }
    let parts: [any ExportPart] = lanes + hashes
    let start = parts.map(\.firstFrame).min() ?? .zero
    firstFrame = start
    quantizers = Dictionary(
      targets.compactMap(\.quantization).map {
        ($0, Quantizer($0, format: stream.format, startingAt: start))
      },
      uniquingKeysWith: { first, _ in first })
    buffers = context.buffers
    parts.forEach { $0.start(at: start) }
  }

  deinit { parts.forEach { $0.abandon() } }

  private var parts: [any ExportPart] { lanes + hashes }

  package func take(_ block: SharedBuffer) throws(SpoolError) {
    let reduced = quantizers.mapValues { quantizer in
      var output = buffers.makeBuffer(
        channelCount: block.buffer.channelCount, capacity: block.buffer.capacity)
      quantizer.process(block.buffer, into: &output)
      return SharedBuffer(output)
    }
    for part in parts { try part.take(part.quantization.flatMap { reduced[$0] } ?? block) }
  }

  package func progress() -> ListenerProgress? {
    let standings = parts.map { ($0.name, $0.status) }
    let status = ExportState(
      lanes: Dictionary(standings, uniquingKeysWith: { first, _ in first }))
    guard let text = try? Findings.json(status) else { return nil }
    let needs = standings.filter { $0.1.artifact == nil }.map(\.1.needsFrom).min()
    return ListenerProgress(needsFrom: needs ?? Frames(.max), state: text)
  }

  package var damagedParts: [String: Frames] {
    Dictionary(
      parts.filter(\.isSetBack).map { ("unfinished \($0.title)", $0.firstFrame) },
      uniquingKeysWith: { first, _ in first })
  }

  package func flush() throws(SpoolError) {
    for part in parts { try part.flush() }
  }

  package func cancel() { parts.forEach { $0.cancel() } }

  /// The stream has ended; the files are completed while others are begun.
  package func close() { parts.forEach { $0.close() } }

  package func finish() throws(SpoolError) -> PassOutcome.Result {
    close()
    var result = PassOutcome.Result()
    for lane in lanes { result.artifacts[lane.port] = try lane.finish() }
    for lane in hashes {
      let artifact = try lane.finish()
      for place in samplesPorts where place.name == lane.name {
        result.artifacts[place.port] = artifact
      }
    }
    return result
  }
}

/// A part of an export with a thread of its own.
package protocol ExportPart: AnyObject, Sendable {
  /// The name in recorded progress.
  var name: String { get }
  /// The name that users see.
  var title: String { get }
  /// The word length that its blocks are reduced to before they come; nil for floats.
  var quantization: Quantizer.Depth? { get }
  /// The first frame that it needs; nothing at all once it is done.
  var firstFrame: Frames { get }
  /// Whether an earlier process had come further with it, and what that left is damaged.
  var isSetBack: Bool { get }
  /// How far it is. Any thread may ask.
  var status: ExportState.Lane { get }
  /// Begins to work on the blocks that come; the first one begins at `frame` of the stream.
  func start(at frame: Frames)
  /// Hands over a block; throws what went wrong in its thread.
  func take(_ block: SharedBuffer) throws(SpoolError)
  /// Makes durable what `status` counted. Any thread may call it.
  func flush() throws(SpoolError)
  /// The stream has ended: no more blocks will come.
  func close()
  /// Makes threads that wait for it return soon; what was done stays for a resumed pass.
  func cancel()
  /// Ends the thread of a pass that failed.
  func abandon()
}

/// The recorded progress of an export.
package struct ExportState: Codable, Hashable {
  /// How far one format is.
  package struct Lane: Codable, Hashable {
    /// The frame from which its encoder needs sound.
    package let needsFrom: Frames
    /// Bytes of its file that count.
    package let byteCount: Int
    /// The state from which its encoder resumes.
    package let state: String
    /// The file, once it is whole.
    package let artifact: Artifact?
  }

  /// The formats by the names of their ports.
  package let lanes: [String: Lane]

  /// Reads recorded progress; nil for anything else.
  package static func read(_ text: String) -> ExportState? {
    try? Findings.decode(ExportState.self, from: text)
  }
}

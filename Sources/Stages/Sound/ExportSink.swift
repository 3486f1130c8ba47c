import AudioModel
import DSP
import Media
import PipelineEngine
import PipelineModel
import Synchronization
import Threading

/// Encodes a stream in several formats side by side: each has a thread that encodes, and AAC and
/// ALAC cut their work into pieces for the pool.
final class ExportSink: SoundSink {
  let firstFrame: Frames
  private let lanes: [ExportLane]
  /// One for each word length, shared by the formats that have it.
  private let quantizers: [Quantizer.Depth: Quantizer]
  private let buffers: BufferPool

  init(
    _ targets: [ExportTarget], _ stream: SoundOutline, _ context: SinkContext
  ) throws(StageError) {
    var lanes: [ExportLane] = []
    let noted = context.work.resuming.flatMap { ExportStanding.read($0.state) }
    for target in targets {
      lanes.append(
        try ExportLane(target, stream, context, resuming: noted?.lanes[target.format.port.name]))
    }
    self.lanes = lanes
    let start = lanes.map(\.firstFrame).min() ?? .zero
    firstFrame = start
    quantizers = Dictionary(
      targets.compactMap(\.quantization).map {
        ($0, Quantizer($0, format: stream.format, startingAt: start))
      },
      uniquingKeysWith: { first, _ in first })
    buffers = context.buffers
    lanes.forEach { $0.start(at: start) }
  }

  deinit { lanes.forEach { $0.abandon() } }

  func take(_ block: SharedBuffer) throws(StageError) {
    let reduced = quantizers.mapValues { quantizer in
      var output = buffers.makeBuffer(
        channelCount: block.buffer.channelCount, capacity: block.buffer.capacity)
      quantizer.process(block.buffer, into: &output)
      return SharedBuffer(output)
    }
    for lane in lanes { try lane.take(lane.quantization.flatMap { reduced[$0] } ?? block) }
  }

  func progress() -> ListenerProgress? {
    let standings = lanes.map { ($0.port.name, $0.standing) }
    let standing = ExportStanding(
      lanes: Dictionary(standings, uniquingKeysWith: { first, _ in first }))
    guard let text = try? Findings.json(standing) else { return nil }
    let needs = standings.filter { $0.1.artifact == nil }.map(\.1.needsFrom).min()
    return ListenerProgress(needsFrom: needs ?? Frames(.max), state: text)
  }

  var damagedParts: [String: Frames] {
    Dictionary(
      lanes.filter(\.isSetBack).map { ("unfinished \($0.port) file", $0.firstFrame) },
      uniquingKeysWith: { first, _ in first })
  }

  func flush() throws(StageError) {
    for lane in lanes { try lane.flush() }
  }

  func cancel() { lanes.forEach { $0.cancel() } }

  /// The stream has ended; the files are completed while others are begun.
  func close() { lanes.forEach { $0.close() } }

  func finish() throws(StageError) -> PassOutcome.Result {
    close()
    var result = PassOutcome.Result()
    for lane in lanes { result.artifacts[lane.port] = try lane.finish() }
    return result
  }
}

/// How far an export is, as it is noted.
struct ExportStanding: Codable, Hashable {
  /// How far one format is.
  struct Lane: Codable, Hashable {
    /// The frame from which its encoder needs sound.
    let needsFrom: Frames
    /// Bytes of its file that count.
    let byteCount: Int
    /// What its encoder goes on from.
    let state: String
    /// The file, once it is whole.
    let artifact: Artifact?
  }

  /// The formats by the names of their ports.
  let lanes: [String: Lane]

  /// Reads what was noted; nil for anything else.
  static func read(_ text: String) -> ExportStanding? {
    try? Findings.decode(ExportStanding.self, from: text)
  }
}

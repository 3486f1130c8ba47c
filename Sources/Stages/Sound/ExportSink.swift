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
  /// What hashes the samples of those, once for all that have the same.
  private let hashes: [SampleLane]
  /// Where the hashes of a lane come out, by its name.
  private let samplesPorts: [(name: String, port: PortName)]
  /// One for each word length, shared by the formats that have it.
  private let quantizers: [Quantizer.Depth: Quantizer]
  private let buffers: BufferPool

  init(
    _ targets: [ExportTarget], _ stream: SoundOutline, _ context: SinkContext
  ) throws(StageError) {
    var lanes: [ExportLane] = []
    var hashes: [SampleLane] = []
    let noted = context.work.resuming.flatMap { ExportStanding.read($0.state) }
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

  func take(_ block: SharedBuffer) throws(StageError) {
    let reduced = quantizers.mapValues { quantizer in
      var output = buffers.makeBuffer(
        channelCount: block.buffer.channelCount, capacity: block.buffer.capacity)
      quantizer.process(block.buffer, into: &output)
      return SharedBuffer(output)
    }
    for part in parts { try part.take(part.quantization.flatMap { reduced[$0] } ?? block) }
  }

  func progress() -> ListenerProgress? {
    let standings = parts.map { ($0.name, $0.standing) }
    let standing = ExportStanding(
      lanes: Dictionary(standings, uniquingKeysWith: { first, _ in first }))
    guard let text = try? Findings.json(standing) else { return nil }
    let needs = standings.filter { $0.1.artifact == nil }.map(\.1.needsFrom).min()
    return ListenerProgress(needsFrom: needs ?? Frames(.max), state: text)
  }

  var damagedParts: [String: Frames] {
    Dictionary(
      parts.filter(\.isSetBack).map { ("unfinished \($0.title)", $0.firstFrame) },
      uniquingKeysWith: { first, _ in first })
  }

  func flush() throws(StageError) {
    for part in parts { try part.flush() }
  }

  func cancel() { parts.forEach { $0.cancel() } }

  /// The stream has ended; the files are completed while others are begun.
  func close() { parts.forEach { $0.close() } }

  func finish() throws(StageError) -> PassOutcome.Result {
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
protocol ExportPart: AnyObject, Sendable {
  /// What it is called where its progress is noted.
  var name: String { get }
  /// What it is called where people are told of it.
  var title: String { get }
  /// The word length that its blocks are reduced to before they come; nil for floats.
  var quantization: Quantizer.Depth? { get }
  /// The first frame that it needs; nothing at all once it is done.
  var firstFrame: Frames { get }
  /// Whether an earlier process had come further with it, and what that left is damaged.
  var isSetBack: Bool { get }
  /// How far it is. Any thread may ask.
  var standing: ExportStanding.Lane { get }
  /// Begins to work on the blocks that come; the first one begins at `frame` of the stream.
  func start(at frame: Frames)
  /// Hands over a block; throws what went wrong in its thread.
  func take(_ block: SharedBuffer) throws(StageError)
  /// Makes durable what `standing` counted. Any thread may call it.
  func flush() throws(StageError)
  /// The stream has ended: no more blocks will come.
  func close()
  /// Lets whoever waits for it return soon; what was done stays for whoever goes on.
  func cancel()
  /// Ends the thread of a pass that failed.
  func abandon()
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
